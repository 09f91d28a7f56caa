"""Each line that a run may print becomes the event that it means, and ordinary lines become none."""

from __future__ import annotations

import pytest

from gpudoctor.logs.pattern import MAX_TEXT
from gpudoctor.logs.patterns import PATTERNS
from gpudoctor.logs.reader import read_events
from tests.logs.lines import LINES, QUIET
from tests.logs.lines_of_runs import Expected


@pytest.mark.parametrize("expected", LINES, ids=[f"{kind}-{line[:40]}" for line, kind, _ in LINES])
def test_each_line_is_read_with_its_kind_and_fields(expected: Expected) -> None:
    line, kind, fields = expected

    (event,) = read_events([line])

    assert event.kind == kind
    assert {name: event.values.get(name) for name in fields} == dict(fields)


@pytest.mark.parametrize("line", QUIET)
def test_a_near_miss_is_no_event(line: str) -> None:
    assert read_events([line]) == ()


def test_every_row_of_the_table_is_reached_by_a_line() -> None:
    reached = {
        next((index for index, row in enumerate(PATTERNS) if row.read(line, 1) is not None), None)
        for line, _, _ in LINES
    }

    unreached = [f"{row.kind}: {row.anchor!r}" for index, row in enumerate(PATTERNS) if index not in reached]

    assert unreached == []


@pytest.mark.parametrize("expected", LINES, ids=[line[:50] for line, _, _ in LINES])
def test_what_stands_before_a_message_does_not_matter(expected: Expected) -> None:
    line, kind, fields = expected
    bare = line.split("] ", 1)[-1] if ".cc:" in line else line
    prefixes = (
        "2026-11-30T20:41:51.356Z stderr F ",
        "[1,0]<stderr>: ",
        "\x1b[31mtrainer-0  | \x1b[0m2026-11-30 20:41:51.356626: E external/local_xla/xla/some_file_of_tomorrow.cc:4711] ",
        "> ",
    )

    for prefix in prefixes:
        (event,) = read_events([prefix + bare + "\r\n"])
        assert (event.kind, prefix) == (kind, prefix)
        assert {name: event.values.get(name) for name in fields} == dict(fields)


def test_no_row_looks_at_a_source_file_and_its_line() -> None:
    assert [row.kind for row in PATTERNS if ".cc" in row.regex.pattern or ".cc" in row.anchor] == []


def test_a_user_name_that_follows_a_message_is_not_taken() -> None:
    events = read_events([line for line, _, _ in LINES])

    assert [event for event in events if "alice" in event.text or "gandalf" in event.text] == []
    assert all(len(event.text) <= MAX_TEXT for event in events)
