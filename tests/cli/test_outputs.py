"""`--format` and `-o` pair up in the order in which they are given; what cannot be meant is refused."""

from __future__ import annotations

import pytest

from gpudoctor.cli.outputs import Output, paired
from gpudoctor.cli.parser import parse
from gpudoctor.errors import UsageError


def asked(line: str) -> list[tuple[str, str]]:
    arguments = parse(["scan", *line.split()])
    assert arguments is not None
    return [(each.format, each.place) for each in paired(arguments.outputs)]


@pytest.mark.parametrize(
    ("line", "outputs"),
    [
        ("", [("text", "-")]),
        ("--json", [("json", "-")]),
        ("--format json", [("json", "-")]),
        ("-o a.txt", [("text", "a.txt")]),
        ("--json -o a.json", [("json", "a.json")]),
        ("-o a.json --json", [("json", "a.json")]),
        ("--format junit -o a.xml --format json -o b.json", [("junit", "a.xml"), ("json", "b.json")]),
        ("-o a.xml --format junit -o b.json --format json", [("junit", "a.xml"), ("json", "b.json")]),
        ("--format text --format junit -o a.xml", [("text", "-"), ("junit", "a.xml")]),
        ("--format junit -o a.xml --format text", [("junit", "a.xml"), ("text", "-")]),
        ("--format github --format markdown -o s.md", [("github", "-"), ("markdown", "s.md")]),
        ("--format jsonl -o -", [("jsonl", "-")]),
    ],
)
def test_each_format_finds_its_place(line: str, outputs: list[tuple[str, str]]) -> None:
    assert sorted(asked(line)) == sorted(outputs)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--format json --format junit", "both go to stdout"),
        ("--json --format text -o -", "both go to stdout"),
        ("--format json -o a --format junit -o a", "both go to a"),
        ("-o a -o b", "-o a has no report"),
        ("--json -o a -o b", "-o b has no report"),
        ("--format yaml", "invalid choice: 'yaml'"),
    ],
)
def test_what_cannot_be_meant_is_refused(line: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        asked(line)


def test_an_output_knows_where_it_goes() -> None:
    assert Output(format="json").on_stdout
    assert not Output(format="json", place="a").on_stdout
