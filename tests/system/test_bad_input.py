"""What cannot be understood, read or written: a clear sentence on stderr, the right exit code, never a traceback.

With --json there is a document on stdout all the same, so that a caller need not parse prose.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.fakes import FURTHER_SCENARIOS, environment
from tests.side_by_side import together
from tests.system.command import GPUDOCTOR, TRACEBACK, Run, assert_clean, bare_environment, gpudoctor
from tests.system.schemas import Schema

MACHINE = Path(__file__).parents[2] / "fixtures/machines/healthy-t4/snapshot.json"
USAGE, INTERRUPTED = 2, 130
WORDS: dict[str, tuple[tuple[str, ...], str]] = {
    "an unknown command": (("scna",), r"did you mean 'scan'|invalid choice: 'scna'"),
    "an unknown option": (("scan", "--jsn"), r"unknown option '--jsn' \(did you mean --json\?\)"),
    "an abbreviated option": (("scan", "--verb"), r"unknown option '--verb'"),
    "an option of another command": (("checks", "--level", "quick"), r"unknown option '--level'"),
    "an unknown level": (("scan", "--level", "qick"), r"invalid choice: 'qick'"),
    "an unknown threshold": (("scan", "--fail-on", "fatal"), r"invalid choice: 'fatal'"),
    "an option without its value": (("scan", "--python"), r"--python: expected one argument"),
    "a word too many": (("scan", "train.py"), r"'train.py'"),
    "an unknown code": (("scan", "--select", "GD999"), r"no check is called 'GD999'.*gpudoctor checks"),
    "a misspelt slug": (("scan", "--ignore", "thottle"), r"did you mean 'throttle'"),
    "an empty name": (("scan", "--select", "GD101,,GD103"), r"--select: an empty name"),
    "a negative number of GPUs": (("scan", "--expect-gpus", "-1"), r"--expect-gpus"),
    "a number of GPUs that is a word": (("scan", "--expect-gpus", "all"), r"whole number is expected, not 'all'"),
    "no time at all": (("scan", "--timeout", "0"), r"seconds above 0 is expected, not '0'"),
    "a time that is no number": (("scan", "--timeout", "nan"), r"seconds above 0 is expected, not 'nan'"),
    "a page that is not there": (("explain", "thrtle"), r"nothing is called 'thrtle' \(did you mean 'throttle'\?\)"),
    "an unknown trial": (("probe", "--trial", "basline"), r"did you mean 'baseline'"),
    "an unknown document": (("schema", "reprot"), r"invalid choice: 'reprot'"),
}
FILES: dict[str, tuple[bytes, str]] = {
    "is empty": (b"", r"not JSON"),
    "is cut off": (b'{"schema_version": 1, "host": {', r"not JSON"),
    "is not UTF-8": (b'{"tool_version": "\xff\xfe"}', r"not JSON"),
    "is no text at all": (bytes(range(256)) * 64, r"not JSON"),
    "is a list": (b"[]", r"a JSON object is expected"),
    "is nested without end": (b"[" * 200_000, r"not JSON"),
    "holds a nested object without end": (b'{"env":' * 100_000, r"not JSON"),
    "is newer": (b'{"schema_version": 2}', r"newer gpudoctor \(schema 2, this one reads 1\); upgrade gpudoctor"),
    "has a version that is a word": (b'{"schema_version": "one"}', r"schema_version must be a whole number"),
    "has a text for a group": (b'{"nvml": "ok"}', r"not a snapshot this gpudoctor can read.*nvml"),
    "has a text for a number": (b'{"gpus": [{"index": "0"}]}', r"not a snapshot this gpudoctor can read.*index"),
    "is another tool's JSON": (b'{"snapshot": {"gpus": {}}}', r"not a snapshot this gpudoctor can read.*gpus"),
}
SETTINGS: dict[str, tuple[bytes, str]] = {
    "is no TOML": (b"fail-on = \n", r"not valid TOML: .*line 1"),
    "is not UTF-8": (b'python = "\xff"\n', r"not UTF-8 \(byte 10\)"),
    "has an unknown key": (b'fail_on = "error"\n', r"unknown key 'fail_on'; did you mean 'fail-on'\?"),
    "has a key of another type": (b'strict = "yes"\n', r"strict must be true or false, not 'yes'"),
    "has a number for a list": (b"select = 3\n", r"select must be a list"),
    "has a word for a time": (b'timeout = "long"\n', r"timeout must be a number"),
    "has a time below zero": (b"timeout = -3\n", r"timeout"),
    "has an unknown threshold": (b'fail-on = "fatal"\n', r"fail-on must be one of"),
    "has an unknown severity": (b'[rules.GD801]\nseverity = "fatal"\n', r"severity must be one of"),
    "has an unknown rule": (b'[rules.GD999]\nseverity = "error"\n', r"rules.GD999: no check has this code"),
    "has a rule for a family": (b'[rules.GD8]\nseverity = "error"\n', r"rules.GD8: no check .*did you mean 'GD8"),
    "selects what is not there": (b'select = ["GD999"]\n', r"no check is called 'GD999'"),
}
VARIABLES: dict[str, tuple[dict[str, str], str]] = {
    "a time that is a word": ({"GPUDOCTOR_TIMEOUT": "long"}, r"GPUDOCTOR_TIMEOUT: a number of seconds"),
    "a time below zero": ({"GPUDOCTOR_TIMEOUT": "-3"}, r"timeout"),
    "an unknown threshold": ({"GPUDOCTOR_FAIL_ON": "fatal"}, r"fail-on must be one of"),
    "an unknown check": ({"GPUDOCTOR_IGNORE": "GD999"}, r"no check is called 'GD999'"),
}


@pytest.fixture
def refused(tmp_path: Path, report_schema: Schema) -> Callable[..., Run]:
    """Return a function that asserts how a run is refused, as text and as JSON."""

    def check(
        *arguments: str | Path, says: str, code: int = USAGE, folder: Path | None = None, **variables: str
    ) -> Run:
        env = bare_environment(tmp_path / "home", **variables)
        ask = partial(gpudoctor, *arguments, env=env, folder=folder)
        text, json = together(ask, partial(ask, "--json"))
        assert_refusal(text, says, code)
        assert not text.out or text.lines[0].startswith("Target ")
        assert_refusal(json, says if arguments[0] in {"scan", "probe"} else "", code)  # others know no --json
        report_schema.validate(json.document)
        assert json.document["summary"]["status"] == "unknown"
        assert json.document["tool"]["exit_code"] == str(code)
        return text

    return check


def assert_refusal(run: Run, says: str, code: int) -> None:
    assert_clean(run)
    assert run.code == code, run.err
    assert len(run.err.splitlines()) == 1, run.err
    assert run.err.startswith("gpudoctor: ")
    assert re.search(says, run.err), run.err


@pytest.mark.parametrize("what", WORDS)
def test_words_that_are_not_understood(what: str, refused: Callable[..., Run]) -> None:
    arguments, says = WORDS[what]
    refused(*arguments, says=says)


@pytest.mark.parametrize("what", FILES)
def test_a_snapshot_that(what: str, refused: Callable[..., Run], tmp_path: Path) -> None:
    data, says = FILES[what]
    (tmp_path / "bad.json").write_bytes(data)
    run = refused("scan", "--snapshot", tmp_path / "bad.json", says=says)
    assert "bad.json" in run.err
    assert len(run.err) < 1000


def test_a_snapshot_that_is_not_there_or_cannot_be_read(refused: Callable[..., Run], tmp_path: Path) -> None:
    cure = r"cannot be read \(.+\); make one with `gpudoctor scan --save-snapshot FILE`"
    refused("scan", "--snapshot", tmp_path / "absent.json", says=cure)
    refused("scan", "--snapshot", tmp_path, says=cure)
    refused("scan", "--snapshot", unreadable(tmp_path), says=cure)


def test_a_snapshot_that_is_far_too_large(refused: Callable[..., Run], tmp_path: Path) -> None:
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    refused("scan", "--snapshot", tmp_path / "large.json", says=r"larger than 64 MiB")


def unreadable(folder: Path) -> Path:
    """Return a file that even this user cannot read: root may read everything but a process's memory at zero."""
    if os.geteuid() == 0:
        return Path("/proc/self/mem")
    path = folder / "closed.json"
    path.write_text("{}", encoding="utf-8")
    path.chmod(0)
    return path


@pytest.mark.parametrize("what", SETTINGS)
def test_a_configuration_that(what: str, refused: Callable[..., Run], tmp_path: Path) -> None:
    data, says = SETTINGS[what]
    project = tmp_path / "project"
    project.mkdir()
    (project / "gpudoctor.toml").write_bytes(data)
    run = refused("scan", "--snapshot", MACHINE, says=says, folder=project)
    assert "gpudoctor.toml" in run.err or "no check" in run.err


def test_a_configuration_that_cannot_be_read(refused: Callable[..., Run], tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "gpudoctor.toml").symlink_to(unreadable(tmp_path))
    refused("scan", "--snapshot", MACHINE, says=r"gpudoctor.toml: cannot be read", folder=tmp_path / "project")


@pytest.mark.parametrize("what", VARIABLES)
def test_a_variable_with(what: str, refused: Callable[..., Run]) -> None:
    variables, says = VARIABLES[what]
    refused("scan", "--snapshot", MACHINE, says=says, **variables)


def test_an_interpreter_that_is_none(refused: Callable[..., Run], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "data").write_text("not a program", encoding="utf-8")
    silent = script(tmp_path / "silent", "exit 3")
    talks = script(tmp_path / "talks", "echo hello; echo oops >&2")
    cure = r".*for example --python .venv/bin/python"
    for python, says in (
        (tmp_path / "absent", "no such file or command"),
        ("no-such-command", "no such file or command"),
        (tmp_path / "empty", "a folder without bin/python"),
        (tmp_path / "data", "not executable"),
        (silent, r"is not a working Python \(exit code 3\)"),
        (talks, r"is not a working Python \(oops\)"),
        ("/bin/true", "is not a working Python"),
    ):
        refused("scan", "--level", "quick", "--python", python, says=says + cure)


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def closed_folder(folder: Path) -> Path:
    """Return a folder in which even this user can make no file."""
    if os.geteuid() == 0:
        return Path("/proc/self")
    folder.mkdir()
    folder.chmod(0o555)
    return folder


@pytest.mark.parametrize("option", ["-o", "--save-snapshot"])
def test_a_place_that_cannot_be_written(option: str, refused: Callable[..., Run], tmp_path: Path) -> None:
    says = r"cannot be written \(.+\); choose another place"
    for place in (closed_folder(tmp_path / "closed") / "out.json", tmp_path / "absent" / "out.json", tmp_path):
        refused("scan", "--snapshot", MACHINE, option, place, says=says)


def test_a_failed_write_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    run = gpudoctor(
        "scan", "--snapshot", MACHINE, "-o", tmp_path / "absent" / "x", env=bare_environment(tmp_path / "h")
    )
    assert run.code == USAGE
    assert [each.name for each in tmp_path.iterdir()] == ["h"]


def shell(line: str, env: dict[str, str], **programs: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash, as people write it, with the exit codes of all parts of its pipe on the last line."""
    command = " ".join(GPUDOCTOR)
    text = line.format(gpudoctor=command, **programs)
    return subprocess.run(
        ["bash", "-c", text], env=env, cwd=env["HOME"], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("form", ["", "--json"])
@pytest.mark.parametrize("reader", ["head -1", "head -c 10", "true"])
def test_a_reader_that_goes_away_early(form: str, reader: str, tmp_path: Path) -> None:
    line = "{gpudoctor} scan {form} --snapshot {machine} | {reader} >/dev/null; echo ${{PIPESTATUS[0]}}"
    done = shell(line, bare_environment(tmp_path), form=form, machine=str(MACHINE), reader=reader)
    assert (done.stderr, done.stdout) == ("", "0\n")


@pytest.mark.parametrize("words", ["checks", "--help", "schema", "env --timeout 1", "explain GD101"])
def test_every_command_survives_a_reader_that_goes_away(words: str, tmp_path: Path) -> None:
    done = shell("{gpudoctor} {words} | true; echo ${{PIPESTATUS[0]}}", bare_environment(tmp_path), words=words)
    assert (done.stderr, done.stdout) == ("", "0\n")


@pytest.mark.parametrize("form", ["", "--json"])
@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_closed_standard_streams(form: str, redirection: str, tmp_path: Path) -> None:
    line = "{gpudoctor} scan {form} --snapshot {machine} {redirection}; code=$?; exit $code"
    done = shell(line, bare_environment(tmp_path), form=form, machine=str(MACHINE), redirection=redirection)
    assert TRACEBACK not in done.stderr
    assert "internal error" not in done.stderr
    assert done.returncode == 0, done.stderr


def test_a_closed_stdout_does_not_stop_a_report_from_being_written(tmp_path: Path) -> None:
    line = "{gpudoctor} scan --level quick --timeout 1 -o {out} >&-"
    done = shell(line, bare_environment(tmp_path / "home"), out=str(tmp_path / "out.txt"))
    assert (done.returncode, TRACEBACK in done.stderr) == (0, False), done.stderr
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").splitlines()[-1].startswith(("Next:", "More:"))


def test_a_full_disk_under_stdout_is_said(tmp_path: Path) -> None:
    done = shell(
        "{gpudoctor} scan --json --snapshot {machine} >/dev/full", bare_environment(tmp_path), machine=str(MACHINE)
    )
    assert TRACEBACK not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert re.search(r"^gpudoctor: .*[Nn]o space left", done.stderr), done.stderr
    assert done.returncode not in {0, 1, 3}


def test_an_interrupt_ends_the_scan_in_one_line(tmp_path: Path) -> None:
    env = environment(FURTHER_SCENARIOS["hang_at_init"], tmp_path)
    command = [*GPUDOCTOR, "scan", "--level", "quick", "--timeout", "600"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the target's line: the sources are being asked
        _wait_for(tmp_path / "nvml-calls.log")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err.strip()) == (INTERRUPTED, "gpudoctor: interrupted")


def _wait_for(file: Path) -> None:
    limit = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < limit
        time.sleep(0.01)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_home_that_is_closed_is_no_reason_to_fail(tmp_path: Path) -> None:
    env = bare_environment(tmp_path / "home")
    (tmp_path / "home").chmod(0)
    assert gpudoctor("scan", "--snapshot", MACHINE, env=env, folder=tmp_path).code == 0


def test_a_home_that_is_not_there_is_no_reason_to_fail(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "LANG": "C", "HOME": str(tmp_path / "gone")}
    run = gpudoctor("scan", "--level", "quick", "--json", "--timeout", "1", env=env, folder=tmp_path)
    assert_clean(run)
    assert run.document["summary"]["status"] != "healthy"


def test_an_ascii_terminal_gets_a_report_too(tmp_path: Path) -> None:
    env = {
        **bare_environment(tmp_path),
        "LANG": "C",
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "ascii:strict",
    }
    data = MACHINE.read_text(encoding="utf-8").replace("Tesla T4", "Tesla T4 \u2713 \u00e9")
    (tmp_path / "odd.json").write_text(data, encoding="utf-8")
    run = gpudoctor("scan", "--snapshot", tmp_path / "odd.json", env=env)
    assert_clean(run)
    assert run.out.isascii()
