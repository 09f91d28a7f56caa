"""GD251: the log of a run says that CUDA libraries could not be opened.

What it does
    Reads which library the loader did not find, or TensorFlow's "Cannot dlopen some GPU libraries", from the text of a run,
    and compares the name's number with the CUDA or cuDNN that is said to be installed.

Why it matters
    One library that is missing is enough: TensorFlow leaves out every GPU. TensorRT's libraries are not among them.

How to fix
    Give this TensorFlow the libraries it was built for, in its own environment: pip's and-cuda extra from 2.14 on, conda's
    packages inside conda. A library of another major version does not fit, under a linked name neither. The driver's
    "CUDA Version" in nvidia-smi says what the driver can run, not what is installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpudoctor.sdk import (
    Devices,
    Finding,
    Fix,
    Host,
    Log,
    LogEvent,
    Python,
    Severity,
    TensorFlow,
    Trial,
    check,
    versions,
    weigh_unusable,
)
from gpudoctor_checks.driver.cuinit_events import FIND_LIBCUDA, NO_LIBCUDA, WSL_FIRST, read_cuinit
from gpudoctor_checks.libraries.libraries_remedies import (
    NAME_IT,
    exact_version,
    fixes_for,
    in_conda,
    wrong_major,
)
from gpudoctor_checks.libraries.provide import mend_runpath
from gpudoctor_checks.libraries.wsl_said import of_wsl
from gpudoctor_checks.said import (
    container_of,
    events,
    first,
    log_finding,
    on_wsl,
    release,
    stated,
    trained_on,
    unproven,
)

IN_CONTAINER = "nvidia-smi  # in the container: without an answer it has no GPU; with one its image lacks CUDA"
BESIDE = 0.45  # policy: what ended the run is told elsewhere in the text


@check(
    code="GD251",
    slug="libraries-missing-in-log",
    title="The log says CUDA libraries are missing",
    family="libraries",
    cause=("missing-cuda-libs", "and-cuda-wheels", "wsl-libcuda"),
    core=False,
)
def not_opened(
    log: Log,
    host: Host | None,
    tensorflow: TensorFlow | None,
    python: Python | None,
    devices: Devices | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Judge the library that is named; without a name, the release and how it was installed."""
    named = _named(log)
    unnamed = events(log, "gpu_libraries_missing", "gpus_not_registered", "cudart_not_loaded")
    version = exact_version(release(tensorflow, log))
    if not named and not unnamed:
        return
    if (wsl := of_wsl(named, baseline)) is not None:
        yield wsl
        return
    if any("libcuda.so" in each.text for each in named) and not unnamed:
        cause, fix = ("wsl-libcuda", WSL_FIRST) if on_wsl(host) else ("missing-cuda-libs", FIND_LIBCUDA)
        weight = weigh_unusable(0.85, baseline)
        yield log_finding("The driver's libcuda is not found by the loader.", weight, named, fix, cause=cause)
        return
    lost = mend_runpath(version) if versions.is_version(version) and not named and not in_conda(log, python) else None
    if lost is not None and first(log, "cudart_not_loaded") is None:
        yield log_finding(
            f"TensorFlow {version} does not look into its own nvidia-* wheels.",
            weigh_unusable(0.85, baseline),
            unnamed,
            lost,
            cause="and-cuda-wheels",
            know=NAME_IT,
        )
        return
    library = _library(named)
    beside = _told_without_a_driver(log, named, unnamed)
    wrong = wrong_major(library, stated(log, "cudnn"), stated(log, "cuda"))
    capabilities = devices.compute_capabilities if devices is not None else ()
    yield log_finding(
        f"{library} is not found: {wrong}." if wrong else f"{library or 'A CUDA library'} cannot be opened.",
        weigh_unusable(BESIDE if beside or trained_on(log) else 0.9 if named else 0.75, baseline),
        (*named, *unnamed),
        *_graded(log, fixes_for(version, library, log, host, python, tensorflow, capabilities, named=bool(named))),
        cause="missing-cuda-libs",
        know="" if named else IN_CONTAINER if container_of(host) and first(log, "cudart_not_loaded") else NAME_IT,
        severity=Severity.WARNING if beside else Severity.ERROR,
    )


def _named(log: Log) -> tuple[LogEvent, ...]:
    """Return the libraries that were not opened; libcuda itself is the driver's: see GD155."""
    found = events(log, "dlopen_failed")
    return tuple(each for each in found if not each.values.get("library", "").startswith(("libcuda.so", "nvcuda")))


def _told_without_a_driver(log: Log, named: tuple[LogEvent, ...], unnamed: tuple[LogEvent, ...]) -> bool:
    """Return whether nothing but CUDA's runtime is missed, and libcuda, too: each machine without a driver says both."""
    runtime = all("cudart" in each.values.get("library", "") for each in named)
    return runtime and all(each.kind == "cudart_not_loaded" for each in unnamed) and read_cuinit(log)[0] == NO_LIBCUDA


def _graded(log: Log, fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    return tuple(unproven(each, "training ran without it") if trained_on(log) else each for each in fixes)


def _library(named: tuple[LogEvent, ...]) -> str:
    return next((each.values["library"] for each in named if "library" in each.values), "")
