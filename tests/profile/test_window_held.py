"""A window's thread that is busy inside the profiler holds up neither a fork for long nor the end of the script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.profile.launched import surroundings
from tests.slow_machines import in_time

SCRIPT = str(Path(__file__).parent / "scripts" / "window_held.py")


def test_a_busy_window_is_abandoned_at_a_fork_and_at_the_end(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, SCRIPT],
        cwd=tmp_path,
        env={**surroundings(tmp_path), "GPUDOCTOR_SPOOL": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    forked, ended = (line.split() for line in ran.stdout.splitlines())
    assert float(forked[0]) > 0.9
    assert in_time(float(forked[0]), 9, after_s=1)  # it is waited for once, a second
    assert in_time(float(forked[1]), 5)  # of eight more forks none waits
    assert forked[2:] == ["the", "process", "forked", "False"]
    assert in_time(float(ended[0]), 1)
    assert ended[1] == "False"
