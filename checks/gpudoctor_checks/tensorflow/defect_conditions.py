"""Under which condition a known defect strikes, as far as this machine shows it.

Matching the version alone would be tempting: it accuses every 2.16.1 whose libraries were found another way.
"""

from __future__ import annotations

from typing import TypeVar

from gpudoctor.sdk import (
    BROKEN,
    Libraries,
    Library,
    Missing,
    Packages,
    Skip,
    TensorFlow,
    Trial,
    Weight,
    either,
    tensorflow_releases,
    versions,
    weigh_faulty,
    weigh_unusable,
)
from gpudoctor_checks.libraries.dense_trial import weigh_cudnn

Group = TypeVar("Group")
# Defects with a condition that can be seen here. The others are judged by a check of their own (GPU code, cuDNN, NVML)
# or concern an installation that has already succeeded.
RUNPATH_LOST = {
    "missing-rpath": ("libcublas.so", "libcudnn.so", "libcufft.so", "libcusolver.so", "libcusparse.so"),
    "cusolver-rpath-lost": ("libcusolver.so",),
}
BAD_CUDNN = "==9.5.*"  # conv-autotuner-old-cudnn: seen with 9.5.1, gone with 9.24; between them unknown
PROTOBUF_4 = "4"  # protobuf-unbounded: built for protobuf 3


def weigh(
    defect: tensorflow_releases.Defect,
    tensorflow: TensorFlow,
    libraries: Libraries | None,
    packages: Packages | None,
    baseline: Trial | None,
) -> Weight | None:
    """Return how sure it is that the defect strikes here, None where it does not; skip where that cannot be seen."""
    if defect.id in RUNPATH_LOST:
        items = _known(libraries, "which libraries are found").items
        lost = [each for each in items if each.soname.startswith(RUNPATH_LOST[defect.id])]
        return weigh_unusable(0.95, baseline) if any(_unfindable(each, tensorflow) for each in lost) else None
    if defect.id == "conv-autotuner-old-cudnn":
        library = _known(libraries, "which cuDNN is found").find("libcudnn.so")
        found = either(library.version, "") if library is not None else ""
        return weigh_cudnn(0.8, baseline) if found and versions.satisfies(found, BAD_CUDNN) else None
    if defect.id == "protobuf-unbounded":
        installed = _known(packages, "which protobuf is installed").version("protobuf")
        return weigh_faulty(0.85, baseline) if installed and versions.at_least(installed, PROTOBUF_4) else None
    if defect.id == "libdevice-not-found" and baseline is not None and baseline.status in BROKEN:
        return weigh_faulty(0.6, baseline) if "libdevice" in " ".join((baseline.reason, *baseline.notes)) else None
    return None


def _known(group: Group | None, what: str) -> Group:
    if group is None:
        raise Skip(f"{what} is unknown")
    return group


def _unfindable(library: Library, tensorflow: TensorFlow) -> bool:
    """Return whether the loader misses it: not found, or only in a wheel that TensorFlow's search path leaves out."""
    if isinstance(library.path, Missing):
        return library.path.reason != "not collected"
    if either(library.loadable, True) is False:
        return True
    folders = either(tensorflow.runpath, None)
    if either(library.origin, "") != "wheel" or folders is None or "/nvidia/" not in library.path:
        return False
    own = library.path.partition("/nvidia/")[2].partition("/")[0]
    return not any(f"nvidia/{own}/" in folder for folder in folders)
