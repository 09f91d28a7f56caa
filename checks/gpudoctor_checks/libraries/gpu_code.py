"""What code a TensorFlow build has for a GPU: the table for official wheels, the build's own list for all others.

The list of an official wheel promises more than it holds: its newest architecture has binary code for a part of the
kernels only. Trusting the list alone would be tempting, and an H100 would then look fully served.
"""

from __future__ import annotations

from gpudoctor.sdk import Devices, Skip, TensorFlow, either, must_know, tensorflow_releases, versions

BLACKWELL = 100  # compute capability 10.0: the first without code in any official wheel (tensorflow_releases)
KNOWS_BLACKWELL = "12.8"  # CUDA 12.8 is the first whose ptxas and PTX ISA know sm_100 and sm_120 (cuda_toolkits)


def capabilities(tensorflow: TensorFlow) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return (binary, PTX) as the build lists them: ("sm_80", "compute_90") gives ((80,), (90,)). Skips if unknown."""
    listed = must_know(tensorflow.compute_capabilities, "the GPU code of this build")
    binary = tuple(int(each[3:]) for each in listed if each.startswith("sm_") and each[3:].isdigit())
    ptx = tuple(int(each[8:]) for each in listed if each.startswith("compute_") and each[8:].isdigit())
    if not binary and not ptx:
        raise Skip(f"the build lists no GPU code that is understood: {', '.join(listed) or 'nothing'}")
    return binary, ptx


def coverage(tensorflow: TensorFlow, capability: int) -> tensorflow_releases.Coverage:
    """Return sass, partial, ptx, ptx-broken or none for one GPU."""
    version = either(tensorflow.version, "")
    if either(tensorflow.origin, "") == "official_wheel" and (release := tensorflow_releases.release_of(version)):
        return tensorflow_releases.covers(release, capability)
    binary, ptx = capabilities(tensorflow)
    if any(tensorflow_releases.runs_on(code, capability) for code in binary):
        return "sass"
    if any(code <= capability for code in ptx):
        cuda = either(tensorflow.cuda_version, KNOWS_BLACKWELL)
        return "ptx-broken" if capability >= BLACKWELL and not versions.at_least(cuda, KNOWS_BLACKWELL) else "ptx"
    return "none"


def lowest(tensorflow: TensorFlow) -> int:
    """Return the compute capability below which this build leaves a GPU out."""
    binary, ptx = capabilities(tensorflow)
    return min((*binary, *ptx))


def named(devices: Devices, capability: int) -> str:
    """Return the name of the first GPU of that compute capability, with it: "Tesla T4 (7.5)"."""
    pairs = zip(devices.names, devices.compute_capabilities, strict=True)
    name = next(name for name, number in pairs if number == capability)
    return f"{name} ({capability // 10}.{capability % 10})"
