"""Which GPUs this user may use: CUDA_VISIBLE_DEVICES and the scheduler's grant, as GPUs of NVML's list.

CUDA's own numbers are in CUDA's order (fastest first), NVML's in that of the PCI bus, so an index alone maps only where
both orders are known to agree; else the answer is None, never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpudoctor.model.gpu import Gpu
from gpudoctor.model.machine import Cuda
from gpudoctor.model.missing import Missing

VISIBLE = "CUDA_VISIBLE_DEVICES"
# Slurm's documentation of sbatch, "Output environment variables": global numbers of the GPUs of the step or job.
SLURM = ("SLURM_STEP_GPUS", "SLURM_JOB_GPUS")


def hides_all(environment: Mapping[str, str]) -> bool:
    """Return whether CUDA_VISIBLE_DEVICES shows no GPU: the list ends at the first entry that is no device."""
    value = environment.get(VISIBLE)
    if value is None:
        return False
    first = value.split(",")[0].strip()
    return not (first.isdigit() or first.upper().startswith(("GPU-", "MIG-")))


def granted(gpus: Sequence[Gpu], cuda: Cuda | None, environment: Mapping[str, str]) -> tuple[Gpu, ...] | None:
    """Return the GPUs that this process may use; None where they cannot be told apart."""
    by_driver = _by_driver(gpus, cuda)
    if by_driver:
        return by_driver
    if VISIBLE in environment:
        return _named(gpus, environment[VISIBLE], environment)
    for name in SLURM:
        numbers = environment.get(name, "").split(",")
        if all(each.isdigit() for each in numbers):
            mine = tuple(gpu for gpu in gpus if str(gpu.index) in numbers)
            return mine if len(mine) == len(numbers) else tuple(gpus)  # a cgroup hides the others and renumbers
    return tuple(gpus)


def _by_driver(gpus: Sequence[Gpu], cuda: Cuda | None) -> tuple[Gpu, ...]:
    """Return the GPUs at the PCI addresses that the CUDA driver lists: it has applied every restriction already."""
    if cuda is None or isinstance(cuda.devices, Missing):
        return ()
    places = {_place(device.pci) for device in cuda.devices}
    mine = tuple(gpu for gpu in gpus if _place(gpu.pci) in places)
    return mine if None not in places and len(mine) == len(places) else ()


def _place(address: str | Missing) -> tuple[int, str] | None:
    """Return a PCI address with its domain as a number: NVML writes eight digits of it, CUDA four."""
    if isinstance(address, Missing):
        return None
    domain, _, rest = address.strip().lower().partition(":")
    try:
        return int(domain, 16), rest
    except ValueError:
        return None


def _named(gpus: Sequence[Gpu], value: str, environment: Mapping[str, str]) -> tuple[Gpu, ...] | None:
    mine: list[Gpu] = []
    same_order = environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID" or len({str(gpu.name) for gpu in gpus}) == 1
    for entry in (each.strip() for each in value.split(",")):
        if entry.isdigit():
            found = [gpu for gpu in gpus if gpu.index == int(entry)] if same_order else []
        else:
            found = [gpu for gpu in gpus if isinstance(gpu.uuid, str) and gpu.uuid.startswith(entry)]
        if len(found) != 1:
            return None
        mine += found
    return tuple(mine)
