"""The MIG instances of a GPU with their memory: with MIG on, NVML tells no utilisation of the whole, and a job sees one part of it.

Version 2 of the memory call would part off what the driver reserves; for an instance drivers answer version 1 alone.
"""

from __future__ import annotations

from typing import Any

from gpudoctor.collect.nvml_device import NOT_AVAILABLE, UNAVAILABLE, Binding, Device
from gpudoctor.model.gpu import Memory, MigInstance
from gpudoctor.model.missing import Maybe, Missing


def read_instances(binding: Binding, device: Device) -> tuple[MigInstance, ...]:
    """Return the instances in NVML's order; none where MIG is off or not to be asked."""
    places = device.number("nvmlDeviceGetMaxMigDeviceCount")
    if isinstance(places, Missing):
        return ()
    handles = ((place, device.ask("nvmlDeviceGetMigDeviceHandleByIndex", place)) for place in range(places))
    return tuple(_instance(binding, place, handle) for place, handle in handles if not isinstance(handle, Missing))


def _instance(binding: Binding, place: int, handle: Any) -> MigInstance:  # an opaque pointer
    return MigInstance(
        place=place,
        profile=_profile(binding.ask("nvmlDeviceGetName", handle)),
        gpu_instance=binding.ask("nvmlDeviceGetGpuInstanceId", handle),
        compute_instance=binding.ask("nvmlDeviceGetComputeInstanceId", handle),
        memory=_memory(binding.ask("nvmlDeviceGetMemoryInfo", handle)),
    )


def _profile(name: Any) -> Maybe[str]:  # text of the bindings, bytes in older ones
    """Return the profile alone: of `NVIDIA H100 80GB HBM3 MIG 1g.10gb` what follows MIG."""
    if isinstance(name, Missing):
        return name
    text = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
    return text.rpartition("MIG ")[2]


def _memory(info: Any) -> Memory:  # a structure of the bindings
    if isinstance(info, Missing):
        return Memory(total_bytes=info, used_bytes=info, free_bytes=info)
    total, used, free = (UNAVAILABLE if each in NOT_AVAILABLE else each for each in (info.total, info.used, info.free))
    return Memory(total_bytes=total, used_bytes=used, free_bytes=free)
