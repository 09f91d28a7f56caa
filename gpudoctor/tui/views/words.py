"""Figures and states in the words of the screen: short, with their unit, and `-` with a reason kept elsewhere for the unknown."""

from __future__ import annotations

from gpudoctor.knowledge import clock_events
from gpudoctor.model.gpu import Gpu
from gpudoctor.model.missing import Maybe, Missing, either
from gpudoctor.tui.messages import Reading

UNKNOWN = "-"
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

# What each reason means for somebody who watches: what slows the GPU, then who does it.
REASON_WORDS = {
    "HwThermalSlowdown": "too hot: slowed by HW",
    "HwPowerBrakeSlowdown": "power brake: slowed",
    "HwSlowdown": "slowed by hardware",
    "SwThermalSlowdown": "hot: slowed by driver",
    "SwPowerCap": "at its power cap",
    "BoardLimit": "at its board limit",
    "Reliability": "at its voltage limit",
    "SyncBoost": "held by its sync-boost group",
    "ApplicationsClocksSetting": "clocks set by an operator",
    "DisplayClockSetting": "clocks set for the display",
    "GpuIdle": "idle",
}
STATUS_WORDS = {
    "gpu_lost": "GPU IS LOST",
    "reset_required": "needs a reset",
    "no_permission": "no permission to read it",
    "not_supported": "tells nothing",
    "timeout": "does not answer",
    "not_read": "not asked",
}


def amount(value: Maybe[int] | Maybe[float], unit: str = "", digits: int = 0) -> str:
    """Return a number with its unit, `-` where it is missing."""
    return UNKNOWN if isinstance(value, Missing) else f"{value:.{digits}f}{unit}"


def gib(value: Maybe[int]) -> str:
    """Return bytes as GiB with three figures."""
    if isinstance(value, Missing):
        return UNKNOWN
    number = value / GIB
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}"


def size(value: Maybe[int] | Maybe[float]) -> str:
    """Return bytes as short as possible: 820M, 12.3G."""
    if isinstance(value, Missing):
        return UNKNOWN
    for unit, step in (("G", GIB), ("M", MIB), ("K", KIB)):
        if value >= step:
            number = value / step
            return f"{number:.1f}{unit}" if number < 10 and unit == "G" else f"{number:.0f}{unit}"
    return f"{value:.0f}B"


def pair(now: str, most: str, unit: str) -> str:
    """Return `now/most` with the unit, `-` where neither is known."""
    return UNKNOWN if now == most == UNKNOWN else f"{now}/{most}{unit}"


def rate(value: Maybe[int] | Maybe[float]) -> str:
    """Return bytes per second."""
    return UNKNOWN if isinstance(value, Missing) else f"{size(value)}/s"


def share(part: Maybe[int] | Maybe[float], whole: Maybe[int] | Maybe[float]) -> float | None:
    """Return part of whole, None where one of them is unknown."""
    if isinstance(part, Missing) or isinstance(whole, Missing) or not whole:
        return None
    return part / whole


def short_name(gpu: Gpu) -> str:
    """Return the GPU's name without the maker."""
    name = either(gpu.name, "unknown GPU")
    for word in ("NVIDIA ", "GeForce ", "Tesla "):
        name = name.replace(word, "")
    return name


def state(gpu: Gpu, xids: tuple[int, ...] = ()) -> tuple[str, str, str]:
    """Return sign, words and style of what is the matter with a GPU; the sign tells as much as the colour."""
    recorded = [f"Xid {xids[-1]}"] if xids else []
    if gpu.status != "ok":
        return "x", ", ".join([STATUS_WORDS.get(gpu.status, gpu.status.replace("_", " ")), *recorded]), "bad"
    troubles = [*_reasons(gpu, "critical"), *_ecc(gpu), *recorded]
    if troubles:
        return "x", ", ".join(troubles), "bad"
    slowed = _reasons(gpu, "thermal")
    if slowed:
        return "!", ", ".join(slowed), "warn"
    narrow = _narrow_link(gpu)
    if narrow:
        return "!", narrow, "warn"
    if isinstance(gpu.throttle_reasons, Missing):
        return "?", f"clock reasons: {gpu.throttle_reasons.reason}", "dim"
    capped = _reasons(gpu, "power")
    if (
        capped
    ):  # normal under full load (clock_events), so it is told without alarm; whether the cap was lowered, the scan says
        return "~", ", ".join(capped), ""
    rest = [REASON_WORDS.get(each, each) for each in gpu.throttle_reasons if each != "None"]
    return " ", ", ".join(rest) or "no throttling", "dim" if rest else "good"


def _reasons(gpu: Gpu, severity: str) -> list[str]:
    """Return the reasons of one severity in words; the general slowdown is left out where a special one says why."""
    names = [each for each in either(gpu.throttle_reasons, ()) if clock_events.severity(each) == severity]
    if len(names) > 1 and "HwSlowdown" in names:
        names.remove("HwSlowdown")
    return [REASON_WORDS.get(each, each) for each in names]


def _ecc(gpu: Gpu) -> list[str]:
    words: list[str] = []
    if either(gpu.ecc.uncorrected, 0) > 0:
        words.append(f"{either(gpu.ecc.uncorrected, 0)} uncorrected ECC errors")
    if either(gpu.ecc.remap_failed, False):
        words.append("row remapping failed")
    elif either(gpu.ecc.remap_pending, False):
        words.append("row remapping waits for a reset")
    return words


def _narrow_link(gpu: Gpu) -> str:
    """Tell of lanes that are missing; a lower generation is normal at rest and says nothing."""
    width, full = gpu.pcie.width, gpu.pcie.width_max
    if isinstance(width, Missing) or isinstance(full, Missing) or width >= full:
        return ""
    return f"PCIe x{width} of x{full}"


def machine(reading: Reading) -> str:
    """Return which GPUs and which driver."""
    names = [short_name(gpu) for gpu in reading.gpus]
    words: list[str] = []
    if names:
        same = len(set(names)) == 1
        words.append(f"{names[0]} x{len(names)}" if same else f"{len(names)} GPUs")
    driver = reading.nvml.driver_version
    if isinstance(driver, str):
        words.append(f"driver {driver}")
    cuda = reading.nvml.cuda_driver_version
    if isinstance(cuda, str):
        words.append(f"CUDA {cuda}")
    return " | ".join(words) or "no GPU seen"
