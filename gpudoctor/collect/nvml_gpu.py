"""The facts of one GPU, each from its own guarded NVML call. PCIe throughput, whose call blocks for 20 ms, has its own.

The bindings offer neighbours for most calls (the limit set and the limit enforced, the link maximum of the GPU and of GPU and
slot together); which of them a field holds is decided here and nowhere else, for that is where monitors go wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from gpudoctor.collect.nvml_device import UNAVAILABLE, UNKNOWN_FUNCTION, Calls, Device
from gpudoctor.knowledge import clock_events
from gpudoctor.model.gpu import Clocks, Ecc, Gpu, GpuProcess, Memory, Pcie, Power, Utilization
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.words import ComputeMode, HolderKind, MigMode

# Enumerators of nvml.h, stable numbers of its ABI.
TEMPERATURE_GPU, THRESHOLD_SLOWDOWN = 0, 1
CLOCK_SM, CLOCK_MEMORY = 1, 2
CORRECTED, UNCORRECTED, SINCE_DRIVER_LOAD = 0, 1, 0
SINGLE_BIT_PAGES, DOUBLE_BIT_PAGES = 0, 1
PERFORMANCE_STATE_UNKNOWN = 32
MEMORY_V2 = 2 << 24 | 40  # nvmlMemory_v2: version 2, size of nvmlMemory_v2_t
COMPUTE_MODES: tuple[ComputeMode, ...] = ("default", "exclusive_thread", "prohibited", "exclusive_process")
MILLI = 1000
ZERO_TOTAL = Missing("not_supported: a total of 0 bytes (memory shared with the host)")

STATE: Calls = {
    "memory": ("nvmlDeviceGetMemoryInfo", MEMORY_V2),
    "utilization": ("nvmlDeviceGetUtilizationRates",),
    "power": ("nvmlDeviceGetPowerUsage",),
    "power_enforced": ("nvmlDeviceGetEnforcedPowerLimit",),
    "power_default": ("nvmlDeviceGetPowerManagementDefaultLimit",),
    "power_range": ("nvmlDeviceGetPowerManagementLimitConstraints",),
    "temperature": ("nvmlDeviceGetTemperatureV", TEMPERATURE_GPU),
    "slowdown": ("nvmlDeviceGetTemperatureThreshold", THRESHOLD_SLOWDOWN),
    "fan": ("nvmlDeviceGetFanSpeed",),
    "performance_state": ("nvmlDeviceGetPerformanceState",),
    "sm": ("nvmlDeviceGetClockInfo", CLOCK_SM),
    "sm_max": ("nvmlDeviceGetMaxClockInfo", CLOCK_SM),
    "memory_clock": ("nvmlDeviceGetClockInfo", CLOCK_MEMORY),
    "memory_clock_max": ("nvmlDeviceGetMaxClockInfo", CLOCK_MEMORY),
    "reasons": ("nvmlDeviceGetCurrentClocksEventReasons",),
    "gen": ("nvmlDeviceGetCurrPcieLinkGeneration",),
    "gen_max": ("nvmlDeviceGetMaxPcieLinkGeneration",),
    "width": ("nvmlDeviceGetCurrPcieLinkWidth",),
    "width_max": ("nvmlDeviceGetMaxPcieLinkWidth",),
    "ecc": ("nvmlDeviceGetEccMode",),
    "corrected": ("nvmlDeviceGetTotalEccErrors", CORRECTED, SINCE_DRIVER_LOAD),
    "uncorrected": ("nvmlDeviceGetTotalEccErrors", UNCORRECTED, SINCE_DRIVER_LOAD),
    "rows": ("nvmlDeviceGetRemappedRows",),
    "pages_single": ("nvmlDeviceGetRetiredPages", SINGLE_BIT_PAGES),
    "pages_double": ("nvmlDeviceGetRetiredPages", DOUBLE_BIT_PAGES),
    "mig": ("nvmlDeviceGetMigMode",),
    "compute_mode": ("nvmlDeviceGetComputeMode",),
    "persistence": ("nvmlDeviceGetPersistenceMode",),
    "display": ("nvmlDeviceGetDisplayActive",),
}
# What a monitor asks each second; the rest changes by a command or a fault.
MOVING: Calls = {
    key: STATE[key]
    for key in (
        "memory", "utilization", "power", "temperature", "fan", "performance_state", "sm", "memory_clock", "reasons",
        "gen", "width",
    )
}  # fmt: skip
LINK: Calls = {key: STATE[key] for key in ("gen", "gen_max", "width", "width_max")}
# Names that older drivers know. NVML announces that CUDA 14 removes these two in favour of the ones above.
OLD_REASONS = "nvmlDeviceGetCurrentClocksThrottleReasons"
OLD_TEMPERATURE = ("nvmlDeviceGetTemperature", TEMPERATURE_GPU)

# The bindings' structures look each member up in Python code, to decode texts; numbers need none of it.
_member = object.__getattribute__
_names = cache(clock_events.decode)

Told = dict[str, Any]  # answers by the keys of STATE
Describe = Callable[[int, HolderKind, Maybe[int]], GpuProcess]


def read_identity(device: Device) -> Gpu:
    """Return which GPU it is: what does not change while it lives."""
    cc = device.ask("nvmlDeviceGetCudaComputeCapability")
    return Gpu(
        index=device.index,
        name=device.text("nvmlDeviceGetName"),
        uuid=device.text("nvmlDeviceGetUUID"),
        serial=device.text("nvmlDeviceGetSerial"),
        pci=_pci(device),
        compute_capability=cc if isinstance(cc, Missing) else f"{cc[0]}.{cc[1]}",
        status=device.settle(),
    )


def _pci(device: Device) -> Maybe[str]:
    """Return the address as the kernel writes it, 0000:17:00.0; NVML's own text has an eight-digit domain."""
    info = device.ask("nvmlDeviceGetPciInfo")
    if isinstance(info, Missing):
        return info
    return f"{info.domain:04x}:{info.bus:02x}:{info.device:02x}.0"


def read_state(device: Device, identity: Gpu, describe: Describe) -> Gpu:
    """Return the GPU with all that moves or can be set; `describe` tells who a process is."""
    told = device.ask_all(STATE)
    mig_mode = _mig_mode(told["mig"])
    return Gpu(
        index=identity.index,
        name=identity.name,
        uuid=identity.uuid,
        serial=identity.serial,
        pci=identity.pci,
        compute_capability=identity.compute_capability,
        memory=_memory(device, told["memory"]),
        utilization=_utilization(told["utilization"]),
        power=_power(told),
        temperature_c=_by_old_name(device, told["temperature"], *OLD_TEMPERATURE),
        temperature_slowdown_c=told["slowdown"],
        fan_percent=told["fan"],
        performance_state=_performance_state(told["performance_state"]),
        clocks=Clocks(
            sm_mhz=told["sm"],
            sm_max_mhz=told["sm_max"],
            memory_mhz=told["memory_clock"],
            memory_max_mhz=told["memory_clock_max"],
        ),
        throttle_reasons=_reasons(_by_old_name(device, told["reasons"], OLD_REASONS)),
        pcie=Pcie(gen=told["gen"], gen_max=told["gen_max"], width=told["width"], width_max=told["width_max"]),
        ecc=_ecc(told),
        mig_mode=mig_mode,
        mig_instances=_mig_instances(device, mig_mode),
        compute_mode=_compute_mode(told["compute_mode"]),
        persistence=_flag(told["persistence"]),
        display_active=_flag(told["display"]),
        processes=_processes(device, describe),
        status=device.settle(),
    )


def read_moving(device: Device, last: Gpu, describe: Describe) -> Gpu:
    """Return `last` with the answers of MOVING and the processes put in their places."""
    told = device.ask_all(MOVING)
    return replace(
        last,
        memory=_memory(device, told["memory"]),
        utilization=_utilization(told["utilization"]),
        power=replace(last.power, draw_w=_watts(told["power"])),
        temperature_c=_by_old_name(device, told["temperature"], *OLD_TEMPERATURE),
        fan_percent=told["fan"],
        performance_state=_performance_state(told["performance_state"]),
        clocks=replace(last.clocks, sm_mhz=told["sm"], memory_mhz=told["memory_clock"]),
        throttle_reasons=_reasons(_by_old_name(device, told["reasons"], OLD_REASONS)),
        pcie=replace(last.pcie, gen=told["gen"], width=told["width"]),
        processes=_processes(device, describe),
        status=device.settle(),
    )


def read_link(device: Device) -> Pcie:
    """Return the link alone."""
    told = device.ask_all(LINK)
    return Pcie(gen=told["gen"], gen_max=told["gen_max"], width=told["width"], width_max=told["width_max"])


def _by_old_name(device: Device, answer: Maybe[int], name: str, *arguments: object) -> Maybe[int]:
    return device.number(name, *arguments) if answer == UNKNOWN_FUNCTION else answer


def _flag(value: Maybe[int]) -> Maybe[bool]:
    return value if isinstance(value, Missing) else bool(value)


def _mig_mode(pair: Any) -> Maybe[MigMode]:  # [current, pending]
    if isinstance(pair, Missing):
        return pair
    return "enabled" if pair[0] else "disabled"


def _memory(device: Device, info: Any) -> Memory:  # a structure of the bindings
    """Take version 2 where there is one: in version 1 `used` includes what driver and firmware reserve."""
    reserved: Maybe[int] = UNKNOWN_FUNCTION
    if isinstance(info, Missing):
        info = device.ask("nvmlDeviceGetMemoryInfo")
    else:
        reserved = _member(info, "reserved")
    if isinstance(info, Missing):
        return Memory(total_bytes=info, used_bytes=info, free_bytes=info, reserved_bytes=info)
    total = _member(info, "total")
    if total == 0:
        return Memory(total_bytes=ZERO_TOTAL, used_bytes=ZERO_TOTAL, free_bytes=ZERO_TOTAL, reserved_bytes=ZERO_TOTAL)
    return Memory(
        total_bytes=total, used_bytes=_member(info, "used"), free_bytes=_member(info, "free"), reserved_bytes=reserved
    )


def _utilization(rates: Any) -> Utilization:  # a structure of the bindings
    if isinstance(rates, Missing):
        return Utilization(gpu_percent=rates, memory_percent=rates)
    return Utilization(gpu_percent=_member(rates, "gpu"), memory_percent=_member(rates, "memory"))


def _power(told: Told) -> Power:
    limits = told["power_range"]
    return Power(
        draw_w=_watts(told["power"]),
        limit_w=_watts(told["power_enforced"]),
        default_limit_w=_watts(told["power_default"]),
        max_limit_w=_watts(limits if isinstance(limits, Missing) else limits[1]),
    )


def _watts(milliwatts: Maybe[int]) -> Maybe[float]:
    return milliwatts if isinstance(milliwatts, Missing) else milliwatts / MILLI


def _performance_state(state: Maybe[int]) -> Maybe[int]:
    return Missing("unknown") if state == PERFORMANCE_STATE_UNKNOWN else state


def _reasons(bits: Maybe[int]) -> Maybe[tuple[str, ...]]:
    return bits if isinstance(bits, Missing) else _names(bits)


def _ecc(told: Told) -> Ecc:
    mode, rows = told["ecc"], told["rows"]
    known = not isinstance(rows, Missing)
    return Ecc(
        enabled=mode if isinstance(mode, Missing) else bool(mode[0]),
        corrected=told["corrected"],
        uncorrected=told["uncorrected"],
        retired_pages=_retired_pages(told["pages_single"], told["pages_double"]),
        remapped_rows=rows[0] + rows[1] if known else rows,
        remap_pending=bool(rows[2]) if known else rows,
        remap_failed=bool(rows[3]) if known else rows,
    )


def _retired_pages(single: Any, double: Any) -> Maybe[int]:  # lists of page addresses
    if isinstance(single, Missing) or isinstance(double, Missing):
        return single if isinstance(single, Missing) else double
    return len(single) + len(double)


def _mig_instances(device: Device, mode: Maybe[str]) -> Maybe[int]:
    if isinstance(mode, Missing) or mode == "disabled":
        return mode if isinstance(mode, Missing) else 0
    places = device.number("nvmlDeviceGetMaxMigDeviceCount")
    if isinstance(places, Missing):
        return places
    handles = (device.ask("nvmlDeviceGetMigDeviceHandleByIndex", place) for place in range(places))
    return sum(not isinstance(handle, Missing) for handle in handles)


def _compute_mode(mode: Maybe[int]) -> Maybe[ComputeMode]:
    if isinstance(mode, Missing):
        return mode
    return COMPUTE_MODES[mode] if mode < len(COMPUTE_MODES) else Missing(f"unknown mode {mode}")


def _processes(device: Device, describe: Describe) -> Maybe[tuple[GpuProcess, ...]]:
    """Return compute processes, then those that only draw; one that does both counts as compute."""
    compute = device.running("Compute")
    if isinstance(compute, Missing):
        return compute
    drawing = device.running("Graphics")
    rows: list[tuple[int, int | None, HolderKind]] = [(pid, used, "compute") for pid, used in compute]
    if not isinstance(drawing, Missing):
        known = {pid for pid, _ in compute}
        drawn: list[tuple[int, int | None, HolderKind]] = [
            (pid, used, "graphics") for pid, used in drawing if pid not in known
        ]
        rows += drawn
    return tuple(describe(pid, kind, UNAVAILABLE if used is None else used) for pid, used, kind in rows)
