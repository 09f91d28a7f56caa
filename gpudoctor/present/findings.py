"""A finding and a fix on a terminal, in the same columns in every report: what, how sure, two columns of evidence, gain, effort.

A report of a run is narrower than one of a scan, for it stands under the script's own output: widths are given, the layout not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.model.finding import NEXT_STEP, NOISE, TO_KNOW, Evidence, Finding, Fix, Severity
from gpudoctor.model.record import dataclass
from gpudoctor.model.report import Report
from gpudoctor.present import figures
from gpudoctor.present.style import Style, printable, shorten

MARKS = {Severity.ERROR: "[x]", Severity.WARNING: "[!]", Severity.INFO: "[i]"}
FULL = 1000
NOTE_LINES = 2
NUMBER, INDENT = 3, "     "


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The widths of a report: of its lines, and in a row of fixes of the title and of the gain. `more`: what shows the rest."""

    width: int
    title: int
    gain: int
    more: str


def wrapped(text: str, first: str, rest: str, width: int, most: int = FULL) -> Iterator[str]:
    """Yield the text in lines of the width; of more than `most` lines the last ends with a sign."""
    lines, line = list[str](), first
    for word in printable(text).split():
        if len(line) + len(word) > width and line.strip():
            lines.append(line.rstrip())
            line = rest
        line += f"{word} "
    lines.append(line.rstrip())
    if len(lines) > most:
        lines = [*lines[: most - 1], shorten(lines[most - 1] + " ...", width)]
    yield from lines


def heading(finding: Finding, style: Style, columns: Columns) -> str:
    """Return the line that opens the finding to put first; a note is called one."""
    word = "NOTE" if finding.severity is Severity.INFO else "PRIMARY"
    head = f"{word}  {finding.code} {finding.slug}{accepted(finding)}"
    tail = f"confidence {finding.confidence:.2f}"
    return f"{style.bold(head)}{tail:>{max(1, columns.width - len(head))}}"


def accepted(finding: Finding) -> str:
    """Return the word for one that the baseline knows."""
    return " (accepted)" if finding.accepted else ""


def place(finding: Finding) -> str:
    """Return file and line of the user's code, '' where there is none."""
    spot = finding.location
    return "" if spot is None else f"{printable(spot.file).rpartition('/')[2]}:{spot.line}"


def table(report: Report, finding: Finding, items: Sequence[Evidence], columns: Columns) -> Iterator[str]:
    """Yield in two columns the user's line, the evidence, and what it explains."""
    rows = list(items)
    if finding.location is not None:
        rows.insert(0, Evidence(label=place(finding), value=finding.location.snippet))
    explained = [f"{each.code} {each.slug}" for each in report.findings if each.caused_by == finding.code]
    if explained:
        rows.append(Evidence(label="explains", value=" > ".join(explained)))
    yield from _aligned(rows, columns.width)


def to_show(finding: Finding, most: int) -> tuple[Evidence, ...]:
    """Return the first pieces of evidence; the command that decides among several causes is never left out."""
    rest = (each for each in finding.evidence[most:] if each.label == TO_KNOW)
    return (*finding.evidence[:most], *rest)


def _aligned(rows: Sequence[Evidence], width: int) -> Iterator[str]:
    column = max((len(each.label) for each in rows), default=0)
    for each in rows:
        line = printable(f"  {each.label:<{column}}  {figures.evidence(each)}")
        if len(line) <= width or each.source != NEXT_STEP:
            yield shorten(line, width)
        elif each.label == TO_KNOW:  # a command is copied whole
            yield f"  {each.label}:"
            yield f"{INDENT}{printable(str(each.value))}"
        else:  # words with a command in them: in several lines, but whole
            yield from wrapped(f"{each.label}: {figures.evidence(each)}", "  ", INDENT, width)


def others(found: Sequence[Finding], limit: int, style: Style, columns: Columns) -> Iterator[str]:
    """Yield a line or two for each further finding, one for all noise, and how many there are more."""
    groups = _grouped(found) if limit < FULL else [[each] for each in found]
    for group in groups[:limit]:
        yield from _note(group[0], style, columns.width) if len(group) == 1 else (_folded(group, style, columns),)
    left = sum(len(group) for group in groups[limit:])
    if left:
        yield f"    {left} more: {columns.more}"


def _grouped(found: Sequence[Finding]) -> list[list[Finding]]:
    """Return each finding for itself, the lines that are no trouble together where the first of them stands."""
    noise = [each for each in found if each.cause == NOISE]
    return [noise if each.cause == NOISE else [each] for each in found if each.cause != NOISE or each is noise[0]]


def _folded(noise: Sequence[Finding], style: Style, columns: Columns) -> str:
    first = noise[0].evidence[:1]
    shown = "".join(f": {each.label}, {each.value}" for each in first)
    mark = MARKS[Severity.INFO]
    line = f"{mark} {noise[0].code} {len(noise)} kinds of lines are no trouble ({columns.more}){shown}"
    return shorten(line, columns.width).replace(mark, style.dim(mark), 1)


def _note(finding: Finding, style: Style, width: int) -> Iterator[str]:
    mark = MARKS[finding.severity]
    paint = {Severity.ERROR: style.error, Severity.WARNING: style.warning}.get(finding.severity, style.dim)
    words = " ".join(filter(None, (f"{mark} {finding.code}{accepted(finding)}", place(finding), finding.summary)))
    first, *rest = wrapped(words, "", "    ", width, NOTE_LINES)
    yield first.replace(mark, paint(mark), 1)
    yield from rest


def fixes_heading(style: Style, columns: Columns) -> str:
    """Return the line above the fixes."""
    return f"{style.bold('FIXES')}{'':<{NUMBER + columns.title + 1 - len('FIXES')}}{'gain':<{columns.gain}}effort"


def listed(fixes: Sequence[Fix], limit: int, columns: Columns) -> Iterator[str]:
    """Yield the fixes in rows, and how many there are more."""
    for number, fix in enumerate(fixes[:limit], start=1):
        yield from _fix(number, fix, columns)
    if len(fixes) > limit:
        yield f"   {len(fixes) - limit} more: {columns.more}"


def _fix(number: int, fix: Fix, columns: Columns) -> Iterator[str]:
    """Yield a row, and below it what does not fit; a short command stands in the row itself, a diff below its title."""
    command = fix.text.splitlines() or [fix.title]
    short = fix.action != "diff" and len(command) == 1 and len(command[0]) <= columns.title
    first = command[0] if short else shorten(fix.title, columns.title)
    gain = f"{figures.gain(fix.gain):<{columns.gain - 1}} "
    yield f"{number:<{NUMBER}}{printable(first):<{columns.title + 1}}{gain}{figures.effort(fix.effort_minutes)}"
    if not short:
        for line in command:
            yield f"{INDENT}{printable(line)}"
    if fix.peak is not None:
        yield f"{INDENT}{figures.peak(fix.peak)}"
