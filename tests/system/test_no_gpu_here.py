"""A real machine without a GPU: the report says so and why, calls nothing healthy, and the probe trains on the CPU."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.system.command import Run, assert_clean, assert_readable, bare_environment, gpudoctor
from tests.system.environments import cpu_python, skip_where_there_is_a_gpu
from tests.system.schemas import Schema
from tests.system.target import StandIn

PROBE_LIMIT_S = 240.0
NO_GPU = re.compile(r"UNKNOWN  (?:No usable NVIDIA GPU|No GPU in this container|This container sees no GPU)")


@pytest.fixture(autouse=True)
def _here() -> None:
    skip_where_there_is_a_gpu()


@pytest.fixture(scope="module")
def quick(stand_in: StandIn, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a quick scan of this machine as text."""
    env = bare_environment(tmp_path_factory.mktemp("home"))
    return gpudoctor("scan", "--level", "quick", "--python", stand_in.python, env=env)


@pytest.fixture(scope="module")
def standard(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a standard scan as JSON, with everything that the reference probe can train here."""
    home = tmp_path_factory.mktemp("home")
    python = cpu_python()
    return gpudoctor("scan", "--json", "--python", python, env=bare_environment(home), limit_s=PROBE_LIMIT_S)


def test_there_is_plainly_no_usable_gpu(quick: Run) -> None:
    assert_clean(quick)
    assert_readable(quick)
    assert quick.code == 0
    assert "UNKNOWN" in quick.out
    assert NO_GPU.search(quick.out), quick.out
    assert "no driver" in quick.out


def test_why_there_is_none_is_said(stand_in: StandIn, tmp_path: Path) -> None:
    run = gpudoctor("scan", "--level", "quick", "--json", "--python", stand_in.python, env=bare_environment(tmp_path))
    report = run.document
    assert (run.code, report["summary"]["status"]) == (0, "unknown")
    assert report["snapshot"]["nvml"]["status"] == "library_not_found"
    assert report["snapshot"]["cuda"]["status"] == "library_not_found"
    assert not [each for each in report["findings"] if each["severity"] == "error"]


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_an_expected_gpu_that_is_not_there_exits_3(form: tuple[str, ...], stand_in: StandIn, tmp_path: Path) -> None:
    python = ("--python", stand_in.python)
    env = bare_environment(tmp_path)
    run = gpudoctor("scan", "--level", "quick", "--expect-gpus", "1", *form, *python, env=env)
    assert_clean(run)
    assert run.code == 3
    assert "1 GPU(s) expected, 0 usable" in run.out


def test_no_gpu_expected_and_none_there_is_what_was_wanted(stand_in: StandIn, tmp_path: Path) -> None:
    env = bare_environment(tmp_path)
    run = gpudoctor("scan", "--level", "quick", "--expect-gpus", "0", "--python", stand_in.python, env=env)
    assert run.code == 0


def test_strict_says_that_too_much_is_unknown(stand_in: StandIn, tmp_path: Path) -> None:
    env = bare_environment(tmp_path)
    run = gpudoctor("scan", "--level", "quick", "--strict", "--python", stand_in.python, env=env)
    assert run.code == 3
    assert "--strict" in run.out


@pytest.mark.tensorflow
def test_the_probe_trains_on_the_cpu(standard: Run, report_schema: Schema) -> None:
    assert_clean(standard)
    report = standard.document
    report_schema.validate(report)
    assert (standard.code, report["summary"]["status"]) == (0, "unknown")
    trials = report["probe"]["trials"]
    assert {trials[name]["status"] for name in ("baseline", "gradcheck", "fragmentation")} == {"ok"}
    assert trials["baseline"]["device"] == "CPU"
    arm = trials["baseline"]["arms"][0]
    assert arm["loss_last"] < arm["loss_first"]


@pytest.mark.tensorflow
def test_a_standard_scan_imports_tensorflow_once_per_set_of_variables_and_shows_the_time(standard: Run) -> None:
    report = standard.document
    sets = [child["environment"] for child in report["probe"]["children"]]
    assert sorted(sets) == sorted(set(sets))
    assert {"nvml", "cuda", "libraries"} <= set(report["snapshot"]["timings_s"])
    assert all(child["import_s"] > 0 for child in report["probe"]["children"])
    assert all(trial["duration_s"] > 0 for trial in report["probe"]["trials"].values())
