"""How far the input share of `gpudoctor run` lies from the truth, over input delays, compute times, inputs and loops.

    python tests/benchmarks/truth_grid.py [--python PYTHON] [--only INPUT/LOOP] [--slice N/M]

The truth is what the seeded compute notes of itself: the time between two computes, less TensorFlow's own part of it, which
is measured with batches at hand before and behind; a point at which the two differ by more than the bar is measured again.
Where the script fetches by itself (`eager`, `function`), it is the script's own clock around `next`, at least without what
`next` takes with a batch at hand. In `own_...` loops, which fetch nothing from tf.data, it is that clock around the making of
a batch in NumPy, and what is held against it is the host's share.

The two seeded times, each measured alone before and behind, tell the truth, too: tf.data puts a prefetch behind each of these
pipelines by itself, so a steady step takes max(input, compute) and waits for max(0, input - compute). Inside one
`tf.function` over a dataset nothing is fetched ahead: there a step takes the sum and waits for all of input. Under `jit`
nothing can note anything, and they are all there is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpudoctor.model.missing import Missing
from gpudoctor.model.run import UNFETCHED, Run
from gpudoctor.profile.record import read_session
from gpudoctor.profile.timeline import analyse
from gpudoctor.profile.windows import window_shares

SCRIPT = Path(__file__).parents[1] / "profile" / "scripts" / "truth_point.py"
TRIES = 4
FAST_STEP_S, WITHIN, WITHIN_FAST = 0.005, 0.05, 0.10  # the bar: points of share, at steps of 5 ms and more, and below
ALL = tuple((delay, compute) for delay in (0, 2, 5, 20) for compute in (2, 5, 12, 30))
SOME = ((0, 5), (2, 2), (5, 2), (5, 12), (20, 5), (20, 30))
GRID = {
    ("generator", "fit"): ALL,
    ("py_function", "fit"): SOME,
    ("numpy_function", "fit"): SOME,
    ("files", "fit"): SOME,
    ("arrays", "fit"): ((0, 2), (0, 5), (0, 12), (0, 30)),
    ("generator", "eager"): SOME,
    ("generator", "function"): SOME,
    ("generator", "scan"): SOME,
    ("py_function", "function"): SOME,
    ("generator", "four_per_execution"): SOME,
    ("files", "four_per_execution"): SOME,
    ("generator", "jit"): SOME,
    ("numpy", "own_function"): SOME,
    ("numpy", "own_eager"): SOME,
    ("numpy", "own_jit"): SOME,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One place of the grid, and what came out. Times in ms."""

    input: str
    loop: str
    delay_ms: float
    compute_ms: float
    input_alone_ms: float
    compute_alone_ms: float
    noted: float | None
    run: Run
    unsure: float = 0.0
    noted_least: float | None = None

    @property
    def step_ms(self) -> float:
        """Return how long a steady step takes by the two times alone."""
        if self.loop == "scan" or self.input == "numpy":
            return self.input_alone_ms + self.compute_alone_ms
        return max(self.input_alone_ms, self.compute_alone_ms)

    @property
    def truth(self) -> float:
        """Return the share of a steady step that waits."""
        return self.noted if self.noted is not None else max(0.0, 1 - self.compute_alone_ms / self.step_ms)

    @property
    def least(self) -> float:
        """Return the least that the truth can be: waking up is TensorFlow's own work, too."""
        return self.truth if self.noted_least is None else min(self.truth, self.noted_least)

    @property
    def bar(self) -> float:
        """Return how far the share may lie from the truth."""
        return WITHIN if self.step_ms >= FAST_STEP_S * 1000 else WITHIN_FAST

    @property
    def share(self) -> float:
        """Return the share that is reported; nan where there is none."""
        steps = self.run.steps
        own = steps is not None and steps.kind in UNFETCHED
        share = Missing("no step") if steps is None else steps.shares.host if own else steps.shares.input
        return float("nan") if isinstance(share, Missing) else share

    @property
    def sure(self) -> bool:
        """Return whether the truth itself is known to half of the bar."""
        return self.unsure <= self.bar / 2

    @property
    def right(self) -> bool:
        """Return whether it lies within the bar of a truth that is known."""
        return self.sure and self.least - self.bar <= self.share <= self.truth + self.bar

    @property
    def near_the_most(self) -> bool:
        """Return whether it lies within the bar of the truth's upper end, too."""
        return self.right and self.share >= self.truth - self.bar

    def row(self) -> str:
        """Return it as a line of the table."""
        steps = self.run.steps
        own = steps is not None and steps.kind in UNFETCHED
        window = Missing("") if steps is None else steps.window_host_share if own else steps.window_input_share
        step = Missing("") if steps is None else steps.step_s
        verdict = "" if self.right else "OUTSIDE" if self.sure else "the truth itself is unsure"
        return (
            f"{self.input:15}{self.loop:19}{self.delay_ms:5g} {self.compute_ms:5g} | "
            f"{self.input_alone_ms:6.2f} {self.compute_alone_ms:6.2f} {self.step_ms:6.2f} "
            f"{_number(step, 1000):>6} | {self.least:6.1%} {self.truth:6.1%} {self.share:6.1%} {_number(window, 100):>6} "
            f"{100 * (self.share - self.truth):+6.1f} {verdict}"
        )


HEAD = "input          loop               delay  comp | in ms  comp ms  step   seen | least  truth  share  window  off"


def _number(value: float | Missing, factor: float) -> str:
    return "-" if isinstance(value, Missing) else f"{value * factor:.2f}"


def measured(python: str, source: str, loop: str, delay_ms: float, compute_ms: float) -> Point:
    """Run one point and return what came out."""
    with tempfile.TemporaryDirectory() as folder:
        session = Path(folder) / "point.session"
        words = ("--input", source, "--loop", loop, "--delay-ms", str(delay_ms), "--compute-ms", str(compute_ms))
        command = (sys.executable, "-m", "gpudoctor", "run", "--quiet", "--session", str(session), "--", python)
        told = subprocess.run((*command, str(SCRIPT), *words), capture_output=True, text=True, check=False)
        if told.returncode:
            raise SystemExit(told.stderr[-3000:])
        alone = json.loads(told.stdout.splitlines()[-1])
        recorded = read_session(session)
        return Point(
            input=source,
            loop=loop,
            delay_ms=delay_ms,
            compute_ms=compute_ms,
            input_alone_ms=alone["input_s"] * 1000,
            compute_alone_ms=alone["compute_s"] * 1000,
            noted=alone["wait_share"],
            unsure=alone["unsure"],
            noted_least=alone["least_share"],
            run=analyse(recorded, window_shares(session, recorded)),
        )


def _sure(python: str, source: str, loop: str, delay_ms: float, compute_ms: float) -> Point:
    """Return a point whose truth is known well enough: measured again, some times, where the machine was too busy for that."""
    for _ in range(TRIES - 1):
        point = measured(python, source, loop, delay_ms, compute_ms)
        if point.sure:
            return point
    return measured(python, source, loop, delay_ms, compute_ms)


def chosen(only: str, part: str) -> Iterator[tuple[str, str, float, float]]:
    """Yield the points of the grid that are asked for; every Nth, starting at the Mth."""
    every = [
        (source, loop, delay, compute)
        for (source, loop), pairs in GRID.items()
        if only in f"{source}/{loop}"
        for delay, compute in pairs
    ]
    number, _, of = part.partition("/")
    yield from every[int(number) - 1 :: int(of)] if part else every


def main() -> int:
    """Print the table; 1 where a point lies outside of the bar, or none was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="a Python that has TensorFlow")
    parser.add_argument("--only", default="")
    parser.add_argument("--slice", default="", help="2/5: the second fifth")
    given = parser.parse_args()
    points: list[Point] = []
    sys.stdout.write(HEAD + "\n")
    for each in chosen(given.only, given.slice):
        points.append(_sure(given.python, *each))
        sys.stdout.write(points[-1].row() + "\n")
        sys.stdout.flush()
    right, near = sum(each.right for each in points), sum(each.near_the_most for each in points)
    sys.stdout.write(
        f"{right} of {len(points)} within {WITHIN:.0%}, below 5 ms a step {WITHIN_FAST:.0%}, of the truth from least to most; "
        f"{near} of them of the most, too\n"
    )
    return 0 if points and right == len(points) else 1


if __name__ == "__main__":
    sys.exit(main())
