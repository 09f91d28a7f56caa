"""The whole survey of described machines: what fails is left out with its reason, and nothing outlasts its deadline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.codec import dumps, load_snapshot, snapshot_to_builtins
from gpudoctor.collect import sources
from gpudoctor.collect.isolate import Answers, Outcome
from gpudoctor.collect.survey import Survey, take_snapshot
from gpudoctor.collect.target import Target
from gpudoctor.model.missing import Missing
from gpudoctor.model.snapshot import Snapshot
from tests.collect.asking import named
from tests.fakes import Scenario, environment
from tests.slow_machines import at_most

OWN = Target(executable=Path(sys.executable), chosen_by="the test")
PATIENCE_S = 60.0
ROOM_S = 1.0  # a scan of a hung driver ends within its deadline and this


@pytest.fixture
def enter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str | Scenario], Path]:
    """Return a function that moves this process into a scenario's machine and returns its root."""

    def move_in(scenario: str | Scenario) -> Path:
        for name in list(os.environ):
            if name not in {"PATH", "HOME"} and not name.startswith("PYTEST"):
                monkeypatch.delenv(name)
        for name, value in environment(named(scenario), tmp_path).items():
            monkeypatch.setenv(name, value)
        return tmp_path / "root"

    return move_in


def _survey(root: Path, **options: Any) -> Snapshot:  # the options of take_snapshot
    return take_snapshot(target=OWN, level="quick", root=root, **options)


def test_a_healthy_machine_has_every_group(enter: Callable[[str], Path]) -> None:
    snapshot = _survey(enter("healthy"))
    assert snapshot.nvml is not None
    assert snapshot.nvml.status == "ok"
    assert snapshot.cuda is not None
    assert snapshot.cuda.cu_init == 0
    assert snapshot.kernel is not None
    assert snapshot.kernel.module_version == "580.95.05"
    assert snapshot.host is not None
    assert snapshot.host.kernel == "6.8.0-60-generic"
    assert snapshot.gpus is not None
    assert len(snapshot.gpus) == 1
    assert snapshot.python is not None
    assert snapshot.python.chosen_by == "the test"
    assert snapshot.packages is not None
    assert "pytest" in snapshot.packages
    assert snapshot.tensorflow is not None
    assert snapshot.env is not None
    assert set(snapshot.missing) <= {"libraries"}  # there is no TensorFlow beside the test
    assert set(snapshot.timings_s) >= {"nvml", "cuda", "kernel", "host", "python", "tensorflow", "env", "scheduler"}


def test_a_snapshot_survives_its_file(enter: Callable[[str], Path]) -> None:
    snapshot = _survey(enter("lost_after_handle"))
    assert load_snapshot(dumps(snapshot_to_builtins(snapshot)).encode()) == snapshot


@pytest.mark.parametrize("scenario", ["hang", "hang_at_init"])
def test_a_driver_that_never_answers_costs_its_deadline_and_no_more(
    scenario: str, enter: Callable[[str], Path]
) -> None:
    root = enter(scenario)
    with at_most(ROOM_S, after_s=3.0):
        snapshot = _survey(root)
    assert snapshot.nvml is not None
    assert snapshot.nvml.status == "timeout"
    assert snapshot.kernel is not None
    assert snapshot.cuda is not None
    assert snapshot.cuda.status == ("timeout" if scenario == "hang_at_init" else "ok")
    if scenario == "hang_at_init":
        assert snapshot.gpus is None
        assert snapshot.missing["gpus"] == "timeout after 3 s"
    else:
        assert snapshot.gpus is not None
        assert snapshot.gpus[0].name == "NVIDIA H100 80GB HBM3"


def test_the_deadline_can_be_set_and_holds_where_kill_and_wait_do_nothing(
    enter: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = enter("hang_at_init")
    left: list[int] = []

    def no_kill(pid: int, _: int) -> None:
        left.append(pid)

    def no_wait(_pid: int, _options: int) -> tuple[int, int]:
        return 0, 0

    with at_most(ROOM_S, after_s=0.7), monkeypatch.context() as patch:
        patch.setattr(os, "kill", no_kill)
        patch.setattr(os, "killpg", no_kill)
        patch.setattr(os, "waitpid", no_wait)
        snapshot = _survey(root, timeout_s=0.7)
    for pid in set(left):
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    assert snapshot.missing["gpus"] == "timeout after 0.7 s"


def test_a_crashing_driver_is_a_fact_about_it(enter: Callable[[str], Path]) -> None:
    snapshot = _survey(enter("segfault_at_init"))
    assert snapshot.nvml is not None
    assert (snapshot.nvml.status, snapshot.nvml.message) == ("crashed", "NVML did not answer: crashed: signal 11")
    assert snapshot.cuda is not None
    assert snapshot.cuda.cu_init == Missing("crashed: signal 11")
    assert snapshot.missing["gpus"] == "crashed: signal 11"


def test_an_interpreter_that_cannot_be_asked_takes_what_rests_on_it_along(
    enter: Callable[[str], Path], tmp_path: Path
) -> None:
    root = enter("healthy")
    broken = Target(executable=tmp_path / "no-python", chosen_by="the test")
    snapshot = take_snapshot(target=broken, level="quick", root=root)
    assert (snapshot.python, snapshot.packages, snapshot.tensorflow, snapshot.libraries) == (None, None, None, None)
    assert snapshot.missing["python"].startswith("failed: NotPythonError")
    assert snapshot.missing["packages"] == snapshot.missing["python"]
    assert snapshot.missing["tensorflow"].startswith("python: failed")
    assert snapshot.gpus is not None


def test_hidden_gpus_are_told_from_absent_ones(enter: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    root = enter("base")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    cuda = _survey(root).cuda
    assert cuda is not None
    assert (cuda.cu_init, cuda.devices, cuda.devices_unmasked) == (100, (), 2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    cuda = _survey(root).cuda
    assert cuda is not None
    assert isinstance(cuda.devices_unmasked, Missing)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "0"


def test_libraries_that_were_read_are_kept_when_loading_them_hangs(
    enter: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_then_hang(_root: Path, _trial_s: float | None, _known: Answers) -> object:
        yield ()
        time.sleep(60)

    monkeypatch.setattr(sources, "_libraries", read_then_hang)
    snapshot = _survey(enter("healthy"), timeout_s=1.5)
    assert snapshot.libraries == ()
    assert "libraries" not in snapshot.missing


def test_each_source_is_told_as_it_ends(enter: Callable[[str], Path]) -> None:
    told: list[str] = []

    def note(name: str, _: Outcome) -> None:
        told.append(name)

    snapshot = _survey(enter("healthy"), on_done=note)
    assert sorted(told) == sorted(snapshot.timings_s)


def test_a_survey_runs_while_its_caller_does_something_else(enter: Callable[[str], Path], tmp_path: Path) -> None:
    survey = Survey(target=OWN, level="quick", root=enter("healthy"))
    log, limit = tmp_path / "nvml-calls.log", time.monotonic() + PATIENCE_S
    while not (log.is_file() and "\nutilization 0\n" in log.read_text(encoding="ascii")):  # and nobody has asked for it
        assert time.monotonic() < limit
        time.sleep(0.01)
    assert survey.finish().gpus is not None


SHOW_MODULES = """
import json, os, sys
from pathlib import Path
from gpudoctor.collect.survey import take_snapshot
from gpudoctor.collect.target import Target
take_snapshot(target=Target(executable=Path(sys.executable), chosen_by=""), level="quick", root=Path(os.environ["GPUDOCTOR_SYSROOT"]))
print(json.dumps(sorted(sys.modules)))
"""


def test_the_surveying_process_itself_stays_light(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SHOW_MODULES],
        env=environment(named("healthy"), tmp_path),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    loaded = set(json.loads(done.stdout))
    assert not loaded & {
        "pynvml",
        "ctypes",
        "psutil",
        "rich",
        "textual",
        "tensorflow",
        "msgspec",
        "subprocess",
        "threading",
    }
