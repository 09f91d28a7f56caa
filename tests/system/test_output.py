"""What comes out of the command: colour only where it is wanted, no control characters, help and pages for everything."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gpudoctor.cli import explain
from gpudoctor.cli.parser import COMMANDS
from gpudoctor.diagnose import registry
from gpudoctor.knowledge import causes
from tests.fakes import FURTHER_SCENARIOS, SCENARIOS, environment
from tests.system.command import (
    COLUMNS,
    CONTROL,
    GPUDOCTOR,
    Run,
    assert_clean,
    assert_readable,
    bare_environment,
    gpudoctor,
)
from tests.system.scenes import assert_ends_in_time
from tests.system.target import StandIn

SICK = Path(__file__).parents[2] / "fixtures/machines/h100-hardware-thermal-slowdown/snapshot.json"
BROKEN = Path(__file__).parents[2] / "fixtures/machines/a6000-without-cudnn/snapshot.json"
HEALTHY = Path(__file__).parents[2] / "fixtures/machines/healthy-t4/snapshot.json"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
EVIL = r"\x1b[2J\x1b]0;owned\x07 H100 \xe2\x80\xae\x0a\x0dline"
CHECKS = registry.load().checks


def on_a_terminal(*arguments: str | Path, env: dict[str, str]) -> str:
    """Run the command with a terminal as its stdout and return what it sends there."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*GPUDOCTOR, *map(str, arguments)], env=env, cwd=env["HOME"], stdout=theirs, stderr=subprocess.DEVNULL
    ) as process:
        os.close(theirs)
        received = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # how Linux says that the other side is closed
                break
            if not chunk:
                break
            received += chunk
        process.wait(timeout=60)
    os.close(ours)
    return received.decode().replace("\r\n", "\n")


def replay(machine: Path, folder: Path, *options: str | Path, **variables: str) -> Run:
    return gpudoctor("scan", "--snapshot", machine, *options, env=bare_environment(folder / "home", **variables))


@pytest.mark.parametrize("machine", [SICK, BROKEN, HEALTHY], ids=lambda path: path.parent.name)
def test_colour_is_for_terminals_and_never_the_only_sign(machine: Path, tmp_path: Path) -> None:
    plain = replay(machine, tmp_path).out
    assert not COLOUR.search(plain)
    env = bare_environment(tmp_path / "home", TERM="xterm-256color")
    coloured = on_a_terminal("scan", "--snapshot", machine, env=env)
    assert COLOUR.search(coloured)
    assert COLOUR.sub("", coloured) == plain
    assert on_a_terminal("scan", "--snapshot", machine, env={**env, "NO_COLOR": "1"}) == plain
    assert on_a_terminal("scan", "--snapshot", machine, env={**env, "TERM": "dumb"}) == plain
    assert replay(machine, tmp_path, FORCE_COLOR="1").out == coloured
    assert replay(machine, tmp_path, NO_COLOR="1").out == plain


def test_a_file_gets_no_colour_whatever_is_forced(tmp_path: Path) -> None:
    run = replay(SICK, tmp_path, "-o", tmp_path / "report.txt", FORCE_COLOR="1")
    assert (run.code, run.out) == (0, "")
    assert (tmp_path / "report.txt").read_text(encoding="utf-8") == replay(SICK, tmp_path).out


def test_a_file_gets_the_json_that_stdout_would(tmp_path: Path) -> None:
    run = replay(BROKEN, tmp_path, "--json", "-o", tmp_path / "report.json")
    assert (run.code, run.out) == (1, "")
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["findings"] == replay(BROKEN, tmp_path, "--json").document["findings"]


def test_a_live_scan_into_a_file_says_nothing_on_stdout_and_the_file_is_whole(
    stand_in: StandIn, tmp_path: Path
) -> None:
    env = environment(SCENARIOS["base"], tmp_path)
    quick = ("scan", "--level", "quick", "--python", stand_in.python)
    run = gpudoctor(*quick, "-o", tmp_path / "report.txt", env=env)
    assert (run.code, run.out) == (0, "")
    text = (tmp_path / "report.txt").read_text(encoding="utf-8")
    assert text.startswith("Target   ")
    assert text == gpudoctor(*quick, env=env).out


def test_hostile_names_cannot_steer_the_terminal(stand_in: StandIn, tmp_path: Path) -> None:
    hostile = SCENARIOS["base"].with_lines(f"gpu0.name={EVIL}")
    env = environment(hostile, tmp_path)
    env["CUDA_VISIBLE_DEVICES"] = "\x1b[31m0"
    text = gpudoctor("scan", "--level", "quick", "--python", stand_in.python, env=env)
    assert_clean(text)
    assert_readable(text)
    verbose = gpudoctor("scan", "--level", "quick", "-v", "--python", stand_in.python, env=env)
    block = gpudoctor("env", "--python", stand_in.python, env=env)
    for run in (verbose, block):
        assert_clean(run)
        assert not CONTROL.search(run.out.replace("\n", "")), repr(run.out)


def test_a_hostile_snapshot_cannot_steer_the_terminal(tmp_path: Path) -> None:
    document = json.loads(SICK.read_text(encoding="utf-8"))
    evil = "\x1b[2J\u202e\u2028\x07evil"
    document["gpus"][0]["name"] = evil
    document["python"]["executable"] = evil
    document["python"]["version"] = evil
    document["tensorflow"]["version"] = evil
    document["nvml"]["driver_version"] = evil
    document["probe"]["gpu_left_alone"] = evil
    (tmp_path / "evil.json").write_text(json.dumps(document), encoding="utf-8")
    for options in ((), ("-v",)):
        run = replay(tmp_path / "evil.json", tmp_path, *options)
        assert_clean(run)
        assert not CONTROL.search(run.out.replace("\n", "")), repr(run.out)


def test_identifiers_stay_out_unless_asked_for(stand_in: StandIn, tmp_path: Path) -> None:
    env = environment(SCENARIOS["base"], tmp_path)
    quick = ("scan", "--level", "quick", "--json", "--python", stand_in.python)
    uuid = str(SCENARIOS["base"].gpus[0]["uuid"])
    assert uuid not in gpudoctor(*quick, env=env).out
    assert uuid in gpudoctor(*quick, "--include-identifiers", env=env).out
    assert uuid not in gpudoctor("env", "--python", stand_in.python, env=env).out


def test_the_environment_block_is_short_complete_and_exits_0(stand_in: StandIn, tmp_path: Path) -> None:
    run = gpudoctor("env", "--python", stand_in.python, env=environment(SCENARIOS["base"], tmp_path))
    assert_clean(run)
    assert run.code == 0
    labels = [line.split(":")[0] for line in run.lines]
    wanted = {"gpudoctor", "os", "python", "tensorflow", "nvml", "libcuda", "gpu 0", "gpu 1", "libcudnn.so.9"}
    assert wanted <= set(labels), labels


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_there_for_every_command_and_fits_the_terminal(command: str, tmp_path: Path) -> None:
    run = gpudoctor(*filter(None, (command, "--help")), env=bare_environment(tmp_path, COLUMNS=str(COLUMNS)))
    assert_clean(run)
    assert (run.code, run.err) == (0, "")
    assert run.lines[0].startswith(f"usage: gpudoctor {command}".strip())
    assert all(len(line) <= COLUMNS for line in run.lines)
    assert re.search(r"^  -h, --help", run.out, re.MULTILINE)


def test_without_a_word_the_help_is_shown(tmp_path: Path) -> None:
    run = gpudoctor(env=bare_environment(tmp_path))
    assert (run.code, run.lines[0][:17]) == (0, "usage: gpudoctor ")


def test_the_version_is_one_line(tmp_path: Path) -> None:
    run = gpudoctor("--version", env=bare_environment(tmp_path))
    assert re.fullmatch(r"gpudoctor \d+\.\d+\.\d+\S*\n", run.out)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_every_code_has_a_page_that_says_what_why_and_how(check: registry.AnyCheck) -> None:
    page = explain.page(registry.load(), check.code)
    assert page.startswith(check.code)
    for heading in ("What it does", "Why it matters", "How to fix"):
        assert heading in page.splitlines(), page
    assert check.slug in page
    assert explain.page(registry.load(), check.slug) == page


@pytest.mark.parametrize("name", ["GD101", "gd101", "driver-too-old", "no-growth"])
def test_a_page_is_printed_for_a_code_a_slug_or_a_cause(name: str, tmp_path: Path) -> None:
    run = gpudoctor("explain", name, env=bare_environment(tmp_path))
    assert_clean(run)
    assert (run.code, run.err) == (0, "")
    assert run.out == explain.page(registry.load(), name)


@pytest.mark.parametrize("cause", causes.CAUSES, ids=lambda cause: cause.id)
def test_every_cause_has_a_page(cause: causes.Cause) -> None:
    page = explain.page(registry.load(), cause.id)
    assert len(page.splitlines()) >= 3
    assert not CONTROL.search(page.replace("\n", ""))


def test_every_check_is_listed_once_in_both_formats(tmp_path: Path) -> None:
    env = bare_environment(tmp_path)
    listed = [each["code"] for each in gpudoctor("checks", "--json", env=env).document["checks"]]
    assert listed == sorted({check.code for check in CHECKS})
    text = gpudoctor("checks", env=env)
    assert [line.split()[0] for line in text.lines if line.startswith("GD")] == listed


def test_select_and_ignore_narrow_what_is_judged(tmp_path: Path) -> None:
    def judged(*options: str) -> list[str]:
        return [each["code"] for each in replay(SICK, tmp_path, "--json", *options).document["checks"]]

    assert judged("--select", "GD801") == ["GD801"]
    assert judged("--select", "throttle,gpu-lost") == ["GD801", "GD802"]
    assert judged("--select", "GD8") == judged("--select", "hardware")
    assert judged("--ignore", "GD8") == [code for code in judged() if not code.startswith("GD8")]
    assert judged("--select", "GD8", "--ignore", "GD801") == [
        code for code in judged("--select", "GD8") if code != "GD801"
    ]
    assert judged("--select", "GD801", "--select", "GD802") == ["GD801", "GD802"]


def test_what_is_not_selected_is_no_reason_to_fail(tmp_path: Path) -> None:
    assert replay(BROKEN, tmp_path).code == 1
    assert replay(BROKEN, tmp_path, "--ignore", "GD2,GD1,GD3").code == 0


@pytest.mark.parametrize(
    ("machine", "fail_on", "code"),
    [
        (SICK, "error", 0),
        (SICK, "warning", 1),
        (SICK, "info", 1),
        (SICK, "never", 0),
        (BROKEN, "error", 1),
        (BROKEN, "never", 0),
        (HEALTHY, "warning", 0),
    ],
    ids=lambda value: value.parent.name if isinstance(value, Path) else str(value),
)
def test_fail_on_sets_the_exit_code_and_nothing_else(machine: Path, fail_on: str, code: int, tmp_path: Path) -> None:
    run = replay(machine, tmp_path, "--json", "--fail-on", fail_on)
    assert run.code == code
    assert run.document["findings"] == replay(machine, tmp_path, "--json").document["findings"]


def test_the_command_line_outranks_variables_and_these_outrank_the_project(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text('[tool.gpudoctor]\nfail-on = "warning"\n', encoding="utf-8")
    scan = ("scan", "--snapshot", SICK)
    env = bare_environment(tmp_path / "home")
    never = {**env, "GPUDOCTOR_FAIL_ON": "never"}
    assert gpudoctor(*scan, env=env, folder=project).code == 1
    assert gpudoctor(*scan, env=never, folder=project).code == 0
    assert gpudoctor(*scan, "--fail-on", "warning", env=never, folder=project).code == 1


def test_a_rule_changes_a_severity(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "gpudoctor.toml").write_text('[rules.GD801]\nseverity = "error"\n', encoding="utf-8")
    run = gpudoctor("scan", "--json", "--snapshot", SICK, env=bare_environment(tmp_path / "home"), folder=project)
    assert (run.code, run.document["findings"][0]["severity"]) == (1, "error")


def test_an_expectation_outranks_findings(tmp_path: Path) -> None:
    run = replay(BROKEN, tmp_path, "--json", "--expect-gpus", "7")
    assert run.code == 3
    assert run.document["summary"]["expectation"]
    assert replay(BROKEN, tmp_path, "--expect-gpus", "1").code == 1
    assert replay(HEALTHY, tmp_path, "--expect-gpus", "1").code == 0
    text = replay(BROKEN, tmp_path, "--expect-gpus", "7")
    assert_readable(text)
    assert "expectation not met: 7 GPU(s) expected, 1 usable" in text.out


def test_strict_is_content_with_a_healthy_machine(tmp_path: Path) -> None:
    assert replay(HEALTHY, tmp_path, "--strict").code == 0


def test_the_timeout_ends_a_slow_source_and_only_that(stand_in: StandIn, tmp_path: Path) -> None:
    slow = FURTHER_SCENARIOS["healthy"].with_lines("gpu0.slow=power,60000")
    env = environment(replace(slow, name="slow"), tmp_path)

    def once() -> Run:
        return gpudoctor("scan", "--level", "quick", "--json", "--timeout", "2", "--python", stand_in.python, env=env)

    run = once()
    assert_ends_in_time(run, once, 2.0)
    snapshot = run.document["snapshot"]
    assert snapshot["nvml"]["status"] == "timeout"
    assert snapshot["cuda"]["cu_init"] == 0
    assert snapshot["tensorflow"]["version"] == "2.20.0"
