"""The machine over time: GPUs once a second from a process of its own, which holds nothing open and survives odd answers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from gpudoctor.model.gpu import Gpu, Power
from gpudoctor.model.machine import Nvml
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.session import GpuSample, Session, StepSample
from gpudoctor.profile.machine import GpuSampler
from gpudoctor.profile.over_time import machine_over_time
from gpudoctor.profile.record import SessionWriter, read_session
from gpudoctor.profile.steps import main_loop
from tests import fakes
from tests.profile import timelines
from tests.profile.launched import gpudoctor, script
from tests.slow_machines import at_most

PYTHON = sys.executable
HELD = {"HwSlowdown", "HwThermalSlowdown"}
# Runs until that many rounds have begun, so that all but the last are written.
ROUNDS = """
import os, time
log, begun = open(os.environ["FAKE_NVML_LOG"], "a+"), 0  # the sampler may be slower to it
log.seek(0)
while begun < {}:
    time.sleep(0.05)
    begun += log.read().count("energy 0\\n")
"""
PATIENCE_S = 60.0


def watched(folder: Path, scenario: str, text: str) -> Session:
    environ = fakes.environment({**fakes.SCENARIOS, **fakes.FURTHER_SCENARIOS}[scenario], folder)
    command = gpudoctor("run", "-q", "--session", str(folder / "s"), "--", PYTHON, script(folder, text))
    subprocess.run(command, cwd=folder, env=environ, check=True, timeout=120)
    return read_session(folder / "s")


def test_a_gpus_state_is_sampled_each_second_with_what_it_used_and_who_is_on_it(tmp_path: Path) -> None:
    session = watched(tmp_path, "healthy", ROUNDS.format(4))
    assert session.nvml_status == "ok"
    assert len(session.gpu_samples) >= 3
    last = session.gpu_samples[-1]
    assert last.energy_j == 1_234_567.890
    assert isinstance(last.power_w, float)
    assert last.power_limit_w == 700.0
    assert (last.own_processes, last.foreign_processes) == (0, 1)
    assert last.throttle_reasons == ()


def test_clocks_that_are_held_down_are_recorded_with_the_reason(tmp_path: Path) -> None:
    session = watched(tmp_path, "base", ROUNDS.format(2))
    reasons = [each.throttle_reasons for each in session.gpu_samples if each.gpu == 0]
    assert reasons
    assert all(isinstance(each, tuple) and set(each) >= HELD for each in reasons)


def test_a_process_of_another_namespace_is_not_called_foreign(tmp_path: Path) -> None:
    session = watched(tmp_path, "ghost_process", ROUNDS.format(2))
    (told,) = {each.foreign_processes for each in session.gpu_samples if each.gpu == 1}
    assert isinstance(told, Missing)


@pytest.mark.parametrize("scenario", ["init_unknown", "hang", "all_not_supported", "lost_after_handle", "zero_gpus"])
def test_a_driver_that_fails_costs_its_samples_and_nothing_else(tmp_path: Path, scenario: str) -> None:
    with at_most(20):
        session = watched(tmp_path, scenario, "print(1)")
    assert session.exit_code == 0


@dataclass
class Moody:
    """An NVML whose second round raises what nobody expects."""

    rounds: list[int] = field(default_factory=list[int])

    def system(self) -> Nvml:
        return Nvml(device_count=1)

    def identify(self, index: int) -> Gpu:
        return Gpu(index=index, name="GPU of a test")

    def sample(self, identity: Gpu) -> Gpu:
        return identity

    def sample_moving(self, last: Gpu) -> Gpu:
        self.rounds.append(1)
        if len(self.rounds) == 2:
            raise KeyError("a field that never was")
        return Gpu(index=last.index, name=last.name, power=Power(draw_w=100.0))

    def energy_j(self, index: int) -> Maybe[float]:  # noqa: ARG002  # the protocol
        return 50.0 * len(self.rounds)


def _spooled(writer: SessionWriter) -> list[Path]:
    return list(writer.spool.folder.glob("*.jsonl"))


def test_an_answer_that_nobody_expected_ends_one_round_and_is_said(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / "s")
    sampler = GpuSampler(Moody, writer.spool.folder, str, lambda pid: {pid})
    limit = time.monotonic() + PATIENCE_S
    while sum(each.read_text(encoding="utf-8").count('"gpu_samples"') for each in _spooled(writer)) < 2:
        assert time.monotonic() < limit
        time.sleep(0.05)
    sampler.stop()
    writer.tick()
    writer.close()
    session = read_session(tmp_path / "s")
    assert [each.energy_j for each in session.gpu_samples][:2] == [50.0, 150.0]
    assert [each.text for each in session.events if each.kind == "nvml_fault"] == ["GPU 0: 'a field that never was'"]


def test_the_sampler_holds_nothing_of_its_callers_open(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.set_inheritable(write, True)
    writer = SessionWriter(tmp_path / "s")
    sampler = GpuSampler(Moody, writer.spool.folder, str, lambda pid: {pid})
    os.close(write)
    assert os.read(read, 1) == b""  # the end, though the sampler lives
    sampler.stop()
    writer.close()
    os.close(read)


def over_time(*samples: GpuSample) -> tuple[Maybe[float], str]:
    """Return energy per step of 100 steady steps in 10 s, and where it is from."""
    steps = tuple(
        StepSample(process=timelines.PROCESS, loop=0, at=timelines.START + at, count=10 * at) for at in range(61)
    )
    session = timelines.session(timelines.loop(0), steps=steps)
    session = replace(session, gpu_samples=samples)
    loop = main_loop(session)
    assert loop is not None
    told = machine_over_time(session, loop)
    assert not isinstance(told, Missing)
    return told.gpus[0].joules_per_step, told.gpus[0].energy_from


def at(second: int, *, energy_j: Maybe[float], power_w: Maybe[float]) -> GpuSample:
    return GpuSample(at=timelines.START + second, gpu=0, energy_j=energy_j, power_w=power_w)


def test_energy_comes_from_the_counter_else_from_power_else_from_nowhere() -> None:
    none = Missing("not_supported")
    joules, source = over_time(*(at(each, energy_j=1000.0 + 80 * each, power_w=300.0) for each in range(60)))
    assert isinstance(joules, float)
    assert abs(joules - 8.0) < 0.2
    assert source == "NVML's energy counter"
    stands = over_time(*(at(each, energy_j=1000.0, power_w=300.0) for each in range(60)))
    assert isinstance(stands[0], float)
    assert abs(stands[0] - 30.0) < 0.5
    assert stands[1] == "mean power"
    assert over_time(*(at(each, energy_j=none, power_w=300.0) for each in range(60))) == stands
    assert isinstance(over_time(*(at(each, energy_j=none, power_w=none) for each in range(60)))[0], Missing)
