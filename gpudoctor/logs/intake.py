"""Opens the texts of runs, packed or not, file or stdin, and reads them into one tuple of events in constant memory.

Bytes that are no UTF-8 become signs of replacement: a log is read for its ASCII messages, and refusing the file for one
foreign byte would help nobody.
"""

from __future__ import annotations

import codecs
import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from gpudoctor.errors import UsageError
from gpudoctor.logs import era
from gpudoctor.logs.notebook import LARGEST_BYTES, may_be_notebook, notebook_text
from gpudoctor.logs.patterns.facts import FACT
from gpudoctor.logs.reader import EventReader, Folded
from gpudoctor.logs.slowness import CODE, SAID, STEP, USE
from gpudoctor.model.observed import TEXT_END, LogEvent

BLOCK_BYTES = 1 << 18  # measured: larger blocks are no faster
GZIP_MAGIC = b"\x1f\x8b"
LONGEST_LINE = 1 << 20  # a line without end is cut here: memory stays bounded
STDIN = "-"
# What source holds as well as a text does: words and calls that bear on speed, variables, facts in comments
IN_SOURCE = frozenset({TEXT_END, FACT, SAID, STEP, USE, CODE, "variable", "half_precision"})
WIDE = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))  # what PowerShell's `>` writes


def read_texts(names: Iterable[str]) -> tuple[LogEvent, ...]:
    """Return the folded events of all texts in order. Raises UsageError for one that cannot be read."""
    folded = Folded()
    offset = 0
    listed = tuple(names)
    for name in listed:
        for event in _events_of(name):
            last = replace(event, line=event.line + offset) if offset else event
            folded.add(last, always=last.kind == TEXT_END)
            if last.kind == TEXT_END:
                offset = last.line
    events = folded.result()
    _refuse_source(listed, events)
    return events


def _refuse_source(names: Sequence[str], events: Iterable[LogEvent]) -> None:
    """Raise UsageError where a program was named instead of what it printed: its names and calls are no messages."""
    if names and all(name.endswith(".py") for name in names) and all(each.kind in IN_SOURCE for each in events):
        raise UsageError(f"{names[0]}: this is Python source, not a run's text: gpudoctor run {names[0]}")


def _events_of(name: str) -> Iterator[LogEvent]:
    try:
        if name == STDIN:
            yield from events_in(cast("BinaryIO", sys.stdin.buffer))
            return
        with Path(name).open("rb") as file:
            yield from events_in(file)
    except IsADirectoryError as error:
        raise UsageError(f"{name}: a folder; name the files in it") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UsageError(
            f"{name}: damaged gzip data ({error}); unpack it with `gzip -dc` and read what comes out"
        ) from error
    except OSError as error:
        raise UsageError(f"{name}: cannot be read ({error.strerror or error})") from error


def events_in(source: BinaryIO) -> Iterator[LogEvent]:
    """Yield the events of one stream of bytes, and at its end how many lines it had and which releases print such."""
    reader = EventReader()
    lines = 0
    for block in _blocks(source):
        lines += block.count("\n")
        yield from reader.feed(block)
    yield from reader.finish()
    yield LogEvent(kind=TEXT_END, values={"lines": str(lines), **era.told(reader.newest)}, line=lines)


def _blocks(source: BinaryIO) -> Iterator[str]:
    first = source.read(BLOCK_BYTES)
    if first.startswith(GZIP_MAGIC):
        source = cast("BinaryIO", gzip.GzipFile(mode="rb", fileobj=cast("BinaryIO", _Rejoined(first, source))))
        first = source.read(BLOCK_BYTES)
    if may_be_notebook(first):
        yield from _of_notebook(first, source)
        return
    yield from _decoded(first, source)


def _of_notebook(first: bytes, source: BinaryIO) -> Iterator[str]:
    """Yield the text of a notebook's cells; what only begins like one, or is too large for one, as the text that it is."""
    parts, size = [first], len(first)
    while size <= LARGEST_BYTES and (chunk := source.read(BLOCK_BYTES)):
        parts.append(chunk)
        size += len(chunk)
    data = b"".join(parts)
    text = notebook_text(data) if size <= LARGEST_BYTES else None
    if text is None:
        yield from _decoded(data, source)
        return
    start = 0
    while start < len(text):
        end = text.find("\n", start + BLOCK_BYTES) + 1 or len(text)
        yield text[start:end]
        start = end


def _decoded(first: bytes, source: BinaryIO) -> Iterator[str]:
    encoding = next((name for magic, name in WIDE if first.startswith(magic)), "utf-8")
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    rest, chunk = "", first
    while chunk:
        text = rest + decoder.decode(chunk)
        cut = text.rfind("\n") + 1
        if not cut and len(text) > LONGEST_LINE:
            text, cut = text + "\n", len(text) + 1
        if cut:
            yield text[:cut]
        rest = text[cut:]
        chunk = source.read(BLOCK_BYTES)
    rest += decoder.decode(b"", final=True)
    if rest:
        yield rest + "\n"


class _Rejoined:
    """A stream that gives back what was read from it to look at its kind: stdin cannot be rewound."""

    def __init__(self, first: bytes, rest: BinaryIO) -> None:
        """Take what was read and what is left."""
        self._first, self._rest = first, rest

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        if not self._first:
            return self._rest.read(size)
        if size < 0:
            taken, self._first = self._first + self._rest.read(), b""
            return taken
        taken, self._first = self._first[:size], self._first[size:]
        return taken
