"""What a scan must say on each of the 21 machines of the robustness matrix, and how it is asked.

The rows' own causes are the truth for most. For the three machines without a single cause it stands here what an honest
answer holds: the words that a person must be able to read, and the states that are allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.fakes import Scenario, environment
from tests.side_by_side import together
from tests.slow_machines import in_time
from tests.system.command import (
    Json,
    Run,
    assert_clean,
    assert_readable,
    cause_of,
    gpudoctor,
)

SOURCE_DEADLINE_S = 3.0  # the promise: a source gets 3 s
GRACE_S = 1.0  # and the scan ends within a second more
TRIES = 3
UNHEALTHY = frozenset({"warning", "broken", "unknown"})


@dataclass(frozen=True, kw_only=True)
class Said:
    """What must be said where no single cause is the truth: a pattern for the text report, and the allowed states."""

    words: re.Pattern[str]
    statuses: frozenset[str] = UNHEALTHY


WITHOUT_CAUSE: dict[str, Said] = {
    "all_not_supported": Said(
        words=re.compile(r"Could not see: GPU 0 \(not_supported\), GPU 1"), statuses=frozenset({"unknown"})
    ),
    "zero_gpus": Said(words=re.compile(r"[Nn]o (?:usable )?NVIDIA GPU"), statuses=frozenset({"unknown", "broken"})),
    "hang": Said(
        words=re.compile(r"Could not see: NVML \(timeout after 3 s, GPU 0\)"), statuses=frozenset({"unknown"})
    ),
}


@dataclass(frozen=True, kw_only=True)
class Scan:
    """A machine scanned three times: as JSON with its snapshot saved, as text, and the snapshot again."""

    scenario: Scenario
    json: Run
    text: Run
    replay: Run
    snapshot: Path
    env: dict[str, str]
    command: tuple[str | Path, ...]

    def again(self) -> Run:
        """Scan once more, as text."""
        return gpudoctor(*self.command, env=self.env)

    @property
    def report(self) -> Json:
        """Return the report of the live scan."""
        return self.json.document


def scan(scenario: Scenario, python: Path, folder: Path) -> Scan:
    """Play the scenario and scan it with the real command at level quick."""
    env = environment(scenario, folder)
    snapshot = folder / "snapshot.json"
    quick = ("scan", "--level", "quick", "--python", python)
    ask = partial(gpudoctor, *quick, env=env)
    json, text = together(partial(ask, "--json", "--save-snapshot", snapshot), ask)
    return Scan(
        scenario=scenario,
        json=json,
        text=text,
        replay=gpudoctor("scan", "--json", "--snapshot", snapshot, env=env),
        snapshot=snapshot,
        env=env,
        command=quick,
    )


def assert_ends_in_time(first: Run, again: Callable[[], Run], deadline_s: float = SOURCE_DEADLINE_S) -> None:
    """Assert that a run, or one of two more, ended within a second of the deadline; others may work on this machine too."""
    times = [first.duration_s]
    while not in_time(times[-1], GRACE_S, after_s=deadline_s):
        assert len(times) < TRIES, times
        times.append(again().duration_s)


def assert_the_truth_is_told(scan_: Scan) -> None:
    """Assert that the machine is not called healthy and that its true trouble is the first thing said."""
    report, scenario = scan_.report, scan_.scenario
    status = report["summary"]["status"]
    assert status in UNHEALTHY, scenario.true_reason
    if scenario.expected_cause is not None:
        told = [(each["cause"], each.get("caused_by"), each["summary"]) for each in report["findings"]]
        assert cause_of(report) == scenario.expected_cause, (scenario.true_reason, told)
        return
    said = WITHOUT_CAUSE[scenario.name]
    assert not [each for each in report["findings"] if each["severity"] == "error"], report["findings"]
    assert "PRIMARY" not in scan_.text.out, scan_.text.out
    assert status in said.statuses, scan_.text.out
    assert said.words.search(scan_.text.out), scan_.text.out


def assert_well_behaved(scan_: Scan) -> None:
    """Assert what holds on every machine: no traceback, a report of the promised size."""
    for run in (scan_.json, scan_.text, scan_.replay):
        assert_clean(run)
    assert_readable(scan_.text)
