"""One reading to standard output, as text, JSON or CSV, for scripts: no Textual, no check, no plug-in is loaded.

NVML is asked in a child with a deadline, so that a hung driver costs three seconds and not the script that asked.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from time import monotonic, sleep, time
from typing import cast

from gpudoctor.collect.isolate import SOURCE_DEADLINE_S, Answers, Gathering, Source
from gpudoctor.model.gpu import Gpu
from gpudoctor.model.machine import Nvml
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.tui.messages import Reading
from gpudoctor.tui.sampling.host_load import HostMeter
from gpudoctor.tui.sampling.process_table import ProcessTable
from gpudoctor.tui.views.gpus import gpu_lines, no_gpu_lines
from gpudoctor.tui.views.host import host_lines
from gpudoctor.tui.views.lines import Line, text_of
from gpudoctor.tui.views.processes import arranged, process_lines
from gpudoctor.tui.views.words import machine

WIDTH = 120
# /proc/stat counts in hundredths of a second: over less time the percentages are coarser than 10 %.
CPU_WINDOW_S = 0.1
CSV_COLUMNS = (
    "time", "gpu", "status", "name", "kernel_percent", "memory_used_bytes", "memory_total_bytes", "power_w",
    "power_limit_w", "temperature_c", "sm_mhz", "sm_max_mhz", "fan_percent", "pcie_gen", "pcie_width", "throttle_reasons",
)  # fmt: skip


def print_once(root: str, *, form: str) -> int:
    """Print one reading. The exit code is 0 also without a GPU: how NVML answered is in the output."""
    reading = _read(Path(root))
    text = {"text": _text, "json": _json, "csv": _csv}[form](reading)
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, errors="replace").decode(encoding))
    return 0


def _read(root: Path) -> Reading:
    meter, table, begun = HostMeter(root), ProcessTable(root), monotonic()
    meter.read(begun)
    gathering = Gathering([Source(name="nvml", collect=partial(_ask_nvml, root), deadline_s=SOURCE_DEADLINE_S)])
    outcome = gathering.finish()["nvml"]
    value = outcome.value
    if isinstance(value, Missing):
        from gpudoctor.collect.nvml import joined  # noqa: PLC0415  # needed only where NVML failed

        value = joined(outcome.parts, value.reason)
    nvml, gpus = cast("tuple[Nvml, Maybe[tuple[Gpu, ...]]]", value)
    listed = () if isinstance(gpus, Missing) else gpus
    table.read(listed, begun)
    sleep(max(0.0, begun + CPU_WINDOW_S - monotonic()))
    now = monotonic()
    return Reading(
        at_s=round(time(), 3), nvml=nvml, gpus=listed, host=meter.read(now), processes=table.read(listed, now)
    )


def _ask_nvml(root: Path, answers: Answers) -> object:
    """Run in the child: pynvml is loaded here, beside what the parent does."""
    del answers
    from gpudoctor.collect.nvml import collect_nvml  # noqa: PLC0415

    return collect_nvml(root)


def _text(reading: Reading) -> str:
    lines: list[Line] = gpu_lines(reading, WIDTH, cursor=-1) if reading.gpus else no_gpu_lines(reading, "", WIDTH)[:2]
    lines += host_lines(reading.host, WIDTH)
    rows = arranged(reading.processes, sort="gpu memory")
    lines += process_lines(rows, WIDTH, len(rows) + 2, cursor=-1, tagged=frozenset())
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
