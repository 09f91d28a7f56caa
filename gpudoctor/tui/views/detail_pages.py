"""Everything that is known of one GPU or one process, label by label, with the reason for what is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.knowledge import clock_events
from gpudoctor.model.gpu import Gpu, MigInstance
from gpudoctor.model.missing import Maybe, Missing, either
from gpudoctor.tui.messages import ProcessLoad, Reading, Traffic
from gpudoctor.tui.views import words
from gpudoctor.tui.views.lines import Line, Span, fit, refilled, wrap

COLUMN = 26

Told = Maybe[int] | Maybe[float] | Maybe[str] | Maybe[bool]


def of_gpu(gpu: Gpu, reading: Reading, width: int) -> list[Line]:
    """Return the page of a GPU."""
    rows = _rows(gpu, reading.traffic.get(gpu.index, Traffic()), reading.xids.get(either(gpu.pci, ""), ()))
    rows += [_instance(each) for each in reading.migs.get(gpu.index, ())]
    lines = [line for label, value in rows for line in _row(label, value, width)]
    return [*_reasons(gpu, width), (), *lines]


def _instance(instance: MigInstance) -> tuple[str, Told]:
    memory = instance.memory
    used = _size(memory.used_bytes)
    told = used if isinstance(used, Missing) else f"{used} of {words.gib(memory.total_bytes)} GiB used"
    return f"MIG {instance.place} {either(instance.profile, '')}", told


def _rows(gpu: Gpu, traffic: Traffic, xids: Sequence[int]) -> list[tuple[str, Told]]:
    return [
        ("name", gpu.name),
        ("status", gpu.status.replace("_", " ")),
        ("compute capability", gpu.compute_capability),
        ("PCI address", gpu.pci),
        ("a kernel ran", _with(gpu.utilization.gpu_percent, "%")),
        ("memory was read or written", _with(gpu.utilization.memory_percent, "%")),
        ("memory used", _size(gpu.memory.used_bytes)),
        ("memory free", _size(gpu.memory.free_bytes)),
        ("memory total", _size(gpu.memory.total_bytes)),
        ("reserved by the driver", _size(gpu.memory.reserved_bytes)),
        ("power", _with(gpu.power.draw_w, "W")),
        ("power limit", _with(gpu.power.limit_w, "W")),
        ("default power limit", _with(gpu.power.default_limit_w, "W")),
        ("temperature", _with(gpu.temperature_c, "C")),
        ("slows down at", _with(gpu.temperature_slowdown_c, "C")),
        ("fan", _with(gpu.fan_percent, "%")),
        ("SM clock", _with(gpu.clocks.sm_mhz, "MHz")),
        ("highest SM clock", _with(gpu.clocks.sm_max_mhz, "MHz")),
        ("memory clock", _with(gpu.clocks.memory_mhz, "MHz")),
        ("highest memory clock", _with(gpu.clocks.memory_max_mhz, "MHz")),
        ("performance state", gpu.performance_state),
        ("PCIe generation", _of(gpu.pcie.gen, gpu.pcie.gen_max)),
        ("PCIe lanes", _of(gpu.pcie.width, gpu.pcie.width_max)),
        ("PCIe in, sampled 20 ms", _rate(traffic.received_bytes_per_s)),
        ("PCIe out, sampled 20 ms", _rate(traffic.sent_bytes_per_s)),
        ("ECC", gpu.ecc.enabled),
        ("corrected errors", gpu.ecc.corrected),
        ("uncorrected errors", gpu.ecc.uncorrected),
        ("retired pages", gpu.ecc.retired_pages),
        ("remapped rows", gpu.ecc.remapped_rows),
        ("MIG", gpu.mig_mode),
        ("MIG instances", gpu.mig_instances),
        ("compute mode", gpu.compute_mode),
        ("persistence mode", gpu.persistence),
        ("drives a display", gpu.display_active),
        ("Xid errors in kernel log", ", ".join(map(str, xids)) or "none seen"),
    ]


def _reasons(gpu: Gpu, width: int) -> Iterator[Line]:
    sign, text, style = words.state(gpu)
    yield (Span(f" {sign} {text}", style),)
    for name in either(gpu.throttle_reasons, ()):
        event = clock_events.event(name)
        told = name if event is None else f"{name}: {event.meaning} {event.advice}"
        for line in wrap(told, width - 5):
            yield (Span(f"   {line}", "dim"),)


def of_process(process: ProcessLoad, width: int) -> list[Line]:
    """Return the page of a process."""
    rows: list[tuple[str, Told]] = [
        ("pid", process.pid),
        ("parent", process.parent_pid),
        ("user", process.user),
        ("kind", process.kind),
        ("GPUs", ", ".join(map(str, process.gpus)) or "none"),
        ("GPU memory", _size(process.gpu_memory_bytes)),
        ("host memory", _size(process.host_memory_bytes)),
        (
            "CPU",
            process.cpu_percent
            if isinstance(process.cpu_percent, Missing)
            else f"{process.cpu_percent:.0f} % of one core",
        ),
        ("TensorFlow is loaded", process.tensorflow),
        ("yours", process.own),
        ("command", process.command),
    ]
    return [line for label, value in rows for line in _row(label, value, width)]


def page_lines(page: str, width: int) -> list[Line]:
    """Return the page of a check, filled anew to the width: its paragraphs are broken where the source file needed it."""
    return [(Span(f" {line}"),) for line in refilled(page, width - 2)]


def _row(label: str, value: Told, width: int) -> Iterator[Line]:
    column = min(COLUMN, width // 2)
    missing = isinstance(value, Missing)
    text = (
        f"- ({value.reason})"
        if isinstance(value, Missing)
        else {True: "yes", False: "no"}.get(value, str(value))
        if isinstance(value, bool)
        else str(value)
    )
    first, *rest = wrap(text, max(8, width - column - 3)) or [""]
    yield (Span(f" {fit(label, column)} ", "dim"), Span(first, "dim" if missing else ""))
    for line in rest:
        yield (Span(" " * (column + 2)), Span(line))


def _with(value: Maybe[int] | Maybe[float], unit: str) -> Maybe[str]:
    return value if isinstance(value, Missing) else f"{value:.0f} {unit}"


def _size(value: Maybe[int]) -> Maybe[str]:
    return value if isinstance(value, Missing) else f"{value / words.GIB:.2f} GiB"


def _rate(value: Maybe[int]) -> Maybe[str]:
    return value if isinstance(value, Missing) else words.rate(value)


def _of(now: Maybe[int], most: Maybe[int]) -> Maybe[str]:
    if isinstance(now, Missing):
        return now
    return f"{now}" if isinstance(most, Missing) else f"{now} of {most}"
