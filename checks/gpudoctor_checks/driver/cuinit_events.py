"""What the checks of cuInit share: the error's number, the lines around it, and the cures.

The number is read once and in one place, so that two checks cannot both claim the same line.
"""

from __future__ import annotations

from gpudoctor.sdk import Log, LogEvent
from gpudoctor_checks.driver.driver_said import DRIVER_FIRST
from gpudoctor_checks.said import by_hand, command, events, first

# Source of the numbers: enum CUresult of cuda.h; 303 is also what TensorFlow says when it opened no libcuda.
STUB, UNAVAILABLE, NO_DEVICE, BAD_DEVICE, NO_LIBCUDA, NOT_READY, UNKNOWN = 34, 46, 100, 101, 303, 802, 999
IN_USE, NOT_FOUND = 216, 500
LIKELY, LESS = 0.8, 0.4  # policy: above and below the bar `OPEN`
RENEW_UVM = command(
    "renew-uvm",
    "Reload nvidia_uvm and make its node",
    "sudo rmmod nvidia_uvm; sudo modprobe nvidia_uvm && sudo nvidia-modprobe -c 0 -u",
    why="cuInit needs a working nvidia_uvm; end CUDA programs first",
)
WSL_FIRST = command(
    "wsl-libcuda-first",
    "Let WSL's own libcuda be found first",
    'export LD_LIBRARY_PATH="/usr/lib/wsl/lib:$LD_LIBRARY_PATH"',
    why="only WSL's libcuda reaches the Windows driver; no Linux driver belongs into WSL",
)
FIND_LIBCUDA = command(
    "loader-finds-libcuda",
    "Put the mounted libcuda on the loader's path",
    'ldconfig; export LD_LIBRARY_PATH="$(dirname "$(find / -name libcuda.so.1 -not -path "*stubs*" 2>/dev/null | head -n 1)"):$LD_LIBRARY_PATH"',
    why="the driver's libcuda is mounted where the loader does not look",
)
SET_DEVICES = command(
    "set-visible-devices",
    "Name a GPU by number, or unset it",
    "export CUDA_VISIBLE_DEVICES=0",
    why="a value that is no number and no UUID hides every GPU",
)
FREE_DEVICE = command(
    "compute-mode-default",
    "Allow several processes on the GPU",
    "sudo nvidia-smi -c DEFAULT",
    why="an exclusive or prohibited compute mode refuses this process",
)
START_FABRIC = command(
    "start-fabric-manager",
    "Start the fabric manager",
    "sudo systemctl start nvidia-fabricmanager",
    why="GPUs behind NVSwitch are ready only when it runs",
)
NEWER_TOOLS = by_hand(
    "update-container-tools",
    "Update what brings the driver in",
    "Docker Desktop: update it (on WSL also `wsl --update`); on Linux: sudo apt install --only-upgrade nvidia-container-toolkit; then"
    " start the container anew",
    why="older tools leave out a library that a newer driver needs",
)
SEE_NODES = "ls -l /dev/nvidia*; grep nvidia /proc/modules; nvidia-smi -L"
SEE_LIBCUDA = "ldconfig -p | grep libcuda; ls /dev/nvidia* /proc/driver/nvidia/version"
NO_DRIVER = by_hand(
    "load-driver",
    "Install or load the driver",
    "Outside a container: install NVIDIA's driver for this kernel, reboot, and see that nvidia-smi answers",
    why="without the driver there is no libcuda",
)
WINDOWS_DRIVER = by_hand(
    "load-driver",
    "Install NVIDIA's driver for Windows",
    "Install the GPU's driver for Windows (https://www.nvidia.com/en-us/drivers/), restart, and see that nvidia-smi answers",
    why="nvcuda.dll comes with the driver",
)


def read_cuinit(log: Log) -> tuple[int, tuple[LogEvent, ...], bool]:
    """Return the number (0: no trouble told), the lines, and whether nothing but the number is told."""
    found = events(log, "cuinit_failed", "device_unavailable", "no_cuda_device", "libcuda_not_found", "context_in_use")
    absent = [
        each
        for each in events(log, "dlopen_failed")
        if each.values.get("library", "").startswith(("libcuda.so", "nvcuda"))
    ]
    bare = (*events(log, "kernel_driver_not_running", "no_device_node"), *absent)
    if not found and not bare:
        return 0, (), True
    code = STUB if first(log, "libcuda_not_found") else max((_code(each) for each in found), default=NO_LIBCUDA)
    return code, (*found, *bare), not bare


def told_elsewhere(log: Log) -> bool:
    """Return whether the log names a fault of the driver's parts, which explains cuInit."""
    return first(log, *DRIVER_FIRST) is not None


def _code(event: LogEvent) -> int:
    known = {"device_unavailable": UNAVAILABLE, "no_cuda_device": NO_DEVICE, "context_in_use": IN_USE}
    text = event.values.get("code", "")
    return known.get(event.kind) or (int(text) if text.isdecimal() else UNKNOWN)
