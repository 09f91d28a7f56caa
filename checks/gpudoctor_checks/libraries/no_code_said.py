"""GD254: the log of a run says that the GPU cannot run the code.

What it does
    Reads "no kernel image is available", and the errors that CUDA gives for PTX it cannot compile, with the compute
    capability that the text or the machine tells.

Why it matters
    The build has no code for this GPU (a new generation in an older release, mostly Blackwell), or its PTX is newer than
    the driver. What follows in the log, an invalid handle for example, is a consequence and no fault of the program.

How to fix
    Blackwell: NVIDIA's TensorFlow image or a build with its code. PTX newer than the driver: a newer driver. Else a release
    whose wheel has the GPU's code.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Devices,
    Driver,
    Finding,
    Host,
    Log,
    LogEvent,
    Python,
    TensorFlow,
    Trial,
    check,
    cuda_toolkits,
    either,
    weigh_faulty,
)
from gpudoctor_checks.installing import OTHER_BUILD
from gpudoctor_checks.libraries.gpu_code import BLACKWELL
from gpudoctor_checks.libraries.older_build import capability_of, library_without_code
from gpudoctor_checks.reach_driver import reach_driver
from gpudoctor_checks.remedies import RUN_NGC, install_release_for
from gpudoctor_checks.said import events, log_finding

BAD_PTX = frozenset({"CUDA_ERROR_INVALID_PTX", "CUDA_ERROR_INVALID_IMAGE"})
# what a launch says after a kernel could not be loaded; on a GPU that the build knows it has other reasons
NO_HANDLE = "CUDA_ERROR_INVALID_HANDLE"
NEW_PTX = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
SEE = "nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv"


@check(
    code="GD254",
    slug="no-code-in-log",
    title="The log says the GPU cannot run the code",
    family="libraries",
    cause=("no-kernel", "blackwell", "driver-too-old"),
    core=False,
)
def cannot_run(
    log: Log,
    devices: Devices | None,
    tensorflow: TensorFlow | None,
    driver: Driver | None,
    host: Host | None,
    python: Python | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Tell Blackwell from other GPUs without code, and both from a driver that is too old for the PTX."""
    image = events(log, "no_kernel_image")
    errors = events(log, "cuda_error")
    bad = [each for each in errors if each.values.get("name") in BAD_PTX]
    new = [each for each in errors if each.values.get("name") == NEW_PTX]
    capability = capability_of(log, devices)
    if capability >= BLACKWELL or not capability:
        bad += [each for each in errors if each.values.get("name") == NO_HANDLE and each.values.get("call")]
    if not image and not bad and not new:
        yield from _library(library_without_code(log, devices, tensorflow), capability, tensorflow, python, baseline)
        return
    known = (capability,) if capability else ()
    build = tensorflow or TensorFlow(origin="official_wheel")
    if new and capability < BLACKWELL:
        yield log_finding(
            "The driver is older than the PTX of this build.",
            weigh_faulty(0.85, baseline),
            new,
            *reach_driver(_compiles(tensorflow), driver or Driver(), known, build, host, python),
            cause="driver-too-old",
            know=SEE,
        )
    elif capability >= BLACKWELL or (bad and not capability):
        yield log_finding(
            "This TensorFlow has no code that runs on a Blackwell GPU.",
            weigh_faulty(0.9 if capability else 0.6, baseline),
            (*bad, *image, *new),
            RUN_NGC,
            cause="blackwell",
            know="" if capability else SEE,
        )
    else:
        yield log_finding(
            "This TensorFlow has no code for this GPU.",
            weigh_faulty(0.85, baseline),
            (*image, *bad),
            *((capability and install_release_for(capability, build, python)) or (OTHER_BUILD,)),
            cause="no-kernel",
            know=SEE,
        )


def _library(
    blas: tuple[LogEvent, ...],
    capability: int,
    tensorflow: TensorFlow | None,
    python: Python | None,
    trial: Trial | None,
) -> Iterator[Finding]:
    if blas:
        summary, build = "cuBLAS of this TensorFlow's CUDA is older than the GPU and cannot run on it.", tensorflow
        fixes = (*install_release_for(capability, build or TensorFlow(origin="official_wheel"), python), OTHER_BUILD)
        yield log_finding(summary, weigh_faulty(0.8, trial), blas, *fixes, cause="no-kernel", know=SEE)


def _compiles(tensorflow: TensorFlow | None) -> str:
    """Return the least driver that compiles the PTX of this build; of an unknown one, any."""
    cuda = either(tensorflow.cuda_version, "") if tensorflow is not None else ""
    return cuda_toolkits.ptx_driver(cuda) or "0"
