"""Is the promised gain kept? The advised change is made for real and timed against the script as it was, in pairs.

    python -m tests.benchmarks.advice_gain PYTHON_WITH_TENSORFLOW [PAIRS]

Each case: a script with one thing missing runs under `gpudoctor run`; the fix must be advised, with a range. Then both forms
run without us, by turns of some seconds in one process (between processes the load of a shared machine made 45 ms steps of
one form 102), and the ratio of their step times (geometric mean, 95 % t-interval) must lie inside the range. The form that has the change must not be advised it again.
"""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpudoctor import codec
from tests.profile.launched import gpudoctor, surroundings

SCRIPT = str(Path(__file__).parents[1] / "profile" / "scripts" / "advised.py")
CASES = (("prefetch", "no_prefetch", "prefetch"), ("parallel-map", "serial", "parallel"))
T_95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 8: 2.36, 10: 2.26}  # two-sided, by pairs (Student)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What was promised for one change, and what came."""

    fix: str
    promised: tuple[float, float] | None
    gain: float
    low: float
    high: float
    advised_again: bool

    @property
    def right(self) -> bool:
        """Return whether the gain lies in the promised range, and nothing needless was advised."""
        return (
            self.promised is not None and self.promised[0] <= self.gain <= self.promised[1] and not self.advised_again
        )


def promised(python: str, arm: str, fix: str) -> tuple[float, float] | None:
    """Return the range that the report gives to a fix, None where it is not advised."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "report.json"
        words = gpudoctor("run", "-q", "--json", str(place), "--session", f"{folder}/s", "--", python, SCRIPT, arm)
        subprocess.run(words, env=surroundings(Path(folder)), check=True, stdout=subprocess.DEVNULL)
        report: Any = codec.loads(place.read_bytes())  # a JSON document
    for each in report["fixes"]:
        if each["id"] == f"pipeline-{fix}":
            return each["gain"]["low"], each["gain"]["high"]
    return None


def by_turns(python: str, before: str, after: str, pairs: int) -> list[float]:
    """Return the logarithms of how much shorter a step became, of each pair of turns. The first pair is warm-up."""
    words = [python, SCRIPT, before, "--turns", str(pairs + 1), after]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(words, env=surroundings(Path(folder)), check=True, capture_output=True, text=True)
    rows = [[float(each) for each in line.split()] for line in done.stdout.splitlines()]
    return [math.log(first / second) for first, second in rows[1:]]


def measured(python: str, case: tuple[str, str, str], pairs: int) -> Kept:
    """Return what one case comes to."""
    fix, before, after = case
    told, again = promised(python, before, fix), promised(python, after, fix)
    ratios = by_turns(python, before, after, pairs)
    mean = statistics.mean(ratios)
    spread = T_95[pairs] * statistics.stdev(ratios) / math.sqrt(pairs)
    low, high = math.exp(mean - spread), math.exp(mean + spread)
    return Kept(fix=fix, promised=told, gain=math.exp(mean), low=low, high=high, advised_again=again is not None)


def main(python: str, pairs: int) -> int:
    """Print a line a case; exit 1 where a promise was not kept."""
    kept = [measured(python, case, pairs) for case in CASES]
    for each in kept:
        told = f"{each.promised[0]:.2f}-{each.promised[1]:.2f}x" if each.promised is not None else "not advised"
        again = "; advised again after it was made" if each.advised_again else ""
        words = f"promised {told}, came {each.gain:.2f}x [{each.low:.2f}, {each.high:.2f}], {pairs} pairs"
        sys.stdout.write(f"{each.fix:13} {words}: {'kept' if each.right else 'NOT KEPT'}{again}\n")
    return 0 if all(each.right for each in kept) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5))
