"""Lines of the screen: spans of text with the name of a style, measured in cells: a wide character takes two.

Rich's markup would be shorter to write; a process named `[bold]` would then steer the screen, and a line could not be compared.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gpudoctor.present.style import printable

FULL_BLOCKS = " ▏▎▍▌▋▊▉█"
HEIGHT_BLOCKS = " ▁▂▃▄▅▆▇█"
WIDE = frozenset({"W", "F"})
MAYBE_WIDE = re.compile("[\u1100-\u115f\u2300-\u23ff\u25fd-\u2bff\u2e80-\U0010ffff]")  # blocks and boxes never are
NO_SELECTORS = dict.fromkeys(range(0xFE00, 0xFE10))  # they ask for another picture of the character before them
UNFIT = "?"
LISTED = ("- ", "* ", ">", "$ ")  # of a page of a check: these lines stay lines
PROSE_INDENT = 4  # deeper is code


class Span(NamedTuple):
    """Some text. `style`: a name of `STYLES`; `action`: what a click on it does."""

    text: str
    style: str = ""
    action: str = ""


Line = tuple[Span, ...]
STYLES = (
    "good", "warn", "bad", "dim", "strong", "accent", "title", "key", "chosen", "bar", "bar-warn", "bar-bad", "track",
    "plot", "plot-second", "head", "input", "device", "host", "other",
)  # fmt: skip


def plain(text: str) -> str:
    """Return the text with nothing that steers a terminal and no character whose width is not sure."""
    if text.isascii() and text.isprintable():
        return text
    composed = unicodedata.normalize("NFC", text).translate(NO_SELECTORS)
    return "".join(UNFIT if unicodedata.category(char).startswith("M") else char for char in printable(composed))


def cells(text: str) -> int:
    """Return how many cells a plain text takes."""
    if text.isascii():
        return len(text)
    return len(text) + sum(unicodedata.east_asian_width(char) in WIDE for char in MAYBE_WIDE.findall(text))


def cut(text: str, width: int) -> str:
    """Return as much of the plain text as the width has cells for; half a wide character is a blank."""
    if text.isascii():
        return text[: max(0, width)]
    used = 0
    for place, char in enumerate(text):
        used += cells(char)
        if used > width:
            return text[:place] + " " * (width - used + cells(char))
    return text


def fit(text: str, width: int) -> str:
    """Return the plain text cut or filled to the width; `~` shows that something was cut."""
    clean = plain(text)
    used = cells(clean)
    if used > width:
        return f"{cut(clean, width - 1)}~" if width > 0 else ""
    return clean + " " * (width - used)


def fit_right(text: str, width: int) -> str:
    """Return the text at the right edge of the width."""
    clean = plain(text)
    used = cells(clean)
    return " " * (width - used) + clean if used <= width else fit(clean, width)


def width_of(line: Line) -> int:
    """Return how many cells the line takes."""
    return sum(cells(span.text) for span in line)


def text_of(line: Line) -> str:
    """Return the line without its styles."""
    return "".join(span.text for span in line)


def crop(line: Line, width: int) -> Line:
    """Return the line cut to the width."""
    if width_of(line) <= width:
        return line
    kept: list[Span] = []
    left = width
    for span in line:
        if left <= 0:
            break
        kept.append(span._replace(text=cut(span.text, left)))
        left -= cells(span.text)
    return tuple(kept)


def ends(left: Line, right: Line, width: int) -> Line:
    """Return one line with something at both edges; where both do not fit, the left one stands."""
    gap = width - width_of(left) - width_of(right)
    return (*left, Span(" " * gap), *right) if gap >= 1 else crop(left, width)


def bar(share: float, width: int, style: str = "bar") -> Line:
    """Return a bar with eighths of a cell."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    whole, rest = divmod(eighths, 8)
    filled = "█" * whole + (FULL_BLOCKS[rest] if rest else "")
    return (Span(filled, style), Span("·" * (width - len(filled)), "track"))


def columns(values: Sequence[float | None], height: int) -> list[str]:
    """Return `height` rows of columns for shares 0-1, top row first; None leaves the column empty."""
    eighths = [0 if each is None else max(1, round(max(0.0, min(1.0, each)) * height * 8)) for each in values]
    rows = range(height - 1, -1, -1)
    return ["".join(HEIGHT_BLOCKS[max(0, min(8, each - 8 * row))] for each in eighths) for row in rows]


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Return the text in lines of the width, broken between words; a longer word is broken where it must be."""
    lines: list[str] = []
    for paragraph in text.splitlines() or [""]:
        text_only = plain(paragraph)
        if cells(text_only) <= width:  # as it stands: columns and indents are the author's
            lines.append(text_only)
            continue
        line = text_only[: len(text_only) - len(text_only.lstrip())]
        for word in text_only.split():
            if line and cells(line) + 1 + cells(word) > width:
                lines.append(line)
                line = indent
            line = f"{line} {word}" if line.strip() else f"{line}{word}"
            while cells(line) > width:
                part = cut(line, width).rstrip(" ") if not line.isascii() else line[:width]
                part = part or line[:1]
                lines.append(part)
                line = indent + line[len(part) :]
        lines.append(line)
    return lines


def refilled(text: str, width: int) -> list[str]:
    """Return prose filled to the width: lines of one indent are one paragraph; headings, lists and code keep their lines."""
    lines: list[str] = []
    paragraph = ""
    for line in [*text.expandtabs(4).splitlines(), ""]:
        indent = line[: len(line) - len(line.lstrip())]
        own = not line.strip() or line.lstrip().startswith(LISTED) or len(indent) > PROSE_INDENT
        same = bool(paragraph) and indent == paragraph[: len(paragraph) - len(paragraph.lstrip())] and indent != ""
        if paragraph and (own or not same):
            lines += wrap(paragraph, width, paragraph[: len(paragraph) - len(paragraph.lstrip())])
            paragraph = ""
        if own:
            lines += wrap(line, width, indent) if line.strip() else [""]
        else:
            paragraph = f"{paragraph} {line.strip()}" if paragraph else line
    return lines[:-1]


def joined(parts: Iterable[Line], gap: str = "  ") -> Line:
    """Return the parts as one line with gaps between them."""
    spans: list[Span] = []
    for part in parts:
        if spans:
            spans.append(Span(gap))
        spans.extend(part)
    return tuple(spans)
