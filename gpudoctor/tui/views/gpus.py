"""The table of GPUs: one line each, columns by width, so that sixteen of them fit on a small screen.

Utilisation is headed "a kernel ran", for that is all it says: 100 % may be one tiny kernel after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gpudoctor.model.gpu import Gpu, Memory, MigInstance
from gpudoctor.model.missing import Missing, either
from gpudoctor.tui.messages import Reading, Traffic
from gpudoctor.tui.views import words
from gpudoctor.tui.views.lines import Line, Span, bar, crop, fit, fit_right

# Where a full bar turns: policy of display only; the checks judge by what NVML itself reports.
MEMORY_FULL_SHARE = 0.95
NEAR_SLOWDOWN_C = 5
MEMORY = " memory GiB"
STATE_WORDS, LONGEST_BAR = 20, 24  # cells: what the words get of the room that is left, before the bars grow


class _Column(NamedTuple):
    title: str
    width: int
    cells: Callable[[Gpu, Traffic, int], Line]
    from_width: int = 0  # the narrowest screen that has room for it
    to_width: int = 1 << 16


def gpu_rows(reading: Reading, room: int) -> tuple[int, bool]:
    """Return how many lines GPUs take, and whether their MIG instances get lines of their own: where all of them fit."""
    count, parts = len(reading.gpus), sum(map(len, reading.migs.values()))
    return (count + parts, True) if parts and count + parts < room else (count, False)


def gpu_lines(reading: Reading, width: int, cursor: int, *, stale: bool = False, instances: bool = True) -> list[Line]:
    """Return the heading and a line for each GPU, behind it one for each of its MIG instances."""
    chosen = _columns(width)
    heading = "".join(f" {fit(each.title, each.width)}" for each in chosen)
    lines: list[Line] = [(Span(fit(heading, width), "head"),)]
    for gpu in reading.gpus:
        lines.append(_gpu_line(gpu, reading, chosen, width, chosen_one=gpu.index == cursor, stale=stale))
        parts = reading.migs.get(gpu.index, ()) if instances else ()
        lines += [_instance_line(each, chosen, width, last=at == len(parts)) for at, each in enumerate(parts, start=1)]
    return lines


def _instance_line(instance: MigInstance, chosen: Sequence[_Column], width: int, *, last: bool) -> Line:
    """Return an instance under its GPU: its memory stands in the column of memory."""
    titles = [each.title for each in chosen]
    before = sum(each.width + 1 for each in chosen[: titles.index(MEMORY)])
    memory = chosen[titles.index(MEMORY)]
    branch, profile = "└" if last else "├", either(instance.profile, "")
    ids = f" GI {words.amount(instance.gpu_instance)} CI {words.amount(instance.compute_instance)}"
    longest = (f"  {branch} MIG {instance.place} {profile}{ids}", f"  {branch} MIG {instance.place} {profile}")
    name = next((each for each in longest if len(each) <= before), f" {branch}{instance.place} {profile}")
    cells = _memory_cells(instance.memory, memory.width)
    return crop((Span(fit(name, before), "dim"), Span(" "), *cells), width)


def no_gpu_lines(reading: Reading, trouble: str, width: int) -> list[Line]:
    """Return what to say where there is no GPU to show."""
    told = either(reading.nvml.message, "") if reading.nvml.status != "ok" else ""
    first = trouble or no_gpu_reason(reading)
    lines: list[Line] = [(Span(" ? ", "warn"), Span(fit(first, width - 3), "strong"))]
    if told:
        lines.append((Span(f"   {fit(told, width - 3)}", "dim"),))
    lines.append((Span("   Press 2, then r: the scan says why and what to do.", "dim"),))
    return lines


def no_gpu_reason(reading: Reading) -> str:
    """Return how NVML answered, in words."""
    status = reading.nvml.status
    if status == "ok":
        return "NVML answers, and lists no GPU"
    return "asking NVML ..." if isinstance(status, Missing) else f"NVML: {status.replace('_', ' ')}"


def _columns(width: int) -> list[_Column]:
    known = [each for each in _COLUMNS if each.from_width <= width < each.to_width]
    room = max(0, width - sum(each.width + 1 for each in known))
    for_state = min(room, STATE_WORDS)
    longer = min((room - for_state) // 2, LONGEST_BAR)
    grown = {"a kernel ran": longer, MEMORY: longer, "state": room - 2 * longer}
    return [each._replace(width=each.width + grown.get(each.title, 0)) for each in known]


def _gpu_line(
    gpu: Gpu, reading: Reading, chosen: Sequence[_Column], width: int, *, chosen_one: bool, stale: bool
) -> Line:
    traffic = reading.traffic.get(gpu.index, Traffic())
    xids = reading.xids.get(either(gpu.pci, ""), ())
    spans: list[Span] = []
    for column in chosen[:-1]:
        spans += (Span(" "), *column.cells(gpu, traffic, column.width))
    sign, text, style = words.state(gpu, xids)
    room = chosen[-1].width
    spans += (Span(" "), Span(f"{sign} ", style), Span(fit(text, room - 2), style))
    if stale:
        spans = [span._replace(style="dim") for span in spans]
    if chosen_one:
        spans[0] = Span(">", "accent")
    return crop(tuple(span._replace(action=f"screen.choose_gpu({gpu.index})") for span in spans), width)


def _index(gpu: Gpu, _: Traffic, width: int) -> Line:
    return (Span(fit_right(str(gpu.index), width), "strong"),)


def _name(gpu: Gpu, _: Traffic, width: int) -> Line:
    mig = gpu.mig_instances
    tail = f" MIG {mig}" if gpu.mig_mode == "enabled" and not isinstance(mig, Missing) else ""
    name = words.short_name(gpu)
    if tail and len(name.partition(" ")[0]) + len(tail) > width:
        tail = " MIG"  # how many there are, their own lines and the GPU's page say
    return (Span(_whole_words(name, width - len(tail))), Span(tail, "accent"))


def _whole_words(name: str, width: int) -> str:
    """Return the name cut between words where that leaves something: `H100`, not `H100 80G~`."""
    if len(name) > width and " " in name[: width + 1]:
        name = name[: width + 1].rpartition(" ")[0]
    return fit(name, width)


def _kernel(gpu: Gpu, _: Traffic, width: int) -> Line:
    return _with_bar(gpu.utilization.gpu_percent, width)


def _with_bar(percent: int | Missing, width: int) -> Line:
    number = fit_right(words.amount(percent, "%"), 4)
    if isinstance(percent, Missing):
        return (Span(fit(number, width), "dim"),)
    return (Span(number), Span(" "), *bar(percent / 100, width - 5))


def _memory(gpu: Gpu, _: Traffic, width: int) -> Line:
    return _memory_cells(gpu.memory, width)


def _memory_cells(memory: Memory, width: int) -> Line:
    used = words.share(memory.used_bytes, memory.total_bytes)
    text = words.pair(words.gib(memory.used_bytes), words.gib(memory.total_bytes), "G")
    number = fit_right(text, 11)
    if used is None or width < 15:
        return (Span(fit(number, width), "" if used is not None else "dim"),)
    return (Span(number), Span(" "), *bar(used, width - 12, "bar-warn" if used >= MEMORY_FULL_SHARE else "bar"))


def _power(gpu: Gpu, _: Traffic, width: int) -> Line:
    return (Span(fit_right(words.pair(words.amount(gpu.power.draw_w), words.amount(gpu.power.limit_w), "W"), width)),)


def _temperature(gpu: Gpu, _: Traffic, width: int) -> Line:
    now, limit = gpu.temperature_c, gpu.temperature_slowdown_c
    hot = not isinstance(now, Missing) and not isinstance(limit, Missing) and now >= limit - NEAR_SLOWDOWN_C
    return (Span(fit_right(words.amount(now, "C") + ("!" if hot else ""), width), "bad" if hot else ""),)


def _clock(gpu: Gpu, _: Traffic, width: int) -> Line:
    return (
        Span(fit_right(words.pair(words.amount(gpu.clocks.sm_mhz), words.amount(gpu.clocks.sm_max_mhz), ""), width)),
    )


def _memory_clock(gpu: Gpu, _: Traffic, width: int) -> Line:
    return (Span(fit_right(words.amount(gpu.clocks.memory_mhz), width)),)


def _link(gpu: Gpu, _: Traffic, width: int) -> Line:
    return (Span(fit(f"gen{words.amount(gpu.pcie.gen)} x{words.amount(gpu.pcie.width)}", width)),)


def _traffic(_: Gpu, traffic: Traffic, width: int) -> Line:
    into, out = words.size(traffic.received_bytes_per_s), words.size(traffic.sent_bytes_per_s)
    return (Span(fit(f"{into:>5} in {out:>5} out", width)),)


def _fan(gpu: Gpu, _: Traffic, width: int) -> Line:
    return (Span(fit_right(words.amount(gpu.fan_percent, "%"), width)),)


def _ecc(gpu: Gpu, _: Traffic, width: int) -> Line:
    ecc = gpu.ecc
    off = ecc.enabled is False
    text = "off" if off else words.pair(words.amount(ecc.corrected), words.amount(ecc.uncorrected), "")
    return (Span(fit_right(text, width), "bad" if either(ecc.uncorrected, 0) else ""),)


def _nothing(_gpu: Gpu, _: Traffic, _width: int) -> Line:
    return ()


_COLUMNS = (
    _Column("#", 2, _index),
    _Column("GPU", 9, _name, 72, 110),
    _Column("GPU", 14, _name, 110),
    _Column("a kernel ran", 13, _kernel),
    _Column(MEMORY, 11, _memory),
    _Column("   power", 8, _power, 78),
    _Column("temp", 5, _temperature),
    _Column(" SM MHz", 9, _clock, 96),
    _Column("mem MHz", 7, _memory_clock, 170),
    _Column("PCIe", 8, _link, 130),
    _Column("PCIe traffic", 19, _traffic, 150),
    _Column("fan", 4, _fan, 118),
    _Column("ECC c/u", 7, _ecc, 112),
    _Column("state", 14, _nothing),
)
