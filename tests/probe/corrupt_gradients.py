"""The test build of `gradcheck`: the device's result of one layer's W or b is corrupted before it is compared.

Run under a target interpreter: corrupt_gradients.py FOLDER. Prints, for every arm, parameter and kind of corruption,
whether the trial failed and what it named.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.probe.for_target import bench, modules  # the target has no tests on its path

ARMS = ("float32", "jit", "mixed", "mixed_jit")
GROUPS = {"W": "weight_gradients", "b": "bias_gradients"}


def corrupted(array: Any, kind: str) -> Any:
    """Return a copy with one visible fault: an entry, the scale, a sign, a lost block, or no number at all."""
    changed = array.copy()
    flat = changed.reshape(-1)
    peak = int(abs(flat).argmax())
    if kind == "entry off by a tenth of the largest":
        flat[flat.size // 3] += 0.1 * abs(flat[peak])
    elif kind == "scaled by 1.05":
        flat *= 1.05
    elif kind == "sign of the largest entry":
        flat[peak] = -flat[peak]
    elif kind == "a row is lost":
        changed[len(changed) // 2 :] = 0.0
    else:
        flat[peak] = float("nan")
    return changed


KINDS = ("entry off by a tenth of the largest", "scaled by 1.05", "sign of the largest entry", "a row is lost", "NaN")


class Canned:
    """Stands for the device: gives the pass that was made before, with its fault."""

    def __init__(self, passes: dict[str, Any]) -> None:
        self._passes = passes

    def __call__(self, _bench: Any, name: str, _given: Any) -> Any:
        """Return the pass of that arm."""
        return self._passes[name]


def main(folder: str) -> None:
    """Check the sound device once, then every corruption."""
    made = bench(folder, full=True)
    _, gradients = modules(folder, "child_bench", "child_gradients")
    sound = {name: gradients.device_pass(made, name, gradients.problem(made)) for name in ARMS}
    told: list[dict[str, Any]] = [{"kind": "untouched", **_verdict(gradients.gradcheck(made))}]
    for arm in ARMS:
        for parameter, group in GROUPS.items():
            for layer in range(3):
                for kind in KINDS:
                    arrays = list(getattr(sound[arm], group))
                    arrays[layer] = corrupted(arrays[layer], kind)
                    broken = dict(sound, **{arm: sound[arm]._replace(**{group: arrays})})
                    gradients.device_pass = Canned(broken)
                    found = _verdict(gradients.gradcheck(made))
                    told.append({"arm": arm, "where": f"layer {layer + 1} {parameter}", "kind": kind, **found})
    sys.stdout.write(json.dumps(told) + "\n")


def _verdict(result: dict[str, Any]) -> dict[str, Any]:
    return {"status": result["status"], "reason": result["reason"], "arms": [each["name"] for each in result["arms"]]}


if __name__ == "__main__":
    main(sys.argv[1])
