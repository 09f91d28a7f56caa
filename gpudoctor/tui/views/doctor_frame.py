"""The doctor view as one frame: the list beside its details, or above them on a narrow screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpudoctor.model.finding import Finding, Fix
from gpudoctor.model.report import Report, Verdict
from gpudoctor.tui.views import doctor
from gpudoctor.tui.views.chrome import footer_line, header_line
from gpudoctor.tui.views.lines import Line, Span, crop, fit, width_of
from gpudoctor.tui.watch import Watch

SIDE_BY_SIDE_FROM = 100
LIST_SHARE, LIST_MOST = 0.42, 80
KEYS = (
    ("?", "help", "app.help"),
    ("q", "quit", "app.quit"),
    ("r", "quick scan", "app.scan('quick')"),
    ("R", "scan", "app.scan('standard')"),
    ("b", "one trial", "app.choose_trial"),
    ("x", "explain", "screen.explain"),
    ("f", "fixes", "screen.fixes"),
    ("c", "copy fix", "screen.copy"),
    ("PgDn", "scroll", "screen.scroll_details(5)"),
    ("T", "theme", "app.next_theme"),
)


@dataclass(slots=True)
class DoctorPlace:
    """Where one is in the list, and how far the details are scrolled."""

    cursor: int = 0
    scroll: int = 0
    pages: Mapping[str, str] = field(default_factory=dict[str, str])

    def move(self, report: Report, step: int) -> None:
        """Move among the entries that can be chosen."""
        places = chosen_places(report)
        if places:
            at = min(range(len(places)), key=lambda each: abs(places[each] - self.cursor))
            self.cursor, self.scroll = places[max(0, min(len(places) - 1, at + step))], 0

    def to_fixes(self, report: Report) -> None:
        """Go to the best fix."""
        places = [place for place, item in enumerate(doctor.items(report, 80)) if isinstance(item.subject, Fix)]
        if places:
            self.cursor, self.scroll = places[0], 0

    def subject(self, report: Report) -> Finding | Fix | Verdict | None:
        """Return what is chosen."""
        entries = doctor.items(report, 80)
        places = chosen_places(report)
        if self.cursor not in places:
            self.cursor = places[0] if places else 0
        return entries[self.cursor].subject if entries else None


def chosen_places(report: Report) -> list[int]:
    """Return the places in the list that can be chosen."""
    return [place for place, item in enumerate(doctor.items(report, 80)) if not item.heading]


def doctor_frame(watch: Watch, place: DoctorPlace, status: Line, width: int, height: int) -> list[Line]:
    """Return the whole screen. `status`: the line under the header (progress of a scan, a failure), () for the verdict."""
    room = height - 3
    report = watch.judged
    if report is None:
        body, under = doctor.nothing_yet(width), status
    else:
        body = _body(report, place, width, room)
        under = status or doctor.verdict_line(report, width)
    lines = [
        header_line("doctor", watch.reading, width, source=watch.banner, training=watch.run.training),
        under,
        *body[:room],
    ]
    lines = [crop(line, width) for line in lines]
    lines += [()] * (height - 1 - len(lines))
    return [*lines, footer_line(KEYS, width)]


def _body(report: Report, place: DoctorPlace, width: int, height: int) -> list[Line]:
    subject = place.subject(report)
    if width >= SIDE_BY_SIDE_FROM:
        left_width = min(int(width * LIST_SHARE), LIST_MOST)
        left = _list(report, place, left_width, height)
        right = _details(subject, report, place, width - left_width - 2, height)
        return [_beside(one, two, left_width) for one, two in zip(left, right, strict=True)]
    for_list = max(4, height // 2)
    above = _list(report, place, width, for_list)
    line: Line = (Span("─" * width, "track"),)
    return [*above, line, *_details(subject, report, place, width, height - for_list - 1)]


def _list(report: Report, place: DoctorPlace, width: int, height: int) -> list[Line]:
    entries = doctor.items(report, width - 2)  # the cursor before, and a blank behind
    first = max(0, min(place.cursor - height // 2, len(entries) - height))
    lines: list[Line] = []
    for at, item in list(enumerate(entries))[first : first + height]:
        if item.heading:
            lines.append((*item.line, Span("  ", "head")))
            continue
        chosen = at == place.cursor
        spans = [Span(">" if chosen else " ", "accent"), *item.line]
        if chosen:
            spans = [span._replace(style="chosen") for span in spans]
        lines.append(tuple(span._replace(action=f"screen.choose({at})") for span in spans))
    below = len(entries) - first - len(lines)
    if below > 0 and place.cursor < first + len(lines) - 1:
        lines[-1] = (Span(f"  {below + 1} more", "dim"),)
    return lines + [()] * (height - len(lines))


def _details(
    subject: Finding | Fix | Verdict | None, report: Report, place: DoctorPlace, width: int, height: int
) -> list[Line]:
    lines = doctor.details(subject, report, place.pages, width)
    place.scroll = max(0, min(place.scroll, len(lines) - height))
    shown = lines[place.scroll : place.scroll + height]
    below = len(lines) - place.scroll - len(shown)
    if below > 0 and shown:
        shown[-1] = (Span(fit(f" {below + 1} more lines: PgDn", width), "dim"),)
    return shown + [()] * (height - len(shown))


def _beside(left: Line, right: Line, left_width: int) -> Line:
    cut = crop(left, left_width)
    return (*cut, Span(" " * (left_width - width_of(cut))), Span("│", "track"), *right)
