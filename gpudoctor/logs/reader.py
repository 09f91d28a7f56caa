"""Turns the text of a run into typed events, in constant memory.

Lines are joined into blocks before they are looked at: nearly all lines mean nothing, and finding that out line by line
costs more than all the rest. Each new kind of message is a row in `patterns/`, never code here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice

from gpudoctor.logs import bfc, empty_list, era, forms
from gpudoctor.logs.pattern import Pattern
from gpudoctor.logs.patterns import PATTERNS
from gpudoctor.logs.patterns.facts import FACT
from gpudoctor.logs.patterns.memory import OOM
from gpudoctor.logs.patterns.noise import HARMLESS
from gpudoctor.logs.sieve import Line, Sieve
from gpudoctor.logs.slowness import Post
from gpudoctor.logs.text import printable, size_bytes, without_escapes
from gpudoctor.logs.told import told_in_post
from gpudoctor.model.observed import LogEvent

LINES_IN_BLOCK = 2000
# Distinct events kept when equal ones are folded; a log that says more different things is noise, and this bounds memory.
MAX_DISTINCT = 5000
DUMP_ANCHORS = frozenset(bfc.ANCHORS)
FORM_ANCHORS = frozenset(forms.ANCHORS)
# What stands before a message and differs each time: TensorFlow's own times, absl's with its thread.
STAMP = re.compile(
    r"(?:\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]?\d{0,9}Z?:? |[IWEF]\d{4} \d\d:\d\d:[\d.]{2,24} {1,8}\d{1,8} )"
)
TELL_OF_MACHINE = frozenset({FACT, "gpu_created", "gpu_found", "gpu_skipped"})
MAX_KNOWN = 4096  # messages remembered with what they mean, for a log that says the same thousands of times


class EventReader:
    """Reads blocks of whole lines, one after the other; an allocator's dump may span them."""

    def __init__(self, patterns: tuple[Pattern, ...] = PATTERNS) -> None:
        """Take the table; a caller may bring a longer one."""
        self._sieve = Sieve(
            chain((each.anchor for each in patterns), bfc.ANCHORS, forms.ANCHORS, (empty_list.ANCHOR,)),
            runs=bfc.RUN_WORDS,
            whole=bfc.WHOLE_WORDS,
            end=bfc.END,
        )
        self._patterns = patterns
        self._chosen: dict[tuple[str, ...], tuple[Pattern, ...]] = {}
        self._line = 1
        self._held = ""  # a heading at a block's end, whose answer comes with the next block
        self._dump = bfc.DumpReader()
        self._oom: LogEvent | None = None
        self._known: dict[str, LogEvent | None] = {}
        self.newest = ""  # the newest release that prints such a text, where something bounds it
        self._post = Post()
        self._told: set[str] = set()  # what programs and forms tell of the machine

    def feed(self, block: str) -> Iterator[LogEvent]:
        """Yield the events that the block completes; the block is a number of whole lines.

        What was said before comes once for a block, with its count.
        """
        block = without_escapes(block)
        self._post.feed(block)
        block = self._held + block
        block, self._held = forms.cut(block)
        yield from self._feed(block)

    def _feed(self, block: str) -> Iterator[LogEvent]:
        counted = 0
        again: dict[str, list[int]] = {}  # message: its first line in this block, how often
        for line in self._sieve.lines(block):
            self._line += block.count("\n", counted, line.start)
            counted = line.start
            answer = forms.answered(block, line.start, self._line) if line.anchor in FORM_ANCHORS else None
            if line.anchor == empty_list.ANCHOR:
                answer = empty_list.none_listed(block, line.start, self._line)
            if answer is not None:
                self._told.update(answer.values)
                yield answer
            elif not self._said_before(line, again):
                yield from self._read(line)
        self._line += block.count("\n", counted)
        for body, (first, count) in again.items():
            event = self._known.get(body)
            if event is not None:
                yield replace(event, line=first, count=count)

    def _said_before(self, line: Line, again: dict[str, list[int]]) -> bool:
        """Count a message that is known; while a dump is open each line is read, since it may end the dump."""
        if line.anchor in DUMP_ANCHORS or self._oom is not None or self._dump.started():
            return False
        body = _message(line.text)
        if body not in self._known:
            return False
        if body in again:
            again[body][1] += 1
        else:
            again[body] = [self._line, 1]
        return True

    def finish(self) -> Iterator[LogEvent]:
        """Yield what the end of the text completes: a dump that was cut off."""
        rest, self._held = self._held, ""
        yield from self._feed(rest)
        yield from self._close_dump()
        yield from self._post.events()
        # last, so that what a program prints has the first word
        for values in told_in_post(self._post.text(), self._told):
            yield LogEvent(kind=FACT, text="told in the text", values=values, line=1)

    def _read(self, line: Line) -> Iterator[LogEvent]:
        if line.anchor in DUMP_ANCHORS and "\n" in line.text:  # thousands of lines in a row: the short way
            self._dump.feed_run(line.text)
            return
        if line.anchor in DUMP_ANCHORS and self._dump.feed(line.text):
            return
        self.newest = era.narrowed(self.newest, line.text)
        text = printable(line.text)
        anchors = self._sieve.anchors(text)
        event = next((event for each in self._rows(anchors) if (event := each.read(text, self._line))), None)
        if line.anchor not in DUMP_ANCHORS and (event is None or event.kind != OOM):
            self._remember(line.text, event)
        if event is None:
            if bfc.END in anchors:
                yield from self._close_dump()
        elif event.kind == OOM:
            yield from self._close_dump()
            self._open_dump(event)
        else:
            # the generic hint stands between an allocator's message and its dump
            if self._dump.started() and event.kind != HARMLESS:  # noise of another thread stands between
                yield from self._close_dump()
            if event.kind in TELL_OF_MACHINE:
                self._told.update(event.values)
            yield event

    def _remember(self, text: str, event: LogEvent | None) -> None:
        if len(self._known) < MAX_KNOWN:
            self._known[_message(text)] = event

    def _rows(self, anchors: tuple[str, ...]) -> tuple[Pattern, ...]:
        if anchors not in self._chosen:
            # the sieve finds the shorter of two anchors where one begins the other
            self._chosen[anchors] = tuple(each for each in self._patterns if each.anchor.startswith(anchors))
        return self._chosen[anchors]

    def _open_dump(self, event: LogEvent) -> None:
        asked = event.values.get("asked_bytes") or str(size_bytes(event.values["asked"]) or "")
        self._oom = event
        self._dump = bfc.DumpReader(
            allocator=event.values["allocator"],
            asked_bytes=int(asked) if asked else None,
            op=event.values.get("op", ""),
        )

    def _close_dump(self) -> Iterator[LogEvent]:
        dump, oom = self._dump, self._oom
        self._dump, self._oom = bfc.DumpReader(), None
        if dump.started():
            event = oom or LogEvent(kind=OOM, text="(the beginning of an allocator's dump is missing)", line=self._line)
            # built anew: `replace` costs more than all the rest of a short dump's end
            values = {**event.values, **dump.result().values()}
            yield LogEvent(kind=event.kind, text=event.text, values=values, line=event.line, count=event.count)
        elif oom is not None:
            yield oom


def _message(text: str) -> str:
    """Return the line without the time before it."""
    stamp = STAMP.match(text)
    return text if stamp is None else text[stamp.end() :]


class Folded:
    """Folds equal events into the first, with a count; bounded, as a log that says more different things is noise."""

    def __init__(self) -> None:
        """Begin with none."""
        self._events: dict[tuple[str, tuple[tuple[str, str], ...]], LogEvent] = {}
        self._counts: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}

    def __len__(self) -> int:
        """Return how many are kept."""
        return len(self._counts)

    def add(self, event: LogEvent, *, always: bool = False) -> bool:
        """Take one event and return whether it is kept as a new one; `always`: also where there are many already."""
        key = (event.kind, tuple(sorted(event.values.items())))
        if key in self._counts:
            self._counts[key] += event.count
            return False
        if always or len(self._counts) < MAX_DISTINCT:
            self._events[key] = event
            self._counts[key] = event.count
            return True
        return False

    def counts(self) -> tuple[int, ...]:
        """Return how often each was said, in the order in which they came."""
        return tuple(self._counts.values())

    def result(self) -> tuple[LogEvent, ...]:
        """Return the events in the order of their lines."""
        counted = (
            event if event.count == self._counts[key] else replace(event, count=self._counts[key])
            for key, event in self._events.items()
        )
        return tuple(sorted(counted, key=lambda each: each.line))


def stream_events(lines: Iterable[str]) -> Iterator[LogEvent]:
    """Yield each event as its block is read; lines may bear their line ends or not."""
    reader = EventReader()
    for block in _blocks(lines):
        yield from reader.feed(block)
    yield from reader.finish()


def read_events(lines: Iterable[str]) -> tuple[LogEvent, ...]:
    """Return the events of a text, equal ones folded into the first with a count, in the order of their lines."""
    folded = Folded()
    for event in stream_events(lines):
        folded.add(event)
    return folded.result()


def _blocks(lines: Iterable[str]) -> Iterator[str]:
    source = iter(lines)
    while batch := list(islice(source, LINES_IN_BLOCK)):
        block = "".join(batch)
        if block.count("\n") != len(batch) or not block.endswith("\n"):  # some have no line end of their own
            block = "".join(each if each.endswith("\n") else each + "\n" for each in batch)
        yield block
