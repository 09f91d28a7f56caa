"""GD501: what overlap, parallel calls and whole batches can do for an input pipeline on this machine.

What it does
    Trains the reference network from pipelines with and without a prefetch, and runs pipelines alone that differ in one
    thing each: Python against TensorFlow ops in map, one call at a time against several, single examples against whole
    batches. It says what each brings here and what cannot work here. It has not seen your pipeline and does not call it
    slow.

Why it matters
    The usual advice depends on the machine. Loading overlaps with training only where a core is free for it, and parallel
    calls need several. Current TensorFlow (2.16 to 2.21 were looked at) adds a prefetch at the end of a pipeline and
    runs a stateless map of TensorFlow ops in parallel by itself; adding the same by hand brings nothing there.

How to fix
    Where map calls Python or NumPy (py_function, numpy_function, from_generator), write the work with TensorFlow ops.
    num_parallel_calls does not help Python, which runs one thread at a time. Batch first, then map whole batches.
    Where nothing overlaps, give the job more cores, or do the work once: cache(), if it fits into host memory, or a file
    written beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Comparison, Finding, Fix, Gain, Grade, Host, Inconclusive, Severity, Trial, check
from gpudoctor_checks.figures import known
from gpudoctor_checks.ratios import find, gains, gains_nothing, probe_gain, shown, span

ON_GPU = 0.3  # policy: the ratios are measured, but whether your pipeline works that way was not seen
ON_CPU = 0.2  # and training on the CPU competes with loading for the same cores
MORE_CORES = Fix(
    id="more-cores",
    title="Give the job more CPU cores",
    action="command",
    text="docker run --cpus=4 IMAGE   # Slurm: sbatch --cpus-per-task=4",
    gain=Gain(grade=Grade.UNPROVEN, basis="overlap and parallel calls need a free core"),
)


@check(
    code="GD501",
    slug="input-pipeline",
    title="What an input pipeline can gain here",
    family="input",
    cause="input-pipeline",
    trials=("prefetch", "map"),
    core=False,
)
def limits(prefetch: Trial, map: Trial, host: Host | None) -> Iterator[Finding]:  # noqa: A002  # the trial's name
    """Say which work on a pipeline pays on this machine, and which cannot."""
    injected, by_hand = find(prefetch, "default", "none"), find(prefetch, "explicit", "none")
    works = {
        "map in TF ops": find(map, "tf_serial", "python"),
        "whole batches": find(map, "tf_batched", "tf_serial"),
        "parallel calls": find(map, "tf_parallel", "tf_serial"),
    }
    measured = (injected, by_hand, *works.values())
    if not any(gains(each) or gains_nothing(each) for each in measured):
        why = "; ".join(f"{each.name}: {each.reason or each.status}" for each in (prefetch, map) if each.status != "ok")
        raise Inconclusive(why or "no difference between the pipelines clears the noise")
    words = (*_overlap(injected, by_hand), *_paying(works))
    if not words:
        return
    cpu = host.cpu if host is not None else None
    yield Finding(
        summary=f"Reference pipeline: {', '.join(words)}.",
        severity=Severity.INFO,
        confidence=ON_GPU if prefetch.device == "GPU" else ON_CPU,
        basis=f"measured with the reference pipeline, training on the {prefetch.device}; your own was not seen",
        evidence=(
            *shown("prefetch by TF", injected, "prefetch"),
            *shown("prefetch by hand", by_hand, "prefetch"),
            *(each for label, ratio in works.items() for each in shown(label, ratio, "map")),
            *(
                known("operating system", ("cores", cpu.affinity, ""), ("quota", cpu.quota_cores, "cores"))
                if cpu
                else ()
            ),
        ),
        fixes=tuple(_fixes(injected, by_hand, works)),
    )


def _overlap(injected: Comparison | None, by_hand: Comparison | None) -> Iterator[str]:
    """Return what is worth saying about overlap: that TensorFlow's own prefetch works is no news."""
    if gains_nothing(injected) and gains_nothing(by_hand):
        yield "no overlap with training"
    elif gains_nothing(injected) and by_hand is not None and gains(by_hand):
        yield f"prefetch by hand {span(by_hand)}"


def _paying(works: dict[str, Comparison | None]) -> Iterator[str]:
    for label, ratio in works.items():
        if ratio is not None and gains(ratio):
            yield f"{label} {span(ratio)}"
        elif ratio is not None and gains_nothing(ratio) and label == "parallel calls":
            yield "parallel calls bring nothing"


def _fixes(
    injected: Comparison | None, by_hand: Comparison | None, works: dict[str, Comparison | None]
) -> Iterator[Fix]:
    ops, whole, calls = works.values()
    if gains_nothing(injected):
        yield from (MORE_CORES,) if gains_nothing(by_hand) else ()
        text = "dataset = dataset.prefetch(tf.data.AUTOTUNE)  # last step"
        yield from _proven("prefetch", "This TensorFlow adds no prefetch: add it", text, by_hand)
    text = "dataset = dataset.map(f)  # f of tf.* ops: no py_function, no numpy_function"
    yield from _proven("tf-ops-in-map", "Python in your map: use TensorFlow ops", text, ops)
    text = "dataset = dataset.batch(128).map(f)  # not .map(f).batch(128)"
    yield from _proven("map-batches", "Single examples in your map: batch first", text, whole)
    text = "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)"
    yield from _proven("parallel-map", "Random ops in your map: parallel calls", text, calls)


def _proven(name: str, title: str, text: str, ratio: Comparison | None) -> Iterator[Fix]:
    if ratio is not None and gains(ratio):
        yield Fix(id=name, title=title, action="diff", text=text, gain=probe_gain(ratio), effort_minutes=15)
