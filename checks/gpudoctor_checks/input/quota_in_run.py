"""GD514: the CPU quota stood this run still while steps waited for data.

What it does
    Reads how long the control group's quota stopped the command while its steps ran, and holds it against the wait for input.

Why it matters
    TensorFlow starts as many threads as it sees processors. Under a quota they use up the time of a period at once, and
    then all stand still, those that feed the GPU too.

How to fix
    Give the container the cores (docker --cpus, Kubernetes limits.cpu), or pin it (--cpuset-cpus), so that TensorFlow sees
    as many as it may use.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    HIGHLY,
    Evidence,
    Finding,
    Fix,
    Limits,
    MachineOverTime,
    Missing,
    Severity,
    StepTimes,
    Threshold,
    Trial,
    check,
)
from gpudoctor_checks.recorded import bound, known_share, percent, weigh_run

SURE = 0.85
STOPPED = Threshold(
    name="stopped_share",
    default=0.10,
    unit="",
    meaning="a run stopped by its CPU quota for this share of the time is told",
    source="policy: a tenth of the time stopped is no longer chance",
    most=1.0,
)


@check(
    code="GD514",
    slug="quota-in-run",
    title="The CPU quota stopped the run",
    family="input",
    cause="cpu-quota",
    core=False,
    thresholds=(STOPPED,),
)
def stopped(machine: MachineOverTime, steps: StepTimes, limits: Limits, baseline: Trial | None) -> Iterator[Finding]:
    """Judge the quota where it was hit and input was late."""
    quota, share = machine.quota_cores, machine.stopped_share
    if isinstance(quota, Missing) or isinstance(share, Missing) or share < limits.of(STOPPED):
        return
    waits = known_share(steps.shares.input)
    weight = weigh_run(SURE, baseline)
    yield Finding(
        summary=f"A quota of {quota:g} cores stopped the run for {share:.0%} of the time.",
        severity=Severity.WARNING if waits >= HIGHLY else Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="quota", value=quota, unit="cores", source="control group"),
            *percent("stopped", share, "control group"),
            *percent("waiting for input", steps.shares.input),
        ),
        fixes=(
            Fix(
                id="more-cores",  # GD501 and GD506 offer the same
                title="Give the job more CPU cores",
                action="command",
                text="docker run --cpus=4 IMAGE   # Slurm: sbatch --cpus-per-task=4",
                gain=bound(min(waits, share), "the quota never stops it"),
            ),
        ),
        share=min(1.0, share),
    )
