"""What the numbers of cuInit mean, and the first thing to do: one table, so that no number goes without an answer.

Names and meanings: enum CUresult of cuda.h. A number that is not in it still gets a finding; only its meaning is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpudoctor.sdk import Fix, Gain, Grade, unblocks

NO_DEVICE = 100
LOOKS = "tells the reason; changes nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaError:
    """One number: its name in cuda.h, and what it says in plain words."""

    name: str
    meaning: str


ERRORS = {
    1: CudaError(name="CUDA_ERROR_INVALID_VALUE", meaning="the driver refuses the call"),
    2: CudaError(name="CUDA_ERROR_OUT_OF_MEMORY", meaning="it got no memory, of the host or of the GPU"),
    3: CudaError(name="CUDA_ERROR_NOT_INITIALIZED", meaning="the driver could not start"),
    4: CudaError(name="CUDA_ERROR_DEINITIALIZED", meaning="the driver is shutting down in this process"),
    34: CudaError(name="CUDA_ERROR_STUB_LIBRARY", meaning="a stub of libcuda, for linking only, is loaded"),
    46: CudaError(name="CUDA_ERROR_DEVICE_UNAVAILABLE", meaning="the GPU is taken, or refuses another process"),
    NO_DEVICE: CudaError(name="CUDA_ERROR_NO_DEVICE", meaning="CUDA finds no GPU that it may use"),
    101: CudaError(name="CUDA_ERROR_INVALID_DEVICE", meaning="the GPU is not one that this driver can use"),
    102: CudaError(name="CUDA_ERROR_DEVICE_NOT_LICENSED", meaning="this virtual GPU has no license"),
    201: CudaError(name="CUDA_ERROR_INVALID_CONTEXT", meaning="the process has no valid context on the GPU"),
    205: CudaError(name="CUDA_ERROR_MAP_FAILED", meaning="memory could not be mapped"),
    214: CudaError(name="CUDA_ERROR_ECC_UNCORRECTABLE", meaning="an uncorrectable memory error"),
    221: CudaError(name="CUDA_ERROR_JIT_COMPILER_NOT_FOUND", meaning="the driver's PTX compiler is not found"),
    302: CudaError(
        name="CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND", meaning="a library of the driver lacks what is asked of it"
    ),
    303: CudaError(name="CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", meaning="a library of the driver could not be loaded"),
    304: CudaError(name="CUDA_ERROR_OPERATING_SYSTEM", meaning="the operating system refused a call"),
    400: CudaError(name="CUDA_ERROR_INVALID_HANDLE", meaning="what the call names does not exist, or no longer"),
    500: CudaError(name="CUDA_ERROR_NOT_FOUND", meaning="what the call names is not found"),
    701: CudaError(name="CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", meaning="a kernel asks for more than the GPU has"),
    800: CudaError(name="CUDA_ERROR_NOT_PERMITTED", meaning="it is not permitted"),
    801: CudaError(name="CUDA_ERROR_NOT_SUPPORTED", meaning="GPU, driver or system do not support what is asked"),
    802: CudaError(name="CUDA_ERROR_SYSTEM_NOT_READY", meaning="a service of the driver does not run"),
    803: CudaError(name="CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", meaning="libcuda and kernel module do not fit"),
    804: CudaError(name="CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", meaning="cuda-compat is not for this GPU"),
    999: CudaError(name="CUDA_ERROR_UNKNOWN", meaning="the driver gives no reason"),
}
UNKNOWN_NUMBER = CudaError(name="not in cuda.h", meaning="a number that cuda.h does not know")

READ_LOG = Fix(
    id="read-nvidia-kernel-lines",
    title="Read what the driver told the kernel log",
    action="command",
    text="sudo dmesg | grep -iE 'nvrm|nvidia' | tail -n 20",
    gain=Gain(grade=Grade.UNPROVEN, basis=LOOKS),
    risk="none",
    effort_minutes=1,
)
RESTART = Fix(
    id="restart-for-cuda",
    title="No reason there? Restart the machine",
    action="command",
    text="sudo reboot",
    gain=Gain(grade=Grade.UNPROVEN, basis="the driver starts afresh"),
    effort_minutes=5,
)
SEE_MEMORY = Fix(
    id="see-memory-limits",
    title="See which memory is short",
    action="command",
    text="ulimit -v; free -h; nvidia-smi",
    gain=Gain(grade=Grade.UNPROVEN, basis=LOOKS),
    risk="none",
    effort_minutes=1,
)
START_FABRIC = Fix(
    id="start-fabric-manager",
    title="Start the fabric manager",
    action="command",
    text="sudo systemctl enable --now nvidia-fabricmanager && systemctl status --no-pager nvidia-fabricmanager",
    gain=unblocks("GPUs behind NVSwitch are ready only when it runs"),
    effort_minutes=2,
)
SEE_USE = Fix(
    id="see-compute-mode",
    title="See compute mode, MIG mode and who holds it",
    action="command",
    text="nvidia-smi -q -d COMPUTE; nvidia-smi -L; nvidia-smi",
    gain=Gain(grade=Grade.UNPROVEN, basis=LOOKS),
    risk="none",
    effort_minutes=1,
)
DROP_STUBS = Fix(
    id="drop-cuda-stubs",
    title="Take the stubs folder off LD_LIBRARY_PATH",
    action="command",
    text="export LD_LIBRARY_PATH=$(printf %s \"$LD_LIBRARY_PATH\" | tr : '\\n' | grep -v /stubs | paste -sd:)",
    gain=unblocks("a stub has no driver behind it"),
    effort_minutes=1,
)
FIRST = {2: SEE_MEMORY, 34: DROP_STUBS, 46: SEE_USE, NO_DEVICE: SEE_USE, 101: SEE_USE, 802: START_FABRIC}


def error(code: int) -> CudaError:
    """Return what this number says."""
    return ERRORS.get(code, UNKNOWN_NUMBER)


def fixes(code: int) -> tuple[Fix, ...]:
    """Return what to do: the cure where the number names one, else where the reason can be read."""
    named = FIRST.get(code)
    return (READ_LOG, RESTART) if named is None else (named, READ_LOG)
