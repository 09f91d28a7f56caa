"""Every machine of `fixtures/machines` replayed by the real command: the size of the report, its schema, its exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.system.command import assert_clean, assert_readable, bare_environment, gpudoctor
from tests.system.schemas import Schema

MACHINES = sorted(
    each
    for each in Path(__file__).parents[2].glob("fixtures/machines/*/snapshot.json")
    if not each.parent.name.startswith("forum-")  # those are judged by their text, see tests/test_corpus.py
)
each_machine = pytest.mark.parametrize("machine", MACHINES, ids=lambda path: path.parent.name)
healthy_ones = pytest.mark.parametrize(
    "machine", [each for each in MACHINES if each.parent.name.startswith("healthy-")], ids=lambda path: path.parent.name
)


@each_machine
def test_the_text_fits_the_screen_the_json_its_schema_and_the_exit_code_the_findings(
    machine: Path, tmp_path: Path, report_schema: Schema
) -> None:
    both = ("--format", "text", "-o", "-", "--format", "json", "-o", tmp_path / "report.json")
    run = gpudoctor("scan", "--snapshot", machine, *both, env=bare_environment(tmp_path))
    assert_clean(run)
    assert_readable(run)
    assert not run.err
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    report_schema.validate(report)
    broken = any(each["severity"] == "error" for each in report["findings"])
    assert run.code == (1 if broken else 0)
    assert (report["summary"]["status"] == "broken") is broken


@healthy_ones
def test_a_healthy_machine_is_healthy_and_exits_0(machine: Path, tmp_path: Path) -> None:
    run = gpudoctor("scan", "--json", "--fail-on", "warning", "--snapshot", machine, env=bare_environment(tmp_path))
    assert (run.document["summary"]["status"], run.code) == ("healthy", 0)
    assert {each["severity"] for each in run.document["findings"]} <= {"info"}


def test_a_trained_scan_shows_where_its_time_went(tmp_path: Path) -> None:
    machine = next(each for each in MACHINES if each.parent.name == "healthy-h100")
    run = gpudoctor("scan", "-v", "--snapshot", machine, env=bare_environment(tmp_path))
    times = [line.split()[1] for line in run.lines if line.startswith("  time ")]
    assert {"import", "baseline", "gradcheck"} <= set(times), run.out


def test_dash_reads_the_snapshot_from_stdin(tmp_path: Path) -> None:
    machine = MACHINES[0]
    env = bare_environment(tmp_path)
    piped = gpudoctor("scan", "--json", "--snapshot", "-", env=env, stdin=machine.read_bytes())
    named = gpudoctor("scan", "--json", "--snapshot", machine, env=env)
    assert piped.document["findings"] == named.document["findings"]


def test_a_report_can_be_replayed_like_a_snapshot(tmp_path: Path) -> None:
    env = bare_environment(tmp_path)
    report = gpudoctor("scan", "--json", "--snapshot", MACHINES[0], env=env)
    (tmp_path / "report.json").write_text(report.out, encoding="utf-8")
    again = gpudoctor("scan", "--json", "--snapshot", tmp_path / "report.json", env=env)
    assert again.document["findings"] == report.document["findings"]
