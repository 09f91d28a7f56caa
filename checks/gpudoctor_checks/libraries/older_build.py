"""Whether a TensorFlow came before its GPU: by its release, or by the CUDA runtime that the text shows it opening."""

from __future__ import annotations

import re

from gpudoctor.sdk import Devices, Log, LogEvent, TensorFlow, either, tensorflow_releases, versions
from gpudoctor_checks.libraries.gpu_code import BLACKWELL
from gpudoctor_checks.said import events, release

# The first official release with binary code of each generation: TensorFlow release notes 2.4 (CUDA 11, Ampere), 1.5
# (CUDA 9, Volta); Ada and Hopper run on PTX or Ampere code before. CUDA toolkits know a GPU from these releases on.
FIRST_RELEASE = {7: "1.5", 8: "2.4", 9: "2.12"}
# "libcudart.so.10.1", "cudart64_101.dll", "cudart64_90.dll": no toolkit before 11.0 knows a GPU of 8.0 or more (CUDA 11.0
# release notes). Up to CUDA 11 a DLL's number holds the minor version, too; from 12 on it does not.
RUNTIME = re.compile(r"cudart(?:\.so\.(?P<major>\d{1,2})|64_(?P<number>\d{1,3}))")
WITH_MINOR = 50  # two digits: CUDA 5.0 to 9.2 lie above, majors from 12 on far below
FIRST_WITH_AMPERE, AMPERE = 11, 80


def capability_of(log: Log, devices: Devices | None) -> int:
    """Return the newest compute capability that the text or the machine tells, 0 for none."""
    texts = [each.values.get("compute_capability", "") for each in events(log, "gpu_created", "gpu_found", "ptx_jit")]
    told = [int(text.replace(".", "")) for text in texts if text.replace(".", "").isdecimal()]
    return max((*told, *(devices.compute_capabilities if devices is not None else ())), default=0)


def older_than_gpu(log: Log, tensorflow: TensorFlow | None, capability: int) -> bool:
    """Return whether the release, or the CUDA that it opened, came before the generation of the GPU."""
    if tensorflow is not None and either(tensorflow.origin, "official_wheel") != "official_wheel":
        return False  # NVIDIA's own builds serve newer GPUs under an old number
    return _by_runtime(log, capability) or _by_release(release(tensorflow, log), capability)


def _by_runtime(log: Log, capability: int) -> bool:
    opened = [RUNTIME.search(each.values.get("library", "")) for each in events(log, "dlopen_ok")]
    majors = [int(match["major"] or _major(match["number"])) for match in opened if match is not None]
    return capability >= AMPERE and bool(majors) and max(majors) < FIRST_WITH_AMPERE


def _major(number: str) -> str:
    """Return the major version of a DLL's number: "110" is 11.0, "90" is 9.0, "12" is 12."""
    with_minor = len(number) > 2 or int(number) >= WITH_MINOR
    return number[:-1] if with_minor else number


def _by_release(version: str, capability: int) -> bool:
    if not versions.is_version(version) or not capability:
        return False
    table = tensorflow_releases.release_of(version)
    if table is not None:
        return tensorflow_releases.covers(table, capability) in {"ptx", "none"}
    needed = FIRST_RELEASE.get(capability // 10)
    return needed is not None and not versions.at_least(version, needed)


def library_without_code(log: Log, devices: Devices | None, tensorflow: TensorFlow | None) -> tuple[LogEvent, ...]:
    """Return the products that cuBLAS failed to start on a GPU newer than its CUDA; on others it lacks memory."""
    capability = capability_of(log, devices)
    if capability >= BLACKWELL or not older_than_gpu(log, tensorflow, capability):
        return ()
    return tuple(each for each in events(log, "handle_failed") if "launch failed" in each.text)
