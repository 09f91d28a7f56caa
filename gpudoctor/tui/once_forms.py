"""One reading as text, JSON or CSV. Identifiers of GPUs and people stand in JSON only where they were asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gpudoctor.errors import OutputError
from gpudoctor.model.gpu import Gpu, GpuProcess
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.tui.messages import Reading
from gpudoctor.tui.views.gpus import gpu_lines, no_gpu_lines, no_gpu_reason
from gpudoctor.tui.views.host import host_lines
from gpudoctor.tui.views.lines import Line, text_of
from gpudoctor.tui.views.processes import arranged, nothing_held, process_lines
from gpudoctor.tui.views.words import machine

WIDTH = 120
PRIVATE = Missing("identifies a device or a person; --include-identifiers shows it")
CSV_COLUMNS = (
    "time", "gpu", "status", "name", "kernel_percent", "memory_used_bytes", "memory_total_bytes", "power_w",
    "power_limit_w", "temperature_c", "sm_mhz", "sm_max_mhz", "fan_percent", "pcie_gen", "pcie_width", "throttle_reasons",
)  # fmt: skip


def emit(reading: Reading, form: str, *, identifiers: bool) -> None:
    """Write the reading to standard output. Raises OutputError where it cannot be written there.

    A table without rows does not say why it has none, so that is told on standard error.
    """
    if form == "csv" and not reading.gpus:
        sys.stderr.write(f"gpudoctor: no GPU to list ({no_gpu_reason(reading)})\n")
    if form == "json":
        text = _json(reading if identifiers else _anonymous(reading))
    else:
        text = _csv(reading) if form == "csv" else _text(reading)
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, errors="replace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"stdout: cannot be written ({error.strerror or error})") from error


def _anonymous(reading: Reading) -> Reading:
    gpus = tuple(replace(gpu, uuid=PRIVATE, serial=PRIVATE, processes=_nameless(gpu)) for gpu in reading.gpus)
    processes = tuple(replace(each, user=PRIVATE, command=PRIVATE) for each in reading.processes)
    return replace(reading, gpus=gpus, processes=processes, nvml=replace(reading.nvml, library_path=PRIVATE))


def _nameless(gpu: Gpu) -> Maybe[tuple[GpuProcess, ...]]:
    if isinstance(gpu.processes, Missing):
        return gpu.processes
    return tuple(replace(each, name=PRIVATE, user=PRIVATE, command=PRIVATE) for each in gpu.processes)


def _text(reading: Reading) -> str:
    lines: list[Line] = gpu_lines(reading, WIDTH, cursor=-1) if reading.gpus else no_gpu_lines(reading, "", WIDTH)[:2]
    lines += host_lines(reading.host, WIDTH)
    rows = arranged(reading.processes, sort="gpu memory")
    lines += process_lines(rows, WIDTH, len(rows) + 2, cursor=-1, tagged=frozenset(), nothing=nothing_held(reading))
    shown = [machine(reading), *(text_of(line).rstrip() for line in lines)]
    return "\n".join(shown) + "\n"


def _json(reading: Reading) -> str:
    from gpudoctor.codec import dumps, to_builtins  # noqa: PLC0415  # only this form needs it

    missing: dict[str, str] = {}
    document = to_builtins(reading, missing)
    return dumps({"schema_version": 1, **document, "missing": missing}) + "\n"


def _csv(reading: Reading) -> str:
    import csv  # noqa: PLC0415  # only this form needs it
    import io  # noqa: PLC0415

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    writer.writerows(_rows(reading))
    return out.getvalue()


def _rows(reading: Reading) -> Iterable[Sequence[object]]:
    for gpu in reading.gpus:
        reasons = gpu.throttle_reasons
        values: tuple[object, ...] = (
            reading.at_s, gpu.index, gpu.status, gpu.name, gpu.utilization.gpu_percent, gpu.memory.used_bytes,
            gpu.memory.total_bytes, gpu.power.draw_w, gpu.power.limit_w, gpu.temperature_c, gpu.clocks.sm_mhz,
            gpu.clocks.sm_max_mhz, gpu.fan_percent, gpu.pcie.gen, gpu.pcie.width,
            reasons if isinstance(reasons, Missing) else " ".join(reasons),
        )  # fmt: skip
        yield ["" if isinstance(each, Missing) else each for each in values]
