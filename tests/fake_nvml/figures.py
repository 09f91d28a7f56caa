"""The figures of the machines that the fake NVML plays, each of them different from every other.

Round or repeated figures would read better, and two swapped fields, or two swapped GPUs, would then pass unseen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Figures = Mapping[str, int | str]
MIB = 1024 * 1024
GIB = 1024 * MIB

# Fields that tell a state or a kind, where the same number in two of them is no accident.
KINDS = frozenset(
    {
        "accounting", "architecture", "auto_boost", "auto_boost_default", "brand", "bus_type", "compute_mode",
        "display_active", "display_mode", "ecc_current", "ecc_default", "ecc_pending", "gpm", "mig_current",
        "mig_pending", "multi_gpu", "numa_node", "nvlink_version", "p2p", "persistence", "pci_device", "pci_domain",
        "power_mode", "power_source", "pstate", "reasons", "reasons_supported", "retired_pending", "remap_failed",
        "remap_pending", "topology", "cc_major", "cc_minor", "pci_subsystem", "pci_id", "minor", "fans",
    }
)  # fmt: skip

# What distinguishes GPU 3 from GPU 2: how much the figure grows from one GPU to the next. Others stay equal,
# as they do in a machine with eight GPUs of one kind.
_GROWS = {
    "memory_used": 997 * MIB, "memory_reserved": 3 * MIB, "bar1_used": 5 * MIB,
    "util_gpu": 1, "util_memory": 1, "encoder": 1, "decoder": 1, "jpeg": 1, "ofa": 1, "fan_percent": 1, "fan_rpm": 11,
    "temperature_c": 1, "power_mw": 1013, "energy_mj": 7_919_003,
    "clock_graphics": -15, "clock_sm": -15, "clock_video": -15,
    "pcie_tx_kbps": 1009, "pcie_rx_kbps": 2003, "pcie_replays": 1,
    "ecc_corrected_volatile": 1, "ecc_corrected_aggregate": 10, "irq": 1, "board_id": 0x100, "minor": 1,
}  # fmt: skip

_H100: Figures = {
    "name": "NVIDIA H100 80GB HBM3", "part_number": "692-2G520-0200-000",
    "gpu_part_number": "2330-886-A1", "vbios": "96.00.74.00.01", "inforom": "G520.0200.00.05",
    "cc_major": 9, "cc_minor": 0, "architecture": 9, "brand": 14, "cores": 16896, "multiprocessors": 132,
    "bus_type": 2, "bus_width": 5120, "board_id": 0x1700, "multi_gpu": 0, "pci_id": 0x233010DE, "pci_subsystem": 0x16C110DE,
    "memory_total": 81559 * MIB, "memory_reserved": 551 * MIB, "memory_used": 30013 * MIB,
    "bar1_total": 131072 * MIB, "bar1_used": 7 * MIB,
    "util_gpu": 82, "util_memory": 52, "encoder": 2, "decoder": 12, "jpeg": 22, "ofa": 72, "sample_period_us": 166_667,
    "power_mw": 512_345, "power_enforced_mw": 700_000, "power_limit_mw": 700_001, "power_default_mw": 700_002,
    "power_min_mw": 200_000, "power_max_mw": 700_003, "power_mode": 1, "power_source": 0,
    "temperature_c": 42, "slowdown_c": 89, "shutdown_c": 94, "memory_max_c": 97, "gpu_max_c": 88,
    "clock_graphics": 1965, "clock_sm": 1950, "clock_memory": 2619, "clock_video": 1545,
    "max_graphics": 1979, "max_sm": 1980, "max_memory": 2620, "max_video": 1546,
    "app_graphics": 1977, "app_sm": 1978, "app_memory": 2618, "app_video": 1547,
    "boost_graphics": 1981, "boost_sm": 1982, "boost_memory": 2621, "boost_video": 1548,
    "reasons": 0, "reasons_supported": 0x1FF,
    "pcie_gen": 5, "pcie_gen_max": 5, "pcie_gpu_gen_max": 6, "pcie_width": 16, "pcie_width_max": 16,
    "pcie_speed_mbps": 32_000, "pcie_tx_kbps": 111_111, "pcie_rx_kbps": 222_222, "pcie_replays": 102,
    "ecc_current": 1, "ecc_pending": 1, "ecc_default": 1, "ecc_corrected_volatile": 131, "ecc_corrected_aggregate": 1310,
    "ecc_uncorrected_volatile": 0, "ecc_uncorrected_aggregate": 0, "remap_corrected": 0, "remap_uncorrected": 0,
    "remap_pending": 0, "remap_failed": 0, "mig_current": 0, "mig_pending": 0, "mig_max": 7, "compute_mode": 0,
    "persistence": 1, "fans": 1, "fan_percent": 32, "fan_rpm": 3210, "pstate": 0, "energy_mj": 1_234_567_890,
    "irq": 213, "display_mode": 0, "display_active": 0, "nvlinks": 18, "nvlinks_active": 17, "nvlink_version": 7,
    "topology": 20, "p2p": 0, "gpm": 1, "cpu_affinity": 0xFF, "numa_node": 0, "accounting": 0,
}  # fmt: skip

_IDLE: Figures = {
    "util_gpu": 0, "util_memory": 0, "encoder": 0, "decoder": 0, "memory_used": 0, "power_mw": 71_234, "reasons": 1,
    "clock_graphics": 345, "clock_sm": 344, "clock_video": 765,
}  # fmt: skip

# What every field of a GPU in trouble shows in the base scenario: hot, slowed by the hardware, on half a PCIe slot.
_SICK: Figures = {
    "temperature_c": 91, "reasons": 0x8 | 0x40, "clock_graphics": 1215, "clock_sm": 1200, "power_mw": 690_000,
    "pcie_width": 8, "util_gpu": 97,
}  # fmt: skip

_V100: Figures = {
    "name": "Tesla V100-SXM2-16GB", "cc_major": 7, "cc_minor": 0, "architecture": 5, "brand": 2, "pci_id": 0x1DB110DE,
    "memory_total": 16160 * MIB, "memory_used": 9001 * MIB, "multiprocessors": 80, "max_sm": 1980, "pcie_gen": 3,
    "pcie_gen_max": 3,
}  # fmt: skip

# An idle desktop card: a screen, a link that sleeps at generation 1, no ECC, the idle bit set. All of it healthy.
_RTX3090_DESKTOP: Figures = {
    **_IDLE, "name": "NVIDIA GeForce RTX 3090", "cc_major": 8, "cc_minor": 6, "architecture": 7, "brand": 5,
    "pci_id": 0x220410DE, "memory_total": 24576 * MIB, "memory_used": 731 * MIB, "multiprocessors": 82, "pstate": 8,
    "pcie_gen": 1, "pcie_gen_max": 4, "display_mode": 1, "display_active": 1, "persistence": 0, "power_limit_mw": 350_001,
    "power_enforced_mw": 350_000, "power_default_mw": 350_002, "power_max_mw": 385_000, "max_sm": 2100, "gpm": 0,
}  # fmt: skip
_NOT_ON_GEFORCE = (
    "ecc_current", "ecc_pending", "ecc_default", "ecc_corrected_volatile", "ecc_corrected_aggregate",
    "ecc_uncorrected_volatile", "ecc_uncorrected_aggregate", "mig_current", "mig_pending", "mig_max",
    "app_graphics", "app_sm", "app_memory", "app_video", "remap_corrected", "remap_uncorrected", "cpu_affinity",
)  # fmt: skip


def _place(index: int, figures: Figures) -> Figures:
    grown = {
        name: value + index * _GROWS[name] if isinstance(value, int) and name in _GROWS else value
        for name, value in figures.items()
    }
    return {
        **grown,
        "index": index,
        "minor": index,
        "serial": f"{16530220001 + index}",
        "uuid": f"GPU-{index:08x}-1a2b-3c4d-5e6f-{0x70809000A000 + index:012x}",
        "pci_domain": 0,
        "pci_bus": 0x17 + 0x10 * index,
        "pci_device": 0,
    }


def h100(index: int) -> Figures:
    """Return a healthy H100 under load."""
    return _place(index, _H100)


def idle_h100(index: int) -> Figures:
    """Return a healthy H100 that nobody uses: the idle bit and low clocks are no fault."""
    return _place(index, {**_H100, **_IDLE})


def sick_h100(index: int) -> Figures:
    """Return the GPU in trouble: 91 C, slowed by the hardware, 690 of 700 W, PCIe x8 of x16, 97 % busy."""
    return {**h100(index), **_SICK}


def v100(index: int) -> Figures:
    """Return a healthy V100, which a driver of branch 450 can drive."""
    return _place(index, {**_H100, **_V100})


def desktop_rtx3090(index: int) -> Figures:
    """Return a healthy desktop card at rest."""
    figures = {**_H100, **_RTX3090_DESKTOP}
    return _place(index, {name: value for name, value in figures.items() if name not in _NOT_ON_GEFORCE})


def list_lines(index: int) -> tuple[str, ...]:
    """Return the answers that are lists: clock steps, field values (82 memory heat, 186 instant power), violations."""
    return (
        *(f"gpu{index}.memory_clock={mhz}" for mhz in (2619, 1593)),
        *(f"gpu{index}.graphics_clock={mhz}" for mhz in (1980, 1965, 1950)),
        f"gpu{index}.field=82,{65 + index},1",
        f"gpu{index}.field=186,{500_111 + 1013 * index},1",
        f"gpu{index}.violation=0,1000000,{7001 + index}",
        f"gpu{index}.violation=1,1000000,{8001 + index}",
        f"gpu{index}.memory_error=1,0,2,{index}",
    )


def scenario_text(gpus: Iterable[Figures], extra: Iterable[str] = (), *, driver: str, cuda: int) -> str:
    """Return the text file that the fake NVML reads for these GPUs; `extra` lines come last and win."""
    listed = list(gpus)
    lines = [f"gpus={len(listed)}", f"driver={driver}", f"nvml={cuda // 1000}.{driver}", f"cuda={cuda}"]
    lines += [line for index in range(len(listed)) for line in list_lines(index)]
    lines += [f"gpu{index}.{name}={value}" for index, figures in enumerate(listed) for name, value in figures.items()]
    return "\n".join([*lines, *extra]) + "\n"


def cuda_devices(gpus: Iterable[Figures]) -> str:
    """Return the same GPUs as the fake libcuda reads them from its environment."""
    return ";".join(
        f"{gpu['name']}|{gpu['cc_major']}.{gpu['cc_minor']}|{pci_address(gpu)}|{gpu['memory_total']}"
        f"|{str(gpu['uuid']).removeprefix('GPU-').replace('-', '')}|{gpu['multiprocessors']}"
        for gpu in gpus
    )


def pci_address(gpu: Figures) -> str:
    """Return the address as sysfs and CUDA write it: 0000:17:00.0."""
    return f"{int(gpu['pci_domain']):04x}:{int(gpu['pci_bus']):02x}:{int(gpu['pci_device']):02x}.0"
