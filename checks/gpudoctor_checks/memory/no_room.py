"""GD404: not even the small reference network fits into the GPU's free memory.

What it does
    Trains the reference network with growing batches and draws the line memory = a + b x batch through the allocator's own
    peaks. Where a batch of 128 or less does not fit, the ways out are ranked by the peak that the line predicts for each.
    A large batch that does not fit into the probe's own cap says nothing and is no finding.

Why it matters
    That network needs a few megabytes. A GPU without room for it is full, or is a part (MIG, a memory limit) too small to
    train on; your own model will end the same way. The line is of the reference network: it shows what each way brings
    here, not what your model needs.

How to fix
    See who holds the GPU (GD401). Else: the batch in parts whose gradients are added up, a smaller batch, float16
    activations, the layer with most weights on the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Evidence, Finding, Inconclusive, Missing, Severity, Trial, check
from gpudoctor_checks.memory.memory_remedies import FREE_GPU
from gpudoctor_checks.memory.ways_out import Need, from_line, ways

USUAL_BATCH = 128  # the batch of all other trials of the probe
MEASURED = 0.8  # the allocator refused; who holds the rest was not looked at


@check(
    code="GD404",
    slug="no-room",
    title="The reference network does not fit",
    family="memory",
    cause="batch-too-large",
    trials=("batch_ladder",),
    core=False,
)
def no_room(batch_ladder: Trial | None) -> Iterator[Finding]:
    """Judge the first batch that the allocator refused."""
    if batch_ladder is None or batch_ladder.status not in {"ok", "oom"}:
        raise Inconclusive("not measured" if batch_ladder is None else batch_ladder.reason or batch_ladder.status)
    full_at = int(batch_ladder.values.get("full_at_batch", 0))
    if batch_ladder.status == "ok" and not 0 < full_at <= USUAL_BATCH:
        return
    yield Finding(
        summary=f"The reference network does not fit at batch {full_at or USUAL_BATCH}: no GPU memory is left.",
        severity=Severity.WARNING,
        confidence=MEASURED,
        basis="the allocator refused it; the line is of the reference network, not of your model",
        evidence=tuple(_evidence(batch_ladder)),
        fixes=(FREE_GPU, *ways(_need(batch_ladder, full_at or USUAL_BATCH))),
    )


def _need(ladder: Trial, batch: int) -> Need:
    """Return the need by the line; without one nothing is predicted."""
    values = ladder.values
    if "memory_per_example_bytes" not in values or "pool_bytes" not in values:
        return Need(batch=batch)
    weights = values.get("weights_bytes")
    fixed, each = values["memory_fixed_bytes"], values["memory_per_example_bytes"]
    above = 1 + values.get("memory_excess_share", 0.0)
    return from_line(
        fixed=fixed,
        each=each,
        fixed_high=values.get("memory_fixed_high_bytes", fixed * above),
        each_high=values.get("memory_per_example_high_bytes", each * above),
        batch=batch,
        limit=round(values["pool_bytes"]),
        weights=Missing("the trial did not tell them") if weights is None else round(weights),
    )


def _evidence(ladder: Trial) -> Iterator[Evidence]:
    yield Evidence(label="refused", value=(ladder.reason or "; ".join(ladder.notes))[:160], source="trial batch_ladder")
    for label, name in (("pool", "pool_bytes"), ("fixed", "memory_fixed_bytes"), ("each", "memory_per_example_bytes")):
        if name in ladder.values:
            yield Evidence(label=label, value=ladder.values[name], unit="bytes", source="probe, trial batch_ladder")
