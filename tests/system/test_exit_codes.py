"""The exit codes as a table: findings, thresholds, expectations, baselines, and the documents that come with each."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
import xmlschema

from tests.system.command import assert_clean, bare_environment, gpudoctor
from tests.system.schemas import Schema

MACHINES = Path(__file__).parents[2] / "fixtures/machines"
JUNIT = xmlschema.XMLSchema(Path(__file__).parents[1] / "present/junit.xsd")
CLEAN, FINDINGS, USAGE, UNMET = 0, 1, 2, 3
# one machine with errors, one with a warning at most, one with notes only, one without a GPU
BROKEN, WARNING, HEALTHY, NO_GPU = "v100-driver-450", "a6000-lowered-power-limit", "healthy-t4", "laptop-without-gpu"
TABLE = [
    (HEALTHY, "", CLEAN),
    (HEALTHY, "--fail-on warning", CLEAN),
    (HEALTHY, "--fail-on info", FINDINGS),
    (HEALTHY, "--strict", CLEAN),
    (HEALTHY, "--expect-gpus 1", CLEAN),
    (HEALTHY, "--expect-gpus 2", UNMET),
    (WARNING, "", CLEAN),
    (WARNING, "--fail-on warning", FINDINGS),
    (WARNING, "--fail-on warning --baseline {warning}", CLEAN),
    (WARNING, "--fail-on warning --baseline {empty}", FINDINGS),
    (BROKEN, "", FINDINGS),
    (BROKEN, "--fail-on never", CLEAN),
    (BROKEN, "--expect-gpus 8", UNMET),
    (BROKEN, "--fail-on never --expect-gpus 8", UNMET),
    (BROKEN, "--baseline {broken}", CLEAN),
    (BROKEN, "--baseline {broken} --expect-gpus 8", UNMET),
    (BROKEN, "--baseline {broken} --fail-on info", CLEAN),
    (BROKEN, "--baseline {warning}", FINDINGS),
    (BROKEN, "--baseline {empty}", FINDINGS),
    (BROKEN, "--write-baseline {made}", CLEAN),
    (BROKEN, "--ignore GD1,GD2,GD3", CLEAN),
    (NO_GPU, "", CLEAN),
    (NO_GPU, "--expect-gpus 1", UNMET),
    (NO_GPU, "--strict", UNMET),
    (NO_GPU, "--strict --baseline {empty}", UNMET),
    (HEALTHY, "--baseline {nowhere}", USAGE),
    (HEALTHY, "--baseline {machine}", USAGE),
    (HEALTHY, "--fail-on fatal", USAGE),
    (HEALTHY, "--format yaml", USAGE),
    (HEALTHY, "--select GD999", USAGE),
]


@dataclass(frozen=True, kw_only=True)
class Baselines:
    """Files that a command line of the table names."""

    names: dict[str, str]

    def words(self, line: str) -> list[str]:
        return line.format(**self.names).split()


@pytest.fixture(scope="module")
def baselines(tmp_path_factory: pytest.TempPathFactory) -> Baselines:
    folder = tmp_path_factory.mktemp("baselines")
    names = {
        "made": str(folder / "made.json"),
        "nowhere": str(folder / "nowhere.json"),
        "machine": str(machine(BROKEN)),
    }
    for name, slug in (("broken", BROKEN), ("warning", WARNING)):
        names[name] = str(folder / f"{name}.json")
        words = ("scan", "--snapshot", machine(slug), "--write-baseline", names[name])
        assert gpudoctor(*words, env=bare_environment(folder / "home")).code == 0
    names["empty"] = str(folder / "empty.json")
    Path(names["empty"]).write_text('{"baseline_version": 1, "accepted": []}', encoding="utf-8")
    return Baselines(names=names)


def machine(slug: str) -> Path:
    return MACHINES / slug / "snapshot.json"


@pytest.mark.parametrize(("slug", "line", "code"), TABLE, ids=[f"{slug} {line}" for slug, line, _ in TABLE])
def test_the_exit_code(  # noqa: PLR0917  # a row of the table and what it needs
    slug: str, line: str, code: int, baselines: Baselines, tmp_path: Path, report_schema: Schema
) -> None:
    xml, jsonl = str(tmp_path / "a.xml"), str(tmp_path / "a.jsonl")
    outputs = ["--json", "--format", "junit", "-o", xml, "--format", "jsonl", "-o", jsonl]
    run = gpudoctor(
        "scan", "--snapshot", machine(slug), *outputs, *baselines.words(line), env=bare_environment(tmp_path / "home")
    )
    assert_clean(run)
    assert run.code == code, run.out + run.err
    if "yaml" in line:
        return  # which document goes where cannot be known then; that there is one is tested with --json alone
    report_schema.validate(run.document)
    JUNIT.validate(str(tmp_path / "a.xml"))
    last = json.loads((tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert (last["event"], last["exit_code"]) == ("summary", code)
    failed = (tmp_path / "a.xml").read_text(encoding="utf-8")
    assert ("<failure" in failed or "<error" in failed) is (code != CLEAN)


@pytest.mark.parametrize("form", ["text", "json", "jsonl", "junit", "github", "markdown"])
def test_every_format_is_on_stdout_and_in_a_file_alike(form: str, tmp_path: Path) -> None:
    words, env = ("scan", "--snapshot", machine(BROKEN), "--format", form), bare_environment(tmp_path)
    shown, written = gpudoctor(*words, env=env), gpudoctor(*words, "-o", tmp_path / "report", env=env)
    assert shown.code == written.code == FINDINGS
    assert written.out == ""
    content = (tmp_path / "report").read_text(encoding="utf-8")
    assert len(content.splitlines()) == len(shown.lines)
    assert content.splitlines()[0][:20] == shown.lines[0][:20]


def test_text_stands_on_the_terminal_while_the_others_go_to_files(tmp_path: Path) -> None:
    words = (
        "--format",
        "text",
        "--format",
        "junit",
        "-o",
        tmp_path / "a.xml",
        "--format",
        "markdown",
        "-o",
        tmp_path / "a.md",
    )
    run = gpudoctor("scan", "--snapshot", machine(HEALTHY), *words, env=bare_environment(tmp_path / "home"))
    assert run.lines[0].startswith("Target ")
    JUNIT.validate(str(tmp_path / "a.xml"))
    assert (tmp_path / "a.md").read_text(encoding="utf-8").startswith("## gpudoctor: healthy")


def test_a_run_that_fails_leaves_no_report_of_yesterday(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<testsuites/>", encoding="utf-8")
    words = ("--format", "junit", "-o", tmp_path / "a.xml", "--snapshot", tmp_path / "nowhere.json")
    run = gpudoctor("scan", *words, env=bare_environment(tmp_path / "home"))
    assert run.code == USAGE
    JUNIT.validate(str(tmp_path / "a.xml"))
    assert 'errors="1"' in (tmp_path / "a.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize("place", ["/nowhere/a.xml", "/dev/full"])
def test_a_place_that_cannot_be_written_is_usage(place: str, tmp_path: Path) -> None:
    words = ("--format", "junit", "-o", place)
    run = gpudoctor("scan", "--snapshot", machine(HEALTHY), *words, env=bare_environment(tmp_path))
    assert_clean(run)
    assert run.code == USAGE
    assert place in run.err


def test_what_is_accepted_is_shown_and_said_to_be_accepted(baselines: Baselines, tmp_path: Path) -> None:
    words = baselines.words("--baseline {broken}")
    run = gpudoctor("scan", "--snapshot", machine(BROKEN), *words, env=bare_environment(tmp_path))
    assert "GD101 driver-too-old (accepted)" in run.out
    assert "findings accepted, 0 new" in run.out
    shown = gpudoctor("scan", "--json", "--snapshot", machine(BROKEN), *words, env=bare_environment(tmp_path)).document
    assert all(each["accepted"] for each in shown["findings"])
    assert shown["summary"]["status"] == "broken"
    assert shown["summary"]["counts"]["accepted"] == len(shown["findings"])


HOSTILE = {
    "nested": b"[" * 200_000,
    "huge number": b'{"baseline_version": 1e99999, "accepted": []}',
    "long number": b'{"baseline_version": ' + b"9" * 100_000 + b', "accepted": []}',
    "escapes": b'{"baseline_version": 1, "accepted": [{"code": "\\u001b[31m\\u202e", "cause": 3}]}',
    "raw escapes": b"\x1b[31m\x1b]0;x\x07",
    "a key that steers": b'{"baseline_version": 1, "accepted": [{"\\u001b[2J": 1}]}',
    "binary": bytes(range(256)) * 100,
    "empty": b"",
}


@pytest.mark.parametrize("what", HOSTILE)
@pytest.mark.parametrize("option", ["--baseline", "--snapshot"])
def test_a_hostile_file_is_refused_and_not_shown(what: str, option: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(HOSTILE[what])
    words = ("--snapshot", machine(HEALTHY)) if option == "--baseline" else ()
    run = gpudoctor("scan", *words, option, tmp_path / "bad.json", env=bare_environment(tmp_path / "home"))
    assert_clean(run)
    if option == "--snapshot" and what in {"escapes", "a key that steers", "huge number", "long number"}:
        assert run.code in {CLEAN, USAGE}  # unknown keys of a snapshot are left aside
    else:
        assert (run.code, run.out) == (USAGE, "")
    assert "\x1b" not in run.err + run.out
    assert "\u202e" not in run.err + run.out
    assert len(run.err) < 600


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
@pytest.mark.parametrize("option", ["--baseline", "--snapshot"])
def test_a_device_without_end_is_refused(device: str, option: str, tmp_path: Path) -> None:
    words = ("--snapshot", machine(HEALTHY)) if option == "--baseline" else ()
    run = gpudoctor("scan", *words, option, device, env=bare_environment(tmp_path))
    assert_clean(run)
    assert (run.code, run.out) == (USAGE, "")


def test_a_pipe_without_a_writer_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    run = gpudoctor("scan", "--snapshot", tmp_path / "pipe", env=bare_environment(tmp_path / "home"), limit_s=20)
    assert (run.code, run.out) == (USAGE, "")


def test_the_objects_of_jsonl_are_those_of_the_published_schema(tmp_path: Path, report_schema: Schema) -> None:
    names = {"check": "Verdict", "finding": "Finding", "fix": "Fix", "plugin": "Plugin", "summary": "Summary"}
    words = ("--format", "jsonl", "--snapshot", machine(BROKEN))
    run = gpudoctor("scan", *words, env=bare_environment(tmp_path))
    events = [json.loads(line) for line in run.lines]
    for event in events[1:]:
        report_schema.of(names[event["event"]]).validate(event[event["event"]])
    assert {each["event"] for each in events} == {"scan", *names}
