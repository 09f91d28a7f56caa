"""Start-up against nvitop, paired in one run on the same fake NVML: how long until the answer is there.

    python -m tests.benchmarks.startup [--pairs 20] [--pcie-sleep-ms 20]

The two commands run in turns, so that a slow minute of the machine meets both. Shown: medians, the median of the pairs'
ratios, and the 95 % t-interval of their mean logarithm. NVML's PCIe throughput call blocks 20 ms on real drivers, which
nvitop pays and gpudoctor does not; by default the fake does not block, which is the harder comparison for gpudoctor.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes import FURTHER_SCENARIOS, Scenario, environment
from tests.system import target

BIN = Path(sys.executable).parent
NVITOP = (str(BIN / "nvitop"), "-1")
GPUDOCTOR = str(BIN / "gpudoctor")
MACHINES = {"1 GPU": "healthy", "8 GPUs": "healthy_8"}
T_95 = {
    14: 2.145,
    19: 2.093,
    24: 2.064,
    29: 2.045,
    39: 2.023,
}  # two-sided quantiles of Student's t by degrees of freedom


@dataclass(frozen=True, kw_only=True)
class Contest:
    """A command of ours, what it may cost at most, in times nvitop's."""

    name: str
    command: Sequence[str]
    bar: float
    variables: Mapping[str, str] = field(default_factory=dict[str, str])


def contests(python: Path) -> tuple[Contest, ...]:
    """Return what is measured: the bars are those of the product's promise.

    The last two examine another environment, which costs the start of its interpreter; nvitop has no such work.
    """
    quick = (GPUDOCTOR, "scan", "--level", "quick", "--json")
    return (
        Contest(name="--version", command=(GPUDOCTOR, "--version"), bar=0.6),
        Contest(name="--help", command=(GPUDOCTOR, "--help"), bar=0.6),
        Contest(name="scan quick, own Python", command=quick, bar=1.5),
        Contest(
            name="scan quick, VIRTUAL_ENV", command=quick, bar=1.5, variables={"VIRTUAL_ENV": str(python.parent.parent)}
        ),
        Contest(name="scan quick, --python", command=(*quick, "--python", str(python)), bar=1.5),
    )


def seconds(command: Sequence[str], env: Mapping[str, str]) -> float:
    """Return the wall time of one run."""
    begun = time.perf_counter()
    subprocess.run(command, env=env, cwd=env["HOME"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - begun


def paired(ours: Callable[[], float], theirs: Callable[[], float], pairs: int) -> tuple[list[float], list[float]]:
    """Run both in turns, after one run of each to warm the caches."""
    ours()
    theirs()
    both = [(ours(), theirs()) for _ in range(pairs)]
    return [a for a, _ in both], [b for _, b in both]


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % t-interval of the geometric mean."""
    logs = [math.log(ratio) for ratio in ratios]
    middle = statistics.fmean(logs)
    half = T_95[len(logs) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(middle - half), math.exp(middle + half)


def machine(name: str, folder: Path, pcie_sleep_ms: int) -> dict[str, str]:
    """Return the environment of a machine; without the log of NVML calls, which both would pay for."""
    scenario: Scenario = FURTHER_SCENARIOS[name]
    if pcie_sleep_ms:
        scenario = scenario.with_lines(f"pcie_sleep_ms={pcie_sleep_ms}")
    env = environment(scenario, folder)
    del env["FAKE_NVML_LOG"]
    return env


def main() -> int:
    """Measure all; return 0 where every bar is kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, choices=[dof + 1 for dof in T_95], default=20)
    parser.add_argument("--pcie-sleep-ms", type=int, default=0)
    options = parser.parse_args()
    kept = True
    with tempfile.TemporaryDirectory() as folder:
        python = target.build(Path(folder) / "venv").python
        sys.stdout.write(f"{os.cpu_count()} CPUs, {options.pairs} pairs, PCIe call blocks {options.pcie_sleep_ms} ms\n")
        sys.stdout.write(f"{'machine':<8}{'command':<24}{'ours ms':>8}{'nvitop':>8}{'ratio':>7}  95 %          bar\n")
        for label, name in MACHINES.items():
            env = machine(name, Path(folder) / name, options.pcie_sleep_ms)
            for contest in contests(python):
                kept &= row(label, contest, env, options.pairs)
    return 0 if kept else 1


def row(label: str, contest: Contest, env: Mapping[str, str], pairs: int) -> bool:
    """Measure one contest and print its row."""
    own = {**env, **contest.variables}
    ours, theirs = paired(lambda: seconds(contest.command, own), lambda: seconds(NVITOP, env), pairs)
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    low, high = interval(ratios)
    ratio = statistics.median(ratios)
    verdict = "kept" if ratio <= contest.bar else "MISSED"
    sys.stdout.write(
        f"{label:<8}{contest.name:<24}{statistics.median(ours) * 1e3:>8.0f}{statistics.median(theirs) * 1e3:>8.0f}"
        f"{ratio:>7.2f}  {low:.2f}-{high:.2f}  {contest.bar:>9} {verdict}\n"
    )
    sys.stdout.flush()
    return ratio <= contest.bar


if __name__ == "__main__":
    sys.exit(main())
