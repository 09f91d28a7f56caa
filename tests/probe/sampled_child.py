"""The probe's child that also tells the time of each window behind a comparison; started in place of the real one."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.probe.for_target import modules  # the target has no tests on its path


def telling(module: Any) -> None:
    """Let the module's trials tell their samples as values: `sample.explicit.0` and so on."""
    compare, result = module.compare, module.result
    samples: dict[str, float] = {}

    def recorded(arm: str, against: str, times: dict[str, list[float]]) -> Any:
        for name in (arm, against):
            samples.update({f"sample.{name}.{place}": taken for place, taken in enumerate(times[name])})
        return compare(arm, against, times)

    def told(*given: Any, **named: Any) -> Any:
        made = result(*given, **named)
        made["values"].update(samples)
        samples.clear()
        return made

    module.compare, module.result = recorded, told


if __name__ == "__main__":
    child, *measuring = modules(
        str(Path(__file__).parents[2] / "gpudoctor" / "probe"), "child", "child_input", "child_compile"
    )
    for each in measuring:
        telling(each)
    os._exit(child.main(sys.argv[1:]))  # as the real one ends: TensorFlow's own teardown can take long
