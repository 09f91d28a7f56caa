"""Kill -9 of the wrapper, the script, or both, at random moments of a training that really goes on: what is lost.

    python -m tests.benchmarks.kill_trial PYTHON_WITH_TENSORFLOW [COUNT] [SEED]

Prints a line a trial and the figures of all. Moments lie up to 5 s after the first step; every fifth
within the first second, before or while the first beat is written.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gpudoctor.cli.session_report import rendered
from gpudoctor.profile.record import read_session
from tests.profile.launched import gpudoctor, surroundings
from tests.slow_machines import in_time

MOST_LOST_S = 2.0  # policy: two of the once-a-second samples; more would hide what came before the kill
SCRIPT = str(Path(__file__).parents[1] / "profile" / "scripts" / "endless.py")
VICTIMS = ("wrapper", "script", "both")


@dataclass(frozen=True, slots=True, kw_only=True)
class Killed:
    """What was left after one kill. `lost_s`: from the last recorded step to the kill."""

    victims: str
    after_s: float
    code: int
    outcome: str
    steps: int
    lost_s: float
    report: str

    @property
    def faults(self) -> list[str]:
        """Return what is not as it has to be."""
        whole = self.victims == "script"
        signalled = 128 + signal.SIGKILL if whole else -signal.SIGKILL
        found = {
            f"exit code {self.code}": self.code == signalled,
            f"outcome {self.outcome}": self.outcome == ("ended" if whole else "cut_short"),
            f"{self.lost_s:.2f} s lost": in_time(self.lost_s, MOST_LOST_S),
            "the report does not say it": ("137" if whole else "cut short") in self.report,
        }
        return [words for words, right in found.items() if not right]


def trial(folder: Path, python: str, victims: str, after_s: float) -> Killed:
    """Kill these so long after the first step, and read what is left."""
    path = folder / "s"
    wrapper = subprocess.Popen(
        gpudoctor("run", "-q", "--session", str(path), "--", python, SCRIPT),
        cwd=folder,
        env=surroundings(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert wrapper.stdout is not None
    assert wrapper.stdout.readline() == b"ready\n"
    first_step_at = time.time()
    script = _child_of(wrapper.pid)
    time.sleep(after_s)
    killed_at = time.time()
    if victims != "script":
        wrapper.kill()
    if victims != "wrapper":
        os.kill(script, signal.SIGKILL)
    code = wrapper.wait(120)
    session = read_session(path)
    text = rendered(path, "text")
    with suppress(ProcessLookupError):
        os.kill(script, signal.SIGKILL)
    wrapper.stdout.close()
    seen = [each.at for each in session.steps if each.at <= killed_at]
    return Killed(
        victims=victims,
        after_s=after_s,
        code=code,
        outcome=session.outcome,
        steps=max((each.count for each in session.steps), default=0),
        lost_s=killed_at - max(seen, default=first_step_at),
        report=text,
    )


def _child_of(pid: int) -> int:
    """Return the script: the wrapper's child that runs it."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    named = {int(each): Path(f"/proc/{each}/cmdline").read_bytes() for each in children}
    return next(number for number, words in named.items() if os.fsencode(SCRIPT) in words and b"gpudoctor" not in words)


def main(python: str, count: int, seed: int) -> int:
    """Run the trials; exit 1 where one failed."""
    moments = random.Random(seed)  # noqa: S311
    told: list[Killed] = []
    for number in range(count):
        victims, after_s = VICTIMS[number % 3], moments.uniform(0.0, 1.0 if number % 5 == 0 else 5.0)
        with tempfile.TemporaryDirectory() as folder:
            told.append(trial(Path(folder), python, victims, after_s))
        last = told[-1]
        words = f"{number + 1:3} {victims:8} after {after_s:4.2f} s: {last.steps:6} steps, lost {last.lost_s:4.2f} s"
        _say(f"{words} {'; '.join(last.faults)}".rstrip())
    lost = sorted(each.lost_s for each in told)
    wrong = sum(bool(each.faults) for each in told)
    _say(f"{count} kills, {wrong} with a fault; lost: median {lost[len(lost) // 2]:.2f} s, most {lost[-1]:.2f} s")
    return 1 if wrong else 0


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    given = [*sys.argv[1:], *("50", "1")[max(0, len(sys.argv) - 2) :]]
    sys.exit(main(given[0], int(given[1]), int(given[2])))
