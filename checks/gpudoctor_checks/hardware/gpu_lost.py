"""GD802: a GPU fell off the bus, needs a reset, or reported a hardware error.

What it does
    Asks NVML for the state of each GPU and reads the driver's Xid lines in the kernel log, where this user may read it.

Why it matters
    A lost GPU stays lost until the machine restarts; every CUDA program on it fails, often with a message that blames
    something else. Power supply, cables, riser and heat are the usual reasons, worn-out memory another.

How to fix
    Save the kernel log first, for the Xid tells the reason. Then do what the Xid asks for: end the GPU's processes and
    reset it, or restart the machine. If it returns, check seating, power cables and cooling, then have the board replaced.
    Reinstalling the driver, CUDA or TensorFlow cannot help.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    BROKEN,
    Evidence,
    Finding,
    Gpu,
    Gpus,
    Inconclusive,
    Kernel,
    Severity,
    Trial,
    Weight,
    XidEvent,
    check,
    either,
    weigh_faulty,
    xids,
)
from gpudoctor_checks.figures import known
from gpudoctor_checks.hardware.lost_remedies import RESTART, reset

SAID = 0.97  # NVML itself says that the GPU is lost
SILENT = 0.9  # NVML gets no answer and the kernel log tells of a hardware error
LOGGED = 0.7  # the kernel log tells of a fault since the machine started; it may have been dealt with
FELL = BROKEN - {"oom"}  # running out of memory says nothing about the hardware
STATES = {"gpu_lost": "is lost: it fell off the bus", "reset_required": "must be reset before it can be used"}


@check(
    code="GD802",
    slug="gpu-lost",
    title="A GPU is lost or reported a hardware error",
    family="hardware",
    cause="hardware-power-heat",
)
def lost(gpus: Gpus | None, kernel: Kernel | None, baseline: Trial | None) -> Iterator[Finding]:
    """Believe NVML about the present and the kernel log about what happened since the machine started."""
    devices = gpus.devices if gpus is not None else ()
    faults = [each for each in either(kernel.xids, ()) if _is_hardware(each)] if kernel is not None else []
    silent = [gpu for gpu in devices if gpu.status != "ok" and (gpu.status in STATES or faults)]
    for gpu in silent:
        yield _lost(gpu, len(devices), faults, baseline)
    if faults and not silent:
        trained = baseline is not None and baseline.status == "ok" and baseline.device == "GPU"
        yield _logged(faults, baseline, answers=trained or bool(devices))
    if not silent and not faults:
        unreadable = [f"GPU {gpu.index}: {gpu.status}" for gpu in devices if gpu.status != "ok"]
        if unreadable or not devices:
            raise Inconclusive("; ".join(unreadable) or "NVML lists no GPU, so none can be asked")


def _lost(gpu: Gpu, count: int, faults: list[XidEvent], baseline: Trial | None) -> Finding:
    """Judge a GPU that does not work: training on another one is no contradiction, only a lighter case."""
    elsewhere = count > 1 and baseline is not None and baseline.status == "ok" and baseline.device == "GPU"
    static = SAID if gpu.status in STATES else SILENT
    says = Weight(confidence=static, basis="NVML says so; the probe trained on another GPU")
    weight = says if elsewhere else weigh_faulty(static, baseline)
    return Finding(
        subject=f"GPU {gpu.index}",
        summary=f"GPU {gpu.index} {STATES.get(gpu.status, 'does not answer, and the driver logged a hardware error')}.",
        severity=Severity.WARNING if elsewhere else Severity.ERROR,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(Evidence(label="state", value=gpu.status, source="NVML"), *_lines(faults)),
        fixes=(reset(gpu.index) if gpu.status == "reset_required" else RESTART,),
    )


def _logged(faults: list[XidEvent], baseline: Trial | None, *, answers: bool) -> Finding:
    """Judge an Xid that was logged while NVML finds no GPU silent, or could not be asked."""
    fell = baseline is not None and baseline.status in FELL
    now = "; the GPU answers now" if answers else "; no GPU could be asked"
    alone = Weight(confidence=LOGGED, basis=f"the kernel log since the machine started{now}")
    weight = weigh_faulty(LOGGED, baseline) if fell else alone
    return Finding(
        summary=f"The driver logged a hardware error: Xid {', '.join(str(each.code) for each in faults)}.",
        severity=Severity.WARNING if answers and not fell else Severity.ERROR,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=_lines(faults),
        fixes=(RESTART,),
    )


def _is_hardware(event: XidEvent) -> bool:
    row = xids.xid(event.code)
    return row is not None and row.category == "hardware"


def _lines(faults: list[XidEvent]) -> tuple[Evidence, ...]:
    rows = [(each, xids.xid(each.code)) for each in faults]
    figures = [(event, f"{row.description} ({event.count}x)") for event, row in rows if row is not None]
    events = tuple(Evidence(label=f"Xid {event.code}", value=value, source=_log(event)) for event, value in figures)
    return events and (*events, *known("kernel log", ("errors logged", sum(each.count for each in faults), "")))


def _log(event: XidEvent) -> str:
    """Return the source with the GPU's PCI address: the same Xid on two GPUs is two troubles."""
    return f"kernel log of {event.pci}" if isinstance(event.pci, str) else "kernel log"
