"""Prints, as one JSON document, what the real pynvml reads from whatever libnvidia-ml.so.1 the loader finds.

Run as a process of its own: pynvml keeps its library for the life of a process, and some scenarios end that life.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

pynvml: Any = importlib.import_module("pynvml")  # Any: the bindings have no types, and all becomes JSON here

SYSTEM = {
    "driver": pynvml.nvmlSystemGetDriverVersion,
    "nvml": pynvml.nvmlSystemGetNVMLVersion,
    "cuda": pynvml.nvmlSystemGetCudaDriverVersion_v2,
    "cuda_v1": pynvml.nvmlSystemGetCudaDriverVersion,
}
DEVICE: dict[str, tuple[str, tuple[int, ...]]] = {
    "index": ("Index", ()), "minor": ("MinorNumber", ()), "name": ("Name", ()), "uuid": ("UUID", ()),
    "serial": ("Serial", ()), "part_number": ("BoardPartNumber", ()), "vbios": ("VbiosVersion", ()),
    "inforom": ("InforomImageVersion", ()), "brand": ("Brand", ()), "architecture": ("Architecture", ()),
    "board_id": ("BoardId", ()), "multi_gpu": ("MultiGpuBoard", ()), "cores": ("NumGpuCores", ()), "irq": ("IrqNum", ()),
    "bus_type": ("BusType", ()), "bus_width": ("MemoryBusWidth", ()), "numa_node": ("NumaNodeId", ()),
    "capability": ("CudaComputeCapability", ()), "pci": ("PciInfo", ()),
    "memory_v1": ("MemoryInfo", ()), "memory_v2": ("MemoryInfo", (pynvml.nvmlMemory_v2,)), "bar1": ("BAR1MemoryInfo", ()),
    "utilization": ("UtilizationRates", ()), "encoder": ("EncoderUtilization", ()), "decoder": ("DecoderUtilization", ()),
    "jpeg": ("JpgUtilization", ()), "ofa": ("OfaUtilization", ()),
    "power_mw": ("PowerUsage", ()), "power_enforced_mw": ("EnforcedPowerLimit", ()),
    "power_limit_mw": ("PowerManagementLimit", ()), "power_default_mw": ("PowerManagementDefaultLimit", ()),
    "power_limits": ("PowerManagementLimitConstraints", ()), "energy_mj": ("TotalEnergyConsumption", ()),
    "power_mode": ("PowerManagementMode", ()), "power_source": ("PowerSource", ()),
    "pstate": ("PerformanceState", ()), "power_state": ("PowerState", ()),
    "temperature_c": ("Temperature", (0,)), "temperature_v": ("TemperatureV", (0,)),
    "shutdown_c": ("TemperatureThreshold", (0,)), "slowdown_c": ("TemperatureThreshold", (1,)),
    "memory_max_c": ("TemperatureThreshold", (2,)), "gpu_max_c": ("TemperatureThreshold", (3,)),
    "clock_graphics": ("ClockInfo", (0,)), "clock_sm": ("ClockInfo", (1,)), "clock_memory": ("ClockInfo", (2,)),
    "clock_video": ("ClockInfo", (3,)), "max_graphics": ("MaxClockInfo", (0,)), "max_sm": ("MaxClockInfo", (1,)),
    "max_memory": ("MaxClockInfo", (2,)), "max_video": ("MaxClockInfo", (3,)),
    "app_graphics": ("ApplicationsClock", (0,)), "app_memory": ("ApplicationsClock", (2,)),
    "boost_graphics": ("MaxCustomerBoostClock", (0,)), "boost_memory": ("MaxCustomerBoostClock", (2,)),
    "reasons": ("CurrentClocksEventReasons", ()), "reasons_old": ("CurrentClocksThrottleReasons", ()),
    "reasons_supported": ("SupportedClocksEventReasons", ()),
    "reasons_supported_old": ("SupportedClocksThrottleReasons", ()),
    "pcie_gen": ("CurrPcieLinkGeneration", ()), "pcie_gen_max": ("MaxPcieLinkGeneration", ()),
    "pcie_gpu_gen_max": ("GpuMaxPcieLinkGeneration", ()), "pcie_width": ("CurrPcieLinkWidth", ()),
    "pcie_width_max": ("MaxPcieLinkWidth", ()), "pcie_speed_mbps": ("PcieSpeed", ()),
    "pcie_tx_kbps": ("PcieThroughput", (0,)), "pcie_rx_kbps": ("PcieThroughput", (1,)),
    "pcie_replays": ("PcieReplayCounter", ()),
    "ecc_mode": ("EccMode", ()), "ecc_default": ("DefaultEccMode", ()),
    "ecc_corrected_volatile": ("TotalEccErrors", (0, 0)), "ecc_corrected_aggregate": ("TotalEccErrors", (0, 1)),
    "ecc_uncorrected_volatile": ("TotalEccErrors", (1, 0)), "ecc_uncorrected_aggregate": ("TotalEccErrors", (1, 1)),
    "dram_errors": ("MemoryErrorCounter", (1, 0, 2)), "retired_sbe": ("RetiredPages", (0,)),
    "retired_dbe": ("RetiredPages_v2", (1,)), "retired_pending": ("RetiredPagesPendingStatus", ()),
    "remapped_rows": ("RemappedRows", ()),
    "mig_mode": ("MigMode", ()), "mig_max": ("MaxMigDeviceCount", ()), "compute_mode": ("ComputeMode", ()),
    "persistence": ("PersistenceMode", ()), "display_mode": ("DisplayMode", ()), "display_active": ("DisplayActive", ()),
    "fans": ("NumFans", ()), "fan_percent": ("FanSpeed", ()), "fan_rpm": ("FanSpeedRPM", ()),
    "accounting": ("AccountingMode", ()), "driver_model": ("DriverModel", ()),
    "memory_clocks": ("SupportedMemoryClocks", ()), "graphics_clocks": ("SupportedGraphicsClocks", (2619,)),
    "violation_power": ("ViolationStatus", (0,)), "cpu_affinity": ("CpuAffinity", (1,)),
    "nvlink_first": ("NvLinkState", (0,)), "nvlink_last": ("NvLinkState", (17,)), "nvlink_version": ("NvLinkVersion", (0,)),
    "compute_v3": ("ComputeRunningProcesses", ()), "compute_v2": ("ComputeRunningProcesses_v2", ()),
    "graphics_v3": ("GraphicsRunningProcesses", ()), "mps_v3": ("MPSComputeRunningProcesses", ()),
    "process_utilization": ("ProcessUtilization", (0,)), "attributes": ("Attributes", ()),
}  # fmt: skip


def plain(value: Any) -> Any:
    """Turn an answer of the bindings into something that JSON can carry."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="backslashreplace")
    members = members_of(value)
    if members:
        return {name: plain(part) for name, part in members.items()}
    return value.value if hasattr(value, "value") else [plain(part) for part in value]  # a bare c_uint, or a list


def members_of(record: Any) -> dict[str, Any]:
    """Return the fields of a C record, or of the plain object that the bindings make of one."""
    if hasattr(record, "_fields_"):
        return {name: getattr(record, name) for name, *_ in record._fields_}
    return dict(getattr(record, "__dict__", {}))


def ask(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the answer, or the code of NVML's error, or what the bindings themselves failed with."""
    try:
        return plain(function(*arguments))
    except pynvml.NVMLError as error:
        return {"error": error.value}
    except pynvml.NVMLLibraryMismatchError:
        return {"mismatch": True}
    except UnicodeDecodeError as error:
        return {"not_utf8": error.object.decode("utf-8", errors="backslashreplace")}


def read_device(handle: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return the answers to the named calls."""
    calls = ((name, *DEVICE[name]) for name in names)
    return {name: ask(getattr(pynvml, f"nvmlDeviceGet{call}"), handle, *rest) for name, call, rest in calls}


def read_more(handle: Any) -> dict[str, Any]:
    """Return the answers to the calls whose arguments are not plain numbers."""
    migs = [ask_handle(pynvml.nvmlDeviceGetMigDeviceHandleByIndex, handle, place) for place in range(8)]
    return {
        "fields": ask(pynvml.nvmlDeviceGetFieldValues, handle, [82, 186, 999]),
        "gpm": ask(pynvml.nvmlGpmQueryDeviceSupport, handle),
        "topology": ask(pynvml.nvmlDeviceGetTopologyCommonAncestor, handle, handle),
        "migs": [read_mig(mig) for mig in migs if not isinstance(mig, dict)],
    }


def read_mig(mig: Any) -> dict[str, Any]:
    """Return what tells one MIG device from another."""
    return {
        **read_device(mig, ("name", "uuid", "memory_v1", "compute_v3", "attributes")),
        "is_mig": ask(pynvml.nvmlDeviceIsMigDeviceHandle, mig),
        "gpu_instance": ask(pynvml.nvmlDeviceGetGpuInstanceId, mig),
        "compute_instance": ask(pynvml.nvmlDeviceGetComputeInstanceId, mig),
        "parent": ask(pynvml.nvmlDeviceGetIndex, ask_handle(pynvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle, mig)),
    }


def ask_handle(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return a handle, which must stay as it is, or the error."""
    try:
        return function(*arguments)
    except pynvml.NVMLError as error:
        return {"error": error.value}


def main(names: list[str]) -> None:
    """Print the system's answers and those of each GPU: the named calls, or all."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        json.dump({"init": error.value, "message": str(error)}, sys.stdout)
        return
    document: dict[str, Any] = {"init": 0, **{name: ask(call) for name, call in SYSTEM.items()}, "gpus": []}
    document["count"] = ask(pynvml.nvmlDeviceGetCount)
    for index in range(document["count"]):
        handle = ask_handle(pynvml.nvmlDeviceGetHandleByIndex, index)
        if isinstance(handle, dict):
            document["gpus"].append({"handle": handle})
            continue
        document["gpus"].append({**read_device(handle, names or DEVICE), **({} if names else read_more(handle))})
    pynvml.nvmlShutdown()
    json.dump(document, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
