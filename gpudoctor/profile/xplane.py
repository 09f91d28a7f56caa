"""Events of a TensorFlow profile (a serialised XSpace), sorted into kinds: only what is asked for is decoded.

TensorFlow ships the schema, but gpudoctor's own environment need not have TensorFlow, and starting the user's to read a few
sums would take seconds. The wire format of protocol buffers is stable by contract; the field numbers are those of xplane.proto.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from gpudoctor.model.record import dataclass
from gpudoctor.profile.spans import Span

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # protobuf's wire types
PLANES, PLANE_NAME, PLANE_LINES, PLANE_EVENTS = 1, 2, 3, 4  # XSpace.planes; XPlane.name, lines, event_metadata
PLANE_STATS = 5  # XPlane.stat_metadata
LINE_NAME, LINE_START_NS, LINE_EVENTS = 2, 3, 4  # XLine.name, timestamp_ns, events
EVENT_KIND, EVENT_OFFSET_PS, EVENT_DURATION_PS = 1, 2, 3  # XEvent.metadata_id, offset_ps, duration_ps
EVENT_STATS = 4  # XEvent.stats
STAT_KIND, STAT_UINT, STAT_INT, STAT_TEXT, STAT_REFERENCE = 1, 3, 4, 5, 7  # XStat.metadata_id and its values but double
MAP_VALUE, KIND_ID, KIND_NAME = 2, 1, 2  # map entry; XEventMetadata.id, name; XStatMetadata has the same
PICO = 1e-12
NANO = 1e-9

Sort = Callable[[str, str, str], str]  # names of plane, line (a thread) and event -> kind, "" for what is not wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    """One plane: its name and the spans (start, end in seconds) of the wanted events by kind."""

    name: str
    events: dict[str, list[Span]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event of a thread with its statistics: numbers as they are (64 bits without a sign), references as their text."""

    name: str
    start: float
    end: float
    stats: Mapping[str, int | str]


def threads(data: bytes, plane: str, wanted: Callable[[str], bool]) -> Iterator[list[Event]]:
    """Yield each thread's wanted events of a plane. Raises ValueError for anything but an XSpace."""
    try:
        for number, value in _fields(memoryview(data)):
            if number == PLANES and isinstance(value, memoryview):
                yield from _threads(value, plane, wanted)
    except IndexError as error:
        message = "not a profile: it ends in the middle"
        raise ValueError(message) from error


def _threads(data: memoryview, plane: str, wanted: Callable[[str], bool]) -> Iterator[list[Event]]:
    parts = [(number, value) for number, value in _fields(data) if isinstance(value, memoryview)]
    if next((_text(value) for number, value in parts if number == PLANE_NAME), "") != plane:
        return
    known = (_kind(value) for number, value in parts if number == PLANE_EVENTS)
    names = {key: name for key, name in known if wanted(name)}
    words = dict(_kind(value) for number, value in parts if number == PLANE_STATS)
    for number, value in parts:
        if number == PLANE_LINES:
            yield list(_events(value, names, words))


def _events(data: memoryview, names: dict[int, str], words: dict[int, str]) -> Iterator[Event]:
    start = next((each for key, each in _fields(data) if key == LINE_START_NS and isinstance(each, int)), 0)
    for number, value in _fields(data):
        if number == LINE_EVENTS and isinstance(value, memoryview):
            event = _event(value, names)
            if event is not None:
                kind, offset, duration = event
                begin = start * NANO + offset * PICO
                yield Event(
                    name=names[kind], start=begin, end=begin + duration * PICO, stats=dict(_stats(value, words))
                )


def _stats(data: memoryview, words: dict[int, str]) -> Iterator[tuple[str, int | str]]:
    for number, value in _fields(data):
        if number == EVENT_STATS and isinstance(value, memoryview):
            kind = 0
            found: int | str | None = None
            for key, each in _fields(value):
                if key == STAT_KIND and isinstance(each, int):
                    kind = each
                elif key == STAT_REFERENCE and isinstance(each, int):
                    found = words.get(each, "")
                elif key in {STAT_UINT, STAT_INT, STAT_TEXT}:
                    found = each if isinstance(each, int) else _text(each)
            if found is not None:
                yield words.get(kind, ""), found


def planes(data: bytes, sort: Sort) -> Iterator[Plane]:
    """Yield the planes with the events that are wanted. Raises ValueError for anything but an XSpace."""
    try:
        for number, value in _fields(memoryview(data)):
            if number == PLANES and isinstance(value, memoryview):
                yield _plane(value, sort)
    except IndexError as error:
        message = "not a profile: it ends in the middle"
        raise ValueError(message) from error


def _plane(data: memoryview, sort: Sort) -> Plane:
    parts = [(number, value) for number, value in _fields(data) if isinstance(value, memoryview)]
    name = next((_text(value) for number, value in parts if number == PLANE_NAME), "")
    names = dict(_kind(value) for number, value in parts if number == PLANE_EVENTS)
    events: dict[str, list[Span]] = {}
    for number, value in parts:
        if number == PLANE_LINES:
            line = next((_text(each) for key, each in _fields(value) if key == LINE_NAME), "")
            kinds = {key: kind for key, event in names.items() if (kind := sort(name, line, event))}
            for kind, span in _line(value, kinds) if kinds else ():
                events.setdefault(kind, []).append(span)
    return Plane(name=name, events=events)


def _text(value: int | memoryview) -> str:
    return bytes(value).decode("utf-8", "replace") if isinstance(value, memoryview) else ""


def _kind(entry: memoryview) -> tuple[int, str]:
    key, name = 0, ""
    for number, value in _fields(entry):
        if number == MAP_VALUE and isinstance(value, memoryview):
            for inner, each in _fields(value):
                if inner == KIND_ID and isinstance(each, int):
                    key = each
                elif inner == KIND_NAME and isinstance(each, memoryview):
                    name = _text(each)
    return key, name


def _line(data: memoryview, chosen: dict[int, str]) -> Iterator[tuple[str, Span]]:
    start, found = 0, list[tuple[int, int, int]]()
    for number, value in _fields(data):
        if number == LINE_START_NS and isinstance(value, int):
            start = value
        elif number == LINE_EVENTS and isinstance(value, memoryview):
            event = _event(value, chosen)
            if event is not None:
                found.append(event)
    for kind, offset, duration in found:
        begin = start * NANO + offset * PICO
        yield chosen[kind], (begin, begin + duration * PICO)


def _event(data: memoryview, chosen: dict[int, str]) -> tuple[int, int, int] | None:
    kind = offset = duration = 0
    for number, value in _fields(data):
        if not isinstance(value, int):
            break  # statistics come behind the numbers
        if number == EVENT_KIND:
            kind = value
            if kind not in chosen:
                return None
        elif number == EVENT_OFFSET_PS:
            offset = value
        elif number == EVENT_DURATION_PS:
            duration = value
    return (kind, offset, duration) if kind in chosen else None


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield (field number, value) of one message."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == VARINT:
            value, at = _varint(data, at)
            yield tag >> 3, value
        elif kind == BYTES:
            size, at = _varint(data, at)
            if at + size > end:
                raise IndexError(at)
            yield tag >> 3, data[at : at + size]
            at += size
        elif kind in {FIXED64, FIXED32}:
            at += 8 if kind == FIXED64 else 4
        else:
            message = f"not a profile: wire type {kind}"
            raise ValueError(message)


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
