"""Asks a collector inside the machine that a scenario describes, in a child that has that machine's environment."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from gpudoctor.collect import cuda, nvml
from gpudoctor.collect.gathering import gather
from gpudoctor.collect.isolate import Answers, Outcome, Source
from gpudoctor.model.gpu import Gpu
from gpudoctor.model.machine import Cuda, Nvml
from gpudoctor.model.missing import Maybe, Missing
from tests.fakes import FURTHER_SCENARIOS, SCENARIOS, Scenario, environment

ALL = {**SCENARIOS, **FURTHER_SCENARIOS}
DEADLINE_S = 20.0  # for what answers; the machine that runs the tests may be busy
HANGING_DEADLINE_S = 0.5

NvmlAnswer = tuple[Nvml, Maybe[tuple[Gpu, ...]]]


def ask(
    variables: Mapping[str, str],
    collect: Callable[[Path], object],
    *,
    deadline_s: float = DEADLINE_S,
    shadow: Path | None = None,
) -> Outcome:
    """Return what the collector says where only these variables are set; modules in `shadow` come first."""
    assert threading.active_count() == 1, "a child is needed, and a process with threads does not fork"

    def inside(_: Answers) -> object:
        os.environ.clear()
        os.environ.update(variables)
        if shadow is not None:
            sys.path.insert(0, str(shadow))
            sys.modules.pop("pynvml", None)
        return collect(Path(variables["GPUDOCTOR_SYSROOT"]))

    return gather([Source(name="it", collect=inside, deadline_s=deadline_s)])["it"]


def named(scenario: str | Scenario) -> Scenario:
    """Return the scenario of that name."""
    return ALL[scenario] if isinstance(scenario, str) else scenario


def ask_nvml(
    scenario: str | Scenario,
    tmp_path: Path,
    *,
    change: Callable[[Path], None] | None = None,
    shadow: Path | None = None,
    **variables: str,
) -> NvmlAnswer:
    """Return what the NVML collector makes of the scenario, after `change` has altered its files."""
    scenario = named(scenario)
    surroundings = {**environment(scenario, tmp_path), **variables}
    if change is not None:
        change(tmp_path / "root")
    deadline_s = HANGING_DEADLINE_S if scenario.hangs else DEADLINE_S
    outcome = ask(surroundings, nvml.collect_nvml, deadline_s=deadline_s, shadow=shadow)
    if isinstance(outcome.value, Missing):
        return nvml.joined(outcome.parts, outcome.value.reason)
    return cast("NvmlAnswer", outcome.value)


def ask_cuda(
    scenario: str | Scenario, tmp_path: Path, *, change: Callable[[Path], None] | None = None, **variables: str
) -> Cuda:
    """Return what the libcuda collector makes of the scenario, after `change` has altered its files."""
    scenario = named(scenario)
    surroundings = {**environment(scenario, tmp_path), **variables}
    if change is not None:
        change(tmp_path / "root")
    hangs = surroundings["FAKE_CUDA_INIT"] == "hang"
    outcome = ask(surroundings, cuda.collect_cuda, deadline_s=HANGING_DEADLINE_S if hangs else DEADLINE_S)
    if isinstance(outcome.value, Missing):
        return cuda.joined(outcome.parts, outcome.value.reason)
    return cast("Cuda", outcome.value)
