"""Grow the wide twin and run both precisions on a CPU: precision_twin.py FOLDER. Prints what came of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.probe.for_target import bench, modules  # the target has no tests on its path

# Steps whose shares of work of the device are known: none, a third and three quarters; real ones depend on the machine's load
MADE_UP_S = {16: 1.0, 32: 1.5, 512: 4.0, 1024: 8.0}


def made_up_s(_bench: Any, width: int, _batch: int) -> float:
    """Return the step time of a twin whose device works for a known share of it."""
    return MADE_UP_S[width]


def main(folder: str) -> None:
    """Ask the trial itself, grow small twins, meet each limit, and run a small competition."""
    made = bench(folder)
    child_bench, precision = modules(folder, "child_bench", "child_precision")
    told = {}
    try:
        precision.precision(made)
    except child_bench.Unsupported as why:
        told["on_cpu"] = str(why)
    told["measured"] = precision.grow(made, ((32, 32), (512, 512)), (16, 16), 0.0)
    measured, precision.step_s = precision.step_s, made_up_s
    told["grown"] = precision.grow(made, ((32, 32), (512, 512), (1024, 512)), (16, 16), 0.5)
    precision.step_s = measured
    for name, rungs, cap in (("too_small", ((16, 16),), 0), ("capped", precision.RUNGS, 1 << 24)):
        made.cap_bytes = cap
        try:
            precision.grow(made, rungs, (16, 16), 0.99)
        except child_bench.Inconclusive as why:
            told[name] = str(why)
    told["competition"] = precision.compete(made, 32, 32, {"width": 32})
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
