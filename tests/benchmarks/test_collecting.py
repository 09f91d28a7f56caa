"""What collecting costs: NVML sampling against the bare calls, and a quick survey. Run by hand: GPUDOCTOR_BENCHMARK=1."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpudoctor.collect.isolate import SOURCE_DEADLINE_S
from tests.fakes import FURTHER_SCENARIOS, environment

pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.skipif(not os.environ.get("GPUDOCTOR_BENCHMARK"), reason="measures; set GPUDOCTOR_BENCHMARK=1"),
]
MOST_TIMES_BARE_CALLS = 2.0  # the bar of the scan's speed: sampling 8 GPUs against the calls that it makes
ROUNDS = 5
MARGIN = 3  # a machine three times slower still answers in time

# Records the calls that one sample of 8 GPUs makes, then times these calls alone and the sample, alternately.
NVML = """
import os, sys, time
from pathlib import Path
from gpudoctor.collect.nvml import open_session
session, repeats = open_session(Path(os.environ["GPUDOCTOR_SYSROOT"])), 200
gpus = [session.identify(index) for index in range(8)]
import pynvml
calls = []
class Recorder:
    def __getattr__(self, name):
        function = getattr(pynvml, name)
        def recorded(*arguments):
            calls.append((function, arguments))
            return function(*arguments)
        return recorded
for device in session._devices.values():
    device._module = Recorder()
for gpu in gpus:
    session.sample(gpu)
for device in session._devices.values():
    device._module, device._bound = pynvml, ({}, [])
    calls += [(getattr(pynvml, f"nvmlDeviceGet{kind}RunningProcesses_v3"), (device._handle,)) for kind in ("Compute", "Graphics")]
def bare():
    for function, arguments in calls:
        try:
            function(*arguments)
        except pynvml.NVMLError:
            pass
def ours():
    for gpu in gpus:
        session.sample(gpu)
def cost(run):
    begin = time.process_time()
    for _ in range(repeats):
        run()
    return (time.process_time() - begin) / repeats
cost(bare), cost(ours)
print(len(calls), *(value for _ in range(5) for value in (cost(bare), cost(ours))))
"""

SURVEY = """
import os, sys, time
begin = time.perf_counter()
from pathlib import Path
from gpudoctor.collect.survey import take_snapshot
from gpudoctor.collect.target import Target
target = Target(executable=Path(sys.executable), chosen_by="")
middle = time.perf_counter()
take_snapshot(target=target, level="quick", root=Path(os.environ["GPUDOCTOR_SYSROOT"]))
print(middle - begin, time.perf_counter() - middle)
"""


@pytest.fixture
def machine(tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """Return a function that gives a scenario's environment, without the log of calls: it would be measured too."""

    def variables(name: str) -> dict[str, str]:
        told = environment(FURTHER_SCENARIOS[name], tmp_path)
        del told["FAKE_NVML_LOG"]
        return told

    return variables


def _numbers(program: str, variables: dict[str, str]) -> list[float]:
    done = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def test_sampling_eight_gpus_costs_at_most_twice_the_bare_calls(
    machine: Callable[[str], dict[str, str]], record_property: Callable[[str, object], None]
) -> None:
    calls, *costs = _numbers(NVML, machine("healthy_8"))
    bare, ours = statistics.median(costs[0::2]), statistics.median(costs[1::2])
    ratio = statistics.median(b / a for a, b in zip(costs[0::2], costs[1::2], strict=True))
    record_property("ratio", ratio)
    sys.stderr.write(
        f"\nNVML, 8 GPUs: {calls:.0f} calls, bare {bare * 1e3:.3f} ms, ours {ours * 1e3:.3f} ms, ratio {ratio:.2f}\n"
    )
    assert ratio <= MOST_TIMES_BARE_CALLS


@pytest.mark.parametrize("name", ["healthy", "healthy_8"])
def test_what_a_quick_survey_takes(name: str, machine: Callable[[str], dict[str, str]]) -> None:
    variables = machine(name)
    walls: list[float] = []
    parts: list[list[float]] = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        parts.append(_numbers(SURVEY, variables))
        walls.append(time.perf_counter() - begin)
    imports, survey = (statistics.median(column) for column in zip(*parts, strict=True))
    wall = statistics.median(walls)
    sys.stderr.write(
        f"\n{name}: process {wall * 1e3:.0f} ms, of it imports {imports * 1e3:.0f} ms, survey {survey * 1e3:.0f} ms\n"
    )
    assert survey < SOURCE_DEADLINE_S / MARGIN
