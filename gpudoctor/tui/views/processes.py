"""The table of processes: sorted, filtered, and as a tree when asked for; long commands are cut, odd bytes shown harmless."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpudoctor.model.missing import Missing, either
from gpudoctor.tui.messages import ProcessLoad, Reading
from gpudoctor.tui.views import words
from gpudoctor.tui.views.lines import Line, Span, crop, fit, fit_right, plain

MOST_COMMAND = 100  # characters of a command in a question
SORTS = ("gpu memory", "cpu", "host memory", "gpu", "pid", "user", "command")


def _less(value: object) -> float:
    return -float(value) if isinstance(value, (int, float)) else 1.0


_KEYS: dict[str, Callable[[ProcessLoad], tuple[object, ...]]] = {
    "gpu memory": lambda each: (_less(each.gpu_memory_bytes), each.pid),
    "cpu": lambda each: (_less(each.cpu_percent), each.pid),
    "host memory": lambda each: (_less(each.host_memory_bytes), each.pid),
    "gpu": lambda each: (each.gpus or (1 << 16,), each.pid),
    "pid": lambda each: (each.pid,),
    "user": lambda each: (either(each.user, "~"), each.pid),
    "command": lambda each: (either(each.command, "~"), each.pid),
}


def arranged(
    processes: Sequence[ProcessLoad], *, sort: str, pattern: str = "", tree: bool = False
) -> list[tuple[int, ProcessLoad]]:
    """Return depth and process in the order of the screen. A pattern is looked for in pid, user and command."""
    wanted = [each for each in processes if _matches(each, pattern.lower())]
    rows = sorted(wanted, key=_KEYS[sort])
    if not tree:
        return [(0, each) for each in rows]
    pids = {each.pid for each in rows}
    children: dict[int, list[ProcessLoad]] = {}
    tops: list[ProcessLoad] = []
    for each in rows:
        parent = each.parent_pid
        if isinstance(parent, int) and parent in pids and parent != each.pid:
            children.setdefault(parent, []).append(each)
        else:
            tops.append(each)
    found: list[tuple[int, ProcessLoad]] = []
    stack = [(0, each) for each in reversed(tops)]
    while stack:
        depth, each = stack.pop()
        found.append((depth, each))
        stack += [(depth + 1, child) for child in reversed(children.pop(each.pid, []))]
    return found


def _matches(process: ProcessLoad, pattern: str) -> bool:
    text = f"{process.pid} {either(process.user, '')} {either(process.command, '')}".lower()
    return pattern in text


def process_lines(
    rows: Sequence[tuple[int, ProcessLoad]],
    width: int,
    height: int,
    *,
    cursor: int,
    tagged: frozenset[int],
    nothing: str = "no process holds a GPU",
) -> list[Line]:
    """Return the heading and the rows around the cursor; `nothing`: what stands where there is no row."""
    lines: list[Line] = [(Span(fit(_heading(width), width), "head"),)]
    room = max(1, height - 1)
    first = max(0, min(cursor - room + 1, len(rows) - room)) if cursor >= room else 0
    for place, (depth, process) in list(enumerate(rows))[first : first + room]:
        lines.append(_row(process, depth, width, chosen=place == cursor, tagged=process.pid in tagged, place=place))
    if not rows:
        lines.append((Span(fit(f"  {nothing}", width), "dim"),))
    return lines


def nothing_held(reading: Reading | None, trouble: str = "", pattern: str = "") -> str:
    """Say why the table is empty; where NVML could not be asked, that is no statement about processes."""
    if reading is None:
        return "processes: not known yet"
    if trouble or reading.nvml.status != "ok":
        return "processes: not known (NVML does not answer)"
    if reading.processes:
        return f"no process matches {pattern!r}"
    untold = [each for each in reading.gpus if each.status != "ok" or isinstance(each.processes, Missing)]
    if untold and len(untold) == len(reading.gpus):
        return "processes: not known (no GPU tells them)"
    return "no process holds a GPU" + (" that tells its processes" if untold else "")


def _heading(width: int) -> str:
    host = " host mem" if width >= 90 else ""
    kind = " kind    " if width >= 120 else ""
    return f"     pid user     GPU   GPU mem{host}   cpu% TF{kind} command"


def _row(process: ProcessLoad, depth: int, width: int, *, chosen: bool, tagged: bool, place: int) -> Line:
    gpus = ",".join(map(str, process.gpus)) or ("└" if depth else "")
    mark = "●" if tagged else ">" if chosen else " "
    cells = [
        f"{fit_right(str(process.pid), 7)} {fit(either(process.user, '?'), 8)} {fit(gpus, 3)}",
        f" {fit_right(words.size(process.gpu_memory_bytes) if process.gpus else '', 9)}",
        f" {fit_right(words.size(process.host_memory_bytes), 8)}" if width >= 90 else "",
        f" {fit_right(words.amount(process.cpu_percent), 6)} {_tensorflow(process)}",
        f" {fit(process.kind, 8)}" if width >= 120 else "",
    ]
    text = "".join(cells)
    room = max(0, width - len(text) - 1)
    command = f" {'  ' * depth}{_command(process)}"
    style = "chosen" if chosen else "dim" if process.own is False else ""
    line = (
        Span(mark, "accent" if not chosen else "chosen"),
        Span(text, style),
        Span(fit(command, room), style),
    )
    return crop(tuple(span._replace(action=f"screen.choose_process({place})") for span in line), width)


def signalled(process: ProcessLoad) -> str:
    """Return whom a signal would hit: the number alone is too easily the wrong one."""
    memory = words.size(process.gpu_memory_bytes)
    gpus = f"{memory} on GPU {','.join(map(str, process.gpus))}" if process.gpus else "no GPU"
    return f"{process.pid}  {plain(either(process.user, '?'))}  {gpus}  {fit(_command(process), MOST_COMMAND).rstrip()}"


def _tensorflow(process: ProcessLoad) -> str:
    known = process.tensorflow
    return " ?" if isinstance(known, Missing) else "TF" if known else " -"


def _command(process: ProcessLoad) -> str:
    command = process.command
    return f"({command.reason})" if isinstance(command, Missing) else plain(command)
