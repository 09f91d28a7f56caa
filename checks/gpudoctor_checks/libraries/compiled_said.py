"""GD255: the log of a run says that GPU code is compiled at the start.

What it does
    Reads TensorFlow's line about PTX that is compiled at first use, and ptxas that does not know the GPU, and compares
    the GPU with the release.

Why it matters
    A TensorFlow that is older than the GPU compiles all its kernels at the first start: minutes, sometimes half an hour.
    Where only ptxas is older, the driver compiles instead: a warning, not a fault, and not the cause of a crash.

How to fix
    Use a release that has the GPU's code (NVIDIA's image for Blackwell), and keep the CUDA cache large enough to pay once.
    The data pipeline and the batch are not to blame for such a start.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Devices,
    Finding,
    Fix,
    Log,
    LogEvent,
    Python,
    Severity,
    TensorFlow,
    Trial,
    check,
    weigh_faulty,
)
from gpudoctor_checks.libraries.gpu_code import BLACKWELL
from gpudoctor_checks.libraries.older_build import capability_of, older_than_gpu
from gpudoctor_checks.libraries.ptx_jit import CACHE
from gpudoctor_checks.remedies import RUN_NGC, install_release_for
from gpudoctor_checks.said import by_hand, events, log_finding, newest

NOT_SAID = 0.55  # policy: GPU and release tell it, the text does not say that anything was slow
NEWER_PTXAS = by_hand(
    "newer-ptxas",
    "Harmless; or put a newer ptxas first in PATH",
    "pip install 'nvidia-cuda-nvcc-cu12' and put its bin folder first in PATH (or leave it: the driver compiles)",
    why="a ptxas that knows the GPU compiles a little faster",
)


@check(
    code="GD255",
    slug="compiled-at-start-in-log",
    title="The log says GPU code is compiled at start",
    family="libraries",
    cause=("ptx-jit", "blackwell", "xla-libdevice-ptxas"),
    core=False,
)
def compiled(
    log: Log, devices: Devices | None, tensorflow: TensorFlow | None, python: Python | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Tell a build that is older than the GPU from a ptxas that is."""
    slow, old = events(log, "ptx_jit"), events(log, "ptxas_too_old")
    capability = _capability(log, devices, old)
    if not slow and not old:
        yield from _by_found_gpu(log, tensorflow, python, baseline)
        return
    if capability >= BLACKWELL and slow:
        yield log_finding(
            "This build has no code for a Blackwell GPU, and its PTX fails there.",
            weigh_faulty(0.85, baseline),
            slow,
            RUN_NGC,
            cause="blackwell",
        )
    elif slow or older_than_gpu(log, tensorflow, capability):
        yield log_finding(
            "This TensorFlow is older than the GPU: kernels are compiled at the first start.",
            weigh_faulty(0.9 if slow else 0.8, baseline),
            (*slow, *old),
            *_newer(capability, tensorflow, python),
            CACHE,
            cause="ptx-jit",
            severity=Severity.WARNING,
        )
    else:
        yield log_finding(
            "ptxas does not know this GPU, so the driver compiles: a warning, not a fault.",
            weigh_faulty(0.85, baseline),
            old,
            NEWER_PTXAS,
            cause="xla-libdevice-ptxas",
            severity=Severity.WARNING,
        )


def _capability(log: Log, devices: Devices | None, old: tuple[LogEvent, ...]) -> int:
    names = [each.values.get("architecture", "")[3:] for each in old]
    return max((*(int(name) for name in names if name.isdecimal()), capability_of(log, devices)))


def _by_found_gpu(
    log: Log, tensorflow: TensorFlow | None, python: Python | None, trial: Trial | None
) -> Iterator[Finding]:
    """Tell of a GPU that the text shows under an older TensorFlow: nothing in it speaks of the minutes at the start."""
    shown = events(log, "gpu_found", "gpu_created")
    capability = capability_of(log, None)
    if not shown or capability >= BLACKWELL or not older_than_gpu(log, tensorflow, capability):
        return
    yield log_finding(
        "This TensorFlow is older than the GPU: its kernels are compiled at the first start, for minutes.",
        weigh_faulty(NOT_SAID, trial),
        shown,
        *_newer(capability, tensorflow, python),
        CACHE,
        cause="ptx-jit",
        severity=Severity.WARNING,
    )


def _newer(capability: int, tensorflow: TensorFlow | None, python: Python | None) -> tuple[Fix, ...]:
    build = tensorflow or TensorFlow(origin="official_wheel")
    if capability and (found := install_release_for(capability, build, python)):
        return found
    return (
        newest(
            "upgrade-tensorflow",
            "Use a release that knows this GPU",
            "pip install {}",
            why="its code needs no compilation here",
            minutes=30,
            risk="medium",
        ),
    )
