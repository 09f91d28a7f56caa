"""`--format` and `-o` pair up in the order in which they are given; what cannot be meant is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.cli.main import main
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


@pytest.mark.parametrize(
    "words",
    [
        ["scan", "-o", ""],
        ["scan", "--output="],
        ["scan", "--json", "-o", "", "--level", "quick"],
        ["scan", "--save-snapshot", ""],
        ["scan", "--write-baseline", ""],
        ["scan", "--snapshot="],
        ["log", "x", "-o", ""],
        ["report", "-o", ""],
        ["bundle", "--yes", "-o", ""],
        ["run", "--python", "", "--", "x.py"],
    ],
)
def test_an_empty_name_is_refused_wherever_a_file_is_named(words: list[str]) -> None:
    with pytest.raises(UsageError, match="the name is empty"):
        parse(words)


def test_an_archive_is_not_written_to_a_file_called_like_stdout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["bundle", "--yes", "-o", "-"]) == 2
    assert "not written to stdout" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["--write-baseline", "--save-snapshot", "-o"])
def test_a_place_that_cannot_be_written_is_told_with_the_option_that_chose_it(
    tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "machine.json").write_text("{}")
    main(["scan", "--snapshot", str(tmp_path / "machine.json"), option, "/dev/full"])
    assert f"choose another place with {option}\n" in capsys.readouterr().err
