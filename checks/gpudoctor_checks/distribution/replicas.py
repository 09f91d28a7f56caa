"""GD703: whether training on several devices of one machine works here at all.

What it does
    At level full, trains the reference network with MirroredStrategy: over all idle GPUs where there are two, else over two
    devices made of the CPU. Every replica's steps are counted, the batch's parts too, and the gradients added up over the
    replicas are compared with those of one device. A ratio of speed is given for real GPUs only.

Why it matters
    An exchange between GPUs that hangs gives no message; one that adds up wrongly lets the loss fall all the same, only
    worse. Two devices of one CPU tell whether TensorFlow's part works, and nothing about speed: they share its cores.

How to fix
    Hang with GPUs: run once with NCCL_DEBUG=INFO NCCL_P2P_DISABLE=1; where that helps, look at GD702.
    Wrong gradients or steps: try tf.distribute.HierarchicalCopyAllReduce() in place of NCCL, and compare again.
    No gain: give every replica the batch that one GPU had, and compare examples a second, not steps.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Evidence, Finding, Fix, Gain, Grade, Inconclusive, Severity, Trial, check
from gpudoctor_checks.ratios import find, gains_nothing, shown, told

COUNTED = 0.9  # steps, parts and gradients were compared
NO_END = 0.7  # the trial hung or died: most likely in the exchange, but it was not seen where
NO_GAIN = 0.6  # policy: it was measured, but on the reference network; a bigger one may scale
BROKE = frozenset({"failed", "crashed", "timeout"})
BY_NCCL = Fix(
    id="nccl-debug",
    title="See where the exchange stands",
    action="setting",
    text="export NCCL_DEBUG=INFO NCCL_P2P_DISABLE=1  # for one run",
    gain=Gain(grade=Grade.UNPROVEN, basis="it tells the cause; mend that instead of keeping the variable"),
)
OTHER_WAY = Fix(
    id="other-all-reduce",
    title="Add gradients up another way",
    action="diff",
    text="strategy = tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())",
    gain=Gain(grade=Grade.UNPROVEN, basis="it goes around the path that failed"),
)
WHOLE_BATCH = Fix(
    id="batch-per-replica",
    title="Give each GPU the batch that one had",
    action="diff",
    text="batch_size = per_gpu_batch * strategy.num_replicas_in_sync",
    gain=Gain(grade=Grade.UNPROVEN, basis="less exchange for each example"),
)


@check(
    code="GD703",
    slug="replicas",
    title="Training on several devices fails",
    family="distribution",
    cause=("multi-gpu-hang", "multi-gpu-no-gain"),
    trials=("replicas",),
    core=False,
)
def together(replicas: Trial | None) -> Iterator[Finding]:
    """Believe the trial: it counts and compares."""
    if replicas is None:
        raise Inconclusive("not tried at this level; --level full does")
    if replicas.status in BROKE:
        yield _fault(replicas)
        return
    if replicas.status != "ok":
        raise Inconclusive(replicas.reason or f"the trial is {replicas.status}")
    ratio = find(replicas, "all", "one")
    if ratio is not None and gains_nothing(ratio):
        yield Finding(
            summary=f"{replicas.values.get('gpus', 2):.0f} GPUs train no faster than one: {told(ratio)}.",
            severity=Severity.WARNING,
            confidence=NO_GAIN,
            basis="measured on the wide reference network, the same work for each replica",
            cause="multi-gpu-no-gain",
            evidence=shown("all GPUs over one", ratio, "replicas"),
            fixes=(WHOLE_BATCH, BY_NCCL),
        )


def _fault(trial: Trial) -> Finding:
    counted = trial.status == "failed"
    return Finding(
        summary=f"Training on several devices {'gives wrong results' if counted else 'does not end well'}.",
        severity=Severity.WARNING,
        confidence=COUNTED if counted else NO_END,
        basis="steps, parts and gradients of the replicas were compared" if counted else "the trial did not end",
        cause="multi-gpu-hang",
        evidence=(
            Evidence(label="trial", value=trial.reason or trial.status, source="probe, trial replicas"),
            *(
                Evidence(label=name.replace("_", " "), value=value, source="probe, trial replicas")
                for name, value in trial.values.items()
            ),
        ),
        fixes=(OTHER_WAY, BY_NCCL) if counted else (BY_NCCL, OTHER_WAY),
    )
