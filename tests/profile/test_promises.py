"""What a change of the pipeline would bring: a range from the cores that others left up to all that the command may use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.collect.run_load import RunMeter
from gpudoctor.model.missing import Missing
from gpudoctor.model.run import Change, HotLine, HotLines, MachineOverTime
from gpudoctor.model.session import HostSample
from gpudoctor.profile.pipeline_changes import with_changes
from gpudoctor.profile.timeline import analyse
from tests.checks.runs import make_pipeline, make_settings, make_steps
from tests.profile.test_timeline import two_epochs
from tests.profile.timelines import START, loop, phase, readings, session

COST_S = 0.018  # of the serial map, in steps of 20 ms that wait for 16 of them


def parallel_map(**machine: Any) -> Change:
    """Return what a parallel map is said to bring on such a machine."""
    steps = make_steps(waits=0.8)
    given: dict[str, Any] = {"cores": 8, "cores_used": 1.1, **machine}
    found = with_changes(
        make_pipeline(batch_s=COST_S),
        steps,
        MachineOverTime(**given),
        make_settings(),
        1,
        lines=None,
    )
    return next(each for each in found.changes if each.kind == "parallel_map")


def test_on_a_machine_of_ones_own_half_of_the_cores_are_sure() -> None:
    change = parallel_map(free_cores=8.0)
    assert change.low == pytest.approx(0.020 / (0.0001 + COST_S / 4))  # the rest of the pipeline takes 0.1 ms a batch
    assert change.basis == "18 ms a batch over 8 cores"


def test_the_load_of_others_lowers_the_sure_end_and_leaves_the_best_case() -> None:
    lows = [parallel_map(free_cores=each).low for each in (8.0, 6.0, 4.0, 2.5, 1.5, 1.0, 0.2)]
    assert lows == sorted(lows, reverse=True)
    assert lows[0] > lows[2] > lows[4]
    assert lows[-1] == 1.0
    assert len({parallel_map(free_cores=each).high for each in (8.0, 2.5, 0.2)}) == 1
    assert parallel_map(free_cores=2.5).basis == "18 ms a batch over 8 cores, 2.5 of them free of other processes"


def test_the_free_cores_bound_the_whole_step_not_only_the_function() -> None:
    """22 ms of processor time a step (1.1 cores for 20 ms) take 8.8 ms on 2.5 free cores, where the map alone takes 6.4."""
    assert parallel_map(free_cores=2.5).low == pytest.approx(0.020 / max(0.0001 + COST_S / 1.25, 0.022 / 2.5))
    idle = parallel_map(free_cores=1.0, cores_used=0.9)
    assert idle.low == pytest.approx(0.020 / (0.0001 + COST_S))
    assert parallel_map(free_cores=1.0, cores_used=0.98).low == pytest.approx(0.020 / (0.020 * 0.98))


def test_where_nobody_measured_the_load_all_cores_count_as_free() -> None:
    assert parallel_map() == parallel_map(free_cores=8.0)


def test_cores_that_the_command_may_not_run_on_promise_nothing() -> None:
    assert parallel_map(usable_cores=2, free_cores=2.0).high < parallel_map(free_cores=8.0).high
    assert parallel_map(usable_cores=2, free_cores=2.0).basis == "18 ms a batch over 2 cores"


def over_time(*rows: HostSample) -> MachineOverTime:
    """Return the machine of a run whose steady second these samples were taken in."""
    machine = analyse(replace(two_epochs(), host_samples=rows), (), lambda _file, _line: "").machine
    assert machine is not None
    return machine


def sample(at: float, cpu_s: float, percent: float, **members: Any) -> HostSample:
    """Return a second of a machine of four cores."""
    return HostSample(at=START + at, cores=4, cpu_percent=percent, command_cpu_s=cpu_s, **members)


def test_free_cores_are_all_but_those_of_other_processes() -> None:
    """Three of four cores are at work, one of them for the command."""
    machine = over_time(sample(5.1, 10.0, 75.0), sample(5.6, 10.5, 75.0))
    assert machine.free_cores == pytest.approx(2.0)
    pinned = over_time(sample(5.1, 10.0, 75.0, usable_cores=1), sample(5.6, 10.5, 75.0, usable_cores=1))
    assert (pinned.usable_cores, pinned.free_cores) == (1, 1)


def test_cores_used_are_those_of_the_steps_and_not_of_validation_between_them() -> None:
    """Steady steps in the sixth second and from the ninth on; in the two between, validation uses four cores."""
    recording = session(
        loop(),
        steps=readings((5.0, 40, 0.0), (6.0, 80, 0.0), (9.0, 80, 0.0), (10.0, 120, 0.0)),
        phases=(
            phase(1, "fit", 0.0, 10.0),
            phase(2, "epoch", 0.0, 5.0),
            phase(3, "epoch", 5.0, 8.0),
            phase(4, "validation", 6.0, 8.0),
            phase(5, "epoch", 9.0, 10.0),
        ),
    )
    used = ((5.0, 10.0), (6.0, 11.0), (7.0, 15.0), (8.0, 19.0), (9.0, 19.0), (10.0, 20.0))
    rows = tuple(sample(at, cpu_s, 50.0) for at, cpu_s in used)
    machine = analyse(replace(recording, host_samples=rows), (), lambda _file, _line: "").machine
    assert machine is not None
    assert machine.cores_used == pytest.approx(1.0, abs=0.01)


def test_without_the_hosts_load_free_cores_are_unknown() -> None:
    rows = (HostSample(at=START + 5.1, cores=4), HostSample(at=START + 5.6, cores=4))
    assert isinstance(over_time(*rows).free_cores, Missing)


def test_the_cores_that_a_command_may_run_on_are_those_of_its_freest_process(tmp_path: Path) -> None:
    tail = " ".join(["0"] * 9 + ["1", "1", "0", "0", "0", "0", "1", "0", "0", "0", "7"])
    for pid, mask in ((10, "f"), (11, "ff,00000003")):
        (tmp_path / f"proc/{pid}").mkdir(parents=True)
        (tmp_path / f"proc/{pid}/stat").write_text(f"{pid} (python) S 1 {tail}", encoding="ascii")
        (tmp_path / f"proc/{pid}/status").write_text(f"Name:\tpython\nCpus_allowed:\t{mask}\n", encoding="ascii")
    assert RunMeter(tmp_path).read([10, 11])["usable_cores"] == 10


def perfect(activity: str, *, gpus: int = 0) -> float:
    """Return the bound of a run whose slowest stage calls Python that is sampled at this, in steps of 20 ms that wait for 4."""
    line = HotLine(file="train.py", line=5, function="augment", role="pipeline", activity=activity, leaf="", share=0.6)
    found = with_changes(
        make_pipeline(batch_s=COST_S, python="python function"),
        make_steps(waits=0.2),
        None,
        make_settings(gpus=gpus),
        1,
        lines=HotLines(lines=(line,), sampled_s=3.0),
    )
    return next(each.high for each in found.changes if each.kind == "perfect")


def test_without_python_beside_it_on_the_same_cores_the_step_itself_may_become_shorter() -> None:
    rest_s = 0.020 * 0.8
    assert perfect("wait") == pytest.approx(0.020 / rest_s)
    assert perfect("numpy") == pytest.approx(0.020 / (rest_s - 0.25 * COST_S))
    assert perfect("python") == pytest.approx(0.020 / (rest_s / 4))
    assert perfect("python", gpus=1) == pytest.approx(0.020 / rest_s)


def test_a_pydataset_is_not_told_to_prefetch_in_a_data_set_that_its_user_never_made() -> None:
    def kinds(python: str) -> set[str]:
        made = replace(make_pipeline(batch_s=COST_S, python=python), prefetch="none")
        found = with_changes(made, make_steps(waits=0.4), None, make_settings(), 1, lines=None)
        return {each.kind for each in found.changes}

    assert "prefetch" in kinds("generator")
    assert "prefetch" not in kinds("sequence")


def test_the_bound_says_what_the_wait_alone_brings_and_what_the_relief_of_the_step_may_add() -> None:
    line = HotLine(
        file="train.py", line=9, function="rows", role="pipeline", activity="python", leaf="split", share=0.7
    )
    lines = HotLines(lines=(line,), sampled_s=3.0)
    made = make_pipeline(batch_s=COST_S, python="generator")
    found = with_changes(made, make_steps(waits=0.2), None, make_settings(gpus=0), 1, lines=lines)
    (bound,) = [each for each in found.changes if each.kind == "perfect"]
    assert bound.low == pytest.approx(1.25)
    assert bound.high == pytest.approx(5.0)
