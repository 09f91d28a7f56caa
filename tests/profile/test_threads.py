"""Training in threads: the line that waits for them is no work of the loop's, and without a thread of ours steps are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.profile.launched import run, with_tensorflow

pytestmark = pytest.mark.tensorflow

SCRIPT = Path(__file__).parent / "scripts" / "trains_in_threads.py"
STEPS = 2 * 12 * 32
JOINS = next(number for number, line in enumerate(SCRIPT.read_text().splitlines(), start=1) if ".join()" in line)


def test_the_lines_of_the_threads_that_train_are_the_loops_and_the_wait_for_them_is_not(tmp_path: Path) -> None:
    ran = run(tmp_path, with_tensorflow(), str(SCRIPT))
    assert ran.out == b"done\n"
    roles = {(each.line, each.role) for each in ran.session.stack_lines}
    assert (JOINS, "main") not in roles
    assert "main" in {role for _, role in roles}


def test_without_a_thread_for_the_recorder_steps_are_counted_and_the_script_runs_on(tmp_path: Path) -> None:
    ran = run(tmp_path, with_tensorflow(), str(SCRIPT), "alone")
    assert (ran.code, ran.out) == (0, b"done\n")
    counts: dict[int, int] = {}
    for each in ran.session.steps:
        counts[each.loop] = max(each.count, counts.get(each.loop, 0))
    assert sum(counts.values()) == STEPS
    faults = [each.text for each in ran.session.events if each.kind == "agent_fault"]
    assert faults
    assert all("can't start new thread" in each for each in faults)
