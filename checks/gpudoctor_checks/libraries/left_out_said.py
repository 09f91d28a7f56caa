"""GD253: the log of a run says that TensorFlow left a GPU out.

What it does
    Reads "Ignoring visible gpu device" with its reason: a compute capability below the build's minimum, or fewer
    multiprocessors than asked for.

Why it matters
    The GPU is there and sound, and TensorFlow does not use it. The line is printed once at the start.

How to fix
    XLA complains of a device number: hide the GPU that is too old. Capability too low: a build that has code for this GPU;
    where a third party's image left it out, the official wheel or image of the same release may have it. Too few
    multiprocessors: set TF_MIN_GPU_MULTIPROCESSOR_COUNT, unless the small GPU would slow a bigger one down.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Finding,
    Fix,
    Log,
    LogEvent,
    Python,
    Severity,
    TensorFlow,
    Trial,
    check,
    either,
    tensorflow_releases,
    versions,
    weigh_unusable,
)
from gpudoctor_checks.libraries.gpu_filtered import VARIABLE
from gpudoctor_checks.libraries.gpu_numbers import by_number
from gpudoctor_checks.remedies import install_release_for
from gpudoctor_checks.said import by_hand, command, events, log_finding, release

OFFICIAL_LEAST = 35  # TensorFlow 1.x to 2.14, official wheels: 3.5 (tensorflow.org/install/gpu, hardware requirements)


@check(
    code="GD253",
    slug="gpu-left-out-in-log",
    title="The log says that a GPU was left out",
    family="libraries",
    cause=("gpu-filtered", "cuda-visible-devices"),
    core=False,
)
def left_out(
    log: Log, tensorflow: TensorFlow | None, python: Python | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Tell by the reason that TensorFlow itself gives."""
    yield from by_number(log, baseline)
    skipped = events(log, "gpu_skipped")
    old = [each for each in skipped if each.values.get("why") == "compute_capability"]
    small = [each for each in skipped if each.values.get("why") == "multiprocessor_count"]
    others = bool(events(log, "gpu_created"))
    severity = Severity.WARNING if others else Severity.ERROR
    weight = weigh_unusable(0.95, None if others else baseline)
    if old:
        values = old[0].values
        yield log_finding(
            f"This TensorFlow leaves the GPU out: it has {values.get('capability', '?')}, "
            f"the build starts at {values.get('minimum', 'more')}.",
            weight if others else weigh_unusable(0.95, baseline),
            old,
            *_builds(old[0], release(tensorflow, log), tensorflow, python),
            cause="gpu-filtered",
            severity=severity,
        )
    elif small:
        count = small[0].values.get("count", "1")  # a number, or left out: knowledge.plausible
        yield log_finding(
            f"TensorFlow leaves out a GPU with {count} multiprocessors.",
            weight,
            small,
            command(
                "lower-multiprocessor-minimum",
                "Let TensorFlow use it all the same",
                f"export {VARIABLE}={count}",
                why="beside a bigger GPU it slows synchronous training down",
                minutes=1,
            ),
            cause="gpu-filtered",
            severity=severity,
        )


def _builds(event: LogEvent, version: str, tensorflow: TensorFlow | None, python: Python | None) -> Iterator[Fix]:
    text = event.values.get("capability", "0.0")
    capability = int(text.replace(".", "")) if text.replace(".", "").isdecimal() else 0
    least = OFFICIAL_LEAST
    table = tensorflow_releases.release_of(version) if versions.is_version(version) else None
    covered = table is not None and tensorflow_releases.covers(table, capability) in {"sass", "partial", "ptx"}
    early = table is None and bool(version) and capability >= least
    if covered or early:
        yield command(
            "install-official-build",
            "The official wheel has code for this GPU",
            f"pip install 'tensorflow{'' if covered else '-gpu'}=={version}'  # or the image tensorflow/tensorflow:{version}-gpu",
            why="only the build that was used leaves this GPU out",
            minutes=15,
        )
    known = tensorflow or TensorFlow(origin="official_wheel")
    if either(known.origin, "") == "official_wheel":
        yield from install_release_for(capability, known, python)
    yield by_hand(
        "other-build",
        "Use a TensorFlow with code for this GPU",
        f"The official wheel or image of a release that starts at or below {text}, or a build made for it",
        why="a GPU below the build's minimum is never used",
        minutes=60,
    )
