"""Each line of the README's part on CI is run as it stands there: on a machine that is fine, and on one that is not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import xmlschema

from tests.fakes import FURTHER_SCENARIOS, environment
from tests.system.target import StandIn

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
JUNIT = xmlschema.XMLSchema(Path(__file__).parents[1] / "present/junit.xsd")
ABSOLUTE = "/opt/gpudoctor/bin/gpudoctor"


def block(mark: str) -> str:
    """Return the code block under its mark."""
    return README.split(f"<!-- {mark} -->")[1].split("```")[1].partition("\n")[2]


def shell_lines(mark: str) -> list[str]:
    """Return the lines of a block that a shell would run, whatever stands around them."""
    text = re.sub(r"(?m)^\s*(- name:.*|gpu:|script:|artifacts:.*|#!.*)$", "", block(mark))
    lines = [re.sub(r"^\s*(run: |- |HEALTHCHECK .*? CMD )", "", line) for line in text.splitlines() if line.strip()]
    assert lines
    assert all("gpudoctor" in line for line in lines), lines
    return lines


def run(line: str, env: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one line in a shell whose `gpudoctor` is the one under test."""
    own = folder / "bin"
    own.mkdir(exist_ok=True)
    (own / "gpudoctor").write_text(f'#!/bin/sh\nexec {sys.executable} -m gpudoctor "$@"\n', encoding="utf-8")
    (own / "gpudoctor").chmod(0o755)
    line = line.replace(ABSOLUTE, str(own / "gpudoctor"))
    env = {**env, "PATH": f"{own}{os.pathsep}{env['PATH']}", "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    return subprocess.run(
        ["/bin/sh", "-c", line], env=env, cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


def machine(name: str, folder: Path, stand_in: StandIn) -> dict[str, str]:
    """Return the environment of a machine whose user trains in the stand-in."""
    return {**environment(FURTHER_SCENARIOS[name], folder), "VIRTUAL_ENV": str(Path(stand_in.python).parent.parent)}


@pytest.fixture
def healthy(tmp_path: Path, stand_in: StandIn) -> dict[str, str]:
    return machine("healthy", tmp_path, stand_in)


@pytest.fixture
def without(tmp_path: Path, stand_in: StandIn) -> dict[str, str]:
    return machine("no_nvml", tmp_path, stand_in)


def test_the_github_step_annotates_and_summarises(healthy: dict[str, str], tmp_path: Path) -> None:
    (line,) = shell_lines("ci-github")
    done = run(line, healthy, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("gpudoctor: healthy"), done.stdout
    assert (tmp_path / "summary.md").read_text(encoding="utf-8").startswith("## gpudoctor: healthy")


def test_the_github_step_fails_where_the_gpu_is_gone(without: dict[str, str], tmp_path: Path) -> None:
    (line,) = shell_lines("ci-github")
    done = run(line, without, tmp_path)
    assert done.returncode == 3
    assert done.stdout.startswith("::error title=expectation not met::1 GPU(s) expected, 0 usable")
    assert "Expectation not met" in (tmp_path / "summary.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("state", "code"), [("healthy", 0), ("without", 3)])
def test_the_gitlab_job_leaves_a_junit_file(
    state: str, code: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    (line,) = shell_lines("ci-gitlab")
    done = run(line, request.getfixturevalue(state), tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stdout.startswith("Target ")
    JUNIT.validate(str(tmp_path / "gpudoctor.xml"))
    assert "gpudoctor.xml" in block("ci-gitlab").splitlines()[-1]


@pytest.mark.parametrize(("name", "code"), [("healthy_8", 0), ("healthy", 1), ("no_nvml", 1)])
def test_the_slurm_prologue_passes_eight_gpus_and_nothing_less(
    name: str, code: int, stand_in: StandIn, tmp_path: Path
) -> None:
    env = machine(name, tmp_path, stand_in)
    del env["VIRTUAL_ENV"]
    (line,) = shell_lines("ci-slurm")
    assert line.startswith(ABSOLUTE), "a prologue has no PATH"
    done = run(line, env, tmp_path)
    assert done.returncode == code, done.stdout + done.stderr


@pytest.mark.parametrize(("state", "code"), [("healthy", 0), ("without", 1)])
def test_the_health_check_answers_with_what_docker_knows(
    state: str, code: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    (line,) = shell_lines("ci-container")
    done = run(line, request.getfixturevalue(state), tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
    assert len(done.stdout.encode()) < 4096, "Docker keeps no more of it"


def test_the_baseline_and_the_gate(without: dict[str, str], tmp_path: Path) -> None:
    write, check, gate = (
        line.replace(" scan ", " scan --level quick ") for line in shell_lines("ci-baseline")
    )  # the trained scan has its own tests
    assert run(check, without, tmp_path).returncode == 2, "there is no baseline yet"
    assert run(write, without, tmp_path).returncode == 0
    assert run(check, without, tmp_path).returncode == 0
    (tmp_path / "before.json").write_bytes((tmp_path / "now.json").read_bytes())
    assert run(gate, without, tmp_path).returncode == 3, "nothing was trained, so nothing can be said"
    fixture = Path(__file__).parents[2] / "fixtures/machines/healthy-t4/snapshot.json"
    for name in ("before.json", "now.json"):
        (tmp_path / name).write_bytes(fixture.read_bytes())
    assert run(gate, without, tmp_path).returncode == 0
