"""What `gpudoctor run` costs a training script: per step, per Python process, and beside other profilers.

    python tests/benchmarks/run_overhead.py steps|startup|peers [--python PYTHON] [--peers PYTHON]

`steps`: hooks on and off in turn inside one run, every few steps, so that the two halves of a pair see the same machine.
`peers` starts one process an arm, in turns: its pairs are seconds long, and its intervals wide.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from gpudoctor.profile.command import environment
from gpudoctor.profile.record import spool_folder

STEPS = str(Path(__file__).parents[1] / "profile" / "scripts" / "overhead_steps.py")
PAIRS = {2.0: 3000, 20.0: 1500}
BAR = {2.0: 0.03, 20.0: 0.01}
STARTUP_BAR_S = 0.050
TRIM = 0.1
RESAMPLES = 2000
ROUNDS = 5


def told(*words: str) -> None:
    """Write a line at once."""
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def recorded(folder: str, *command: str) -> list[str]:
    """Return a command under `gpudoctor run`."""
    session = f"{folder}/{secrets.token_hex(4)}.session"
    return [sys.executable, "-m", "gpudoctor", "run", "--quiet", "--session", session, "--", *command]


def output(command: Sequence[str], environ: Mapping[str, str] | None = None) -> str:
    """Run a command and return what it printed."""
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **(environ or {})})
    if ran.returncode:
        raise SystemExit(ran.stderr[-3000:])
    return ran.stdout


def trimmed(values: Sequence[float]) -> float:
    """Return the mean without the tenth at either end."""
    cut = int(len(values) * TRIM)
    return statistics.fmean(sorted(values)[cut : len(values) - cut])


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the trimmed mean and its 95 % interval by resampling."""
    draw = random.Random(1)  # noqa: S311
    found = sorted(trimmed(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return trimmed(values), found[int(0.025 * RESAMPLES)], found[int(0.975 * RESAMPLES)]


def paired(arm: str, step_ms: float, pairs: int, command: Sequence[str]) -> float:
    """Run the arm that toggles, tell its overhead, and return it as a share."""
    words = ("--arm", arm, "--step-ms", str(step_ms), "--pairs", str(pairs))
    got = json.loads(output((*command, STEPS, *words), {"GPUDOCTOR_WINDOWS": "0"}).splitlines()[-1])
    rows, steps = got["pairs"], got["steps"]
    mean, low, high = (math.exp(each) - 1 for each in interval([math.log(row[0] / row[2]) for row in rows]))
    cpu, cpu_low, cpu_high = (1e6 * each for each in interval([(row[1] - row[3]) / steps for row in rows]))
    step = statistics.median(row[2] for row in rows) / steps * 1000
    told(
        f"{arm:9} step {step:6.2f} ms, {len(rows)} pairs of {steps} steps:",
        f"{mean:+.2%} [{low:+.2%}, {high:+.2%}];",
        f"processor {cpu:+.0f} us a step [{cpu_low:+.0f}, {cpu_high:+.0f}], {cpu / step / 1000:+.2%}",
    )
    return mean


def per_step(python: str) -> bool:
    """Measure the always-on part and TensorFlow's profiler, toggled."""
    right = True
    with tempfile.TemporaryDirectory() as folder:
        for step_ms, pairs in PAIRS.items():
            mean = paired("toggled", step_ms, pairs, recorded(folder, python))
            right = right and mean <= BAR[step_ms]
            paired("profiler", step_ms, pairs // 10, [python])
    return right


def startup(python: str) -> bool:
    """Measure what a Python process costs more that never imports TensorFlow, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        spool = spool_folder(Path(folder) / "x")
        spool.mkdir()
        armed = environment(os.environ, spool)
        differences: list[float] = []
        for number in range(60):
            times: dict[bool, float] = {}
            for on in (True, False) if number % 2 else (False, True):
                begun = time.perf_counter()
                subprocess.run((python, "-c", "1"), env=armed if on else dict(os.environ), check=True)
                times[on] = time.perf_counter() - begun
            differences.append(times[True] - times[False])
    mean, low, high = (1000 * each for each in interval(differences))
    told(f"a Python process: {mean:+.1f} ms [{low:+.1f}, {high:+.1f}], {len(differences)} pairs")
    return mean / 1000 <= STARTUP_BAR_S


def beside(python: str, peers: str) -> bool:
    """Measure whole runs in turns: alone, ours with windows, py-spy, Scalene."""
    folder = tempfile.mkdtemp()
    binary = str(Path(peers).parent)
    first = (STEPS, "--arm", "throughout", "--step-ms", "20")
    rounds = _told_step(output((python, *first, "--seconds", "1")))["rounds"]
    plain = (*first, "--rounds", str(int(rounds)))  # a profiler must not lengthen what its own steps are measured by
    arms: dict[str, Sequence[str]] = {
        "alone": (python, *plain),
        "gpudoctor": recorded(folder, python, *plain),
        "py-spy": (f"{binary}/py-spy", "record", "-o", f"{folder}/spy.svg", "--", python, *plain),
        "scalene": (peers, "-m", "scalene", "run", "--cpu-only", "-o", f"{folder}/scalene.json", *plain),
    }
    times: dict[str, list[float]] = {name: [] for name in arms}
    for _ in range(ROUNDS):
        for name, command in arms.items():
            words = command if name != "gpudoctor" else recorded(folder, python, *plain)
            times[name].append(_told_step(output(words))["step_s"])
    for name, values in times.items():
        ratios = [math.log(ours / alone) for ours, alone in zip(values, times["alone"], strict=True)]
        mean, low, high = (math.exp(each) - 1 for each in interval(ratios))
        told(f"{name:9} {1000 * statistics.median(values):6.2f} ms a step, {mean:+.1%} [{low:+.1%}, {high:+.1%}]")
    return True


def _told_step(text: str) -> dict[str, float]:
    """Return the script's own line among what a profiler prints."""
    return dict(json.loads(next(each for each in text.splitlines() if each.startswith('{"step_s"'))))


def main() -> int:
    """Measure what is asked for; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["steps", "startup", "peers"])
    parser.add_argument("--python", default=sys.executable, help="a Python that has TensorFlow")
    parser.add_argument("--peers", default="", help="a Python that has TensorFlow, scalene and py-spy")
    given = parser.parse_args()
    if given.what == "steps":
        return 0 if per_step(given.python) else 1
    if given.what == "startup":
        return 0 if startup(given.python) else 1
    return 0 if beside(given.python, given.peers or given.python) else 1


if __name__ == "__main__":
    sys.exit(main())
