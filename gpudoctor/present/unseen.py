"""What could not be seen, and why: a report that leaves it out reads as if all had been looked at."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.model.missing import NOT_IN_TEXT, Maybe
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.present.style import printable, shorten

GAVE_NO_ANSWER = frozenset({"timeout", "crashed", "failed"})  # the driver is there; a missing one is a fact, not a gap
TOLD_AS_FINDINGS = frozenset({"ok", "gpu_lost", "reset_required"})
GROUPS = ("host", "kernel", "python", "tensorflow", "libraries", "env", "scheduler")


def line(snapshot: Snapshot, *, width: int) -> str:
    """Return one line that names what fits of it, '' where everything was seen."""
    gaps = [f"{name} ({why})" for name, why in _gaps(snapshot) if why != NOT_IN_TEXT]  # nobody looked
    for shown in range(len(gaps), 0, -1):
        tail = "" if shown == len(gaps) else f", {len(gaps) - shown} more: -v"
        text = f"Could not see: {', '.join(gaps[:shown])}{tail}"
        if len(text) <= width or shown == 1:
            return shorten(text, width)
    return ""


def lines(snapshot: Snapshot) -> Iterator[str]:
    """Yield one line for each, for the full report."""
    for name, why in _gaps(snapshot):
        yield printable(f"  could not see {name:<16} {why}")


def _gaps(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    for name, source in (("NVML", snapshot.nvml), ("libcuda", snapshot.cuda)):
        if source is not None and source.status in GAVE_NO_ANSWER:
            yield name, _reason(source.message, str(source.status))
    for gpu in snapshot.gpus or ():
        if gpu.status not in TOLD_AS_FINDINGS | GAVE_NO_ANSWER:
            yield f"GPU {gpu.index}", gpu.status
    for group in GROUPS:
        if group in snapshot.missing:
            yield group, snapshot.missing[group]
    if snapshot.kernel is not None and snapshot.kernel.log_readable is False:
        yield "kernel log", "no permission"


def _reason(message: Maybe[str], otherwise: str) -> str:
    """Return what stands behind the colon of "NVML did not answer: timeout after 3 s (GPU 0)"."""
    return message.rpartition(": ")[2].replace(" (", ", ").rstrip(")") if isinstance(message, str) else otherwise
