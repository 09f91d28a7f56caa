"""GD257: the CUDA that is said to be installed is not the one of this TensorFlow.

What it does
    Compares the CUDA version that somebody states with the one that the release was built with, for wheels before 2.14,
    which use the system's CUDA.

Why it matters
    CUDA 12's libraries have other names than CUDA 11's, so TensorFlow does not find them and leaves out every GPU.

How to fix
    Install the CUDA that the release was built with, or take a release that brings its own (tensorflow[and-cuda], CUDA 12
    from 2.15 on). The "CUDA Version" in nvidia-smi is what the driver can run, not what is installed.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Evidence,
    Finding,
    Host,
    Log,
    TensorFlow,
    Trial,
    check,
    either,
    tensorflow_releases,
    versions,
    weigh_unusable,
)
from gpudoctor_checks.libraries.libraries_remedies import NAME_IT, NEWER, exact_version, matching
from gpudoctor_checks.libraries.provide import FIRST_WITH_EXTRA
from gpudoctor_checks.said import events, first, log_finding, on_windows, release, stated

# From CUDA 11 on the libraries' names carry the major alone (libcudart.so.11.0 in all of 11.x); before, both numbers.
NAMED_BY_MAJOR = 11
SUSPECTED = 0.6  # the numbers are certain, that nothing else brought the right libraries is not


@check(
    code="GD257",
    slug="cuda-stated",
    title="The stated CUDA is not this TensorFlow's",
    family="libraries",
    cause="missing-cuda-libs",
    core=False,
)
def another_cuda(
    log: Log, tensorflow: TensorFlow | None, host: Host | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Compare what the libraries' names carry."""
    version = exact_version(release(tensorflow, log))
    installed, cudnn = stated(log, "cuda"), stated(log, "cudnn")
    built = either(tensorflow.cuda_version, "") if tensorflow is not None else ""
    if tensorflow is None or not built or not versions.is_version(version) or not versions.is_version(installed):
        return
    if versions.at_least(version, FIRST_WITH_EXTRA):
        return
    used = first(log, "gpu_created", "dlopen_failed", "gpu_libraries_missing") is not None  # the log itself tells
    official = either(tensorflow.origin, "") == "official_wheel" and either(tensorflow.is_cuda_build, False)
    if used or not official or _serves(installed, built):
        return
    unseen = any(each.values.get("count") == "0" for each in events(log, "visible_gpus"))
    early = tensorflow_releases.release_of(version) is None
    if (early or versions.parse(installed)[0] == versions.parse(built)[0]) and not unseen:
        return  # several releases lie side by side, and early ones served many: only a GPU that is not seen tells
    yield log_finding(
        f"CUDA {installed} is installed, but TensorFlow {version} was built for CUDA {built}.",
        weigh_unusable(SUSPECTED, baseline),
        (),
        matching("", tensorflow, host),
        *(() if on_windows(host) else (NEWER,)),
        cause="missing-cuda-libs",
        know=NAME_IT,
        more=(
            Evidence(label="CUDA installed", value=installed, source="stated"),
            Evidence(label="cuDNN installed", value=cudnn or "not said", source="stated"),
            Evidence(label="built with CUDA", value=built, source="release table"),
        ),
    )


def _serves(installed: str, built: str) -> bool:
    """Return whether the build finds libraries of the installed version under the names that it asks for."""
    mine, theirs = versions.parse(built), versions.parse(installed)
    fields = 1 if mine[0] >= NAMED_BY_MAJOR else min(2, len(theirs))
    return mine[:fields] == theirs[:fields]
