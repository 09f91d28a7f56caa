"""The probe's child that climbs its ladder to the end of the memory, however fast a rung is; started in place of the real one."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.probe.for_target import modules  # the target has no tests on its path

if __name__ == "__main__":
    child, ladder = modules(str(Path(__file__).parents[2] / "gpudoctor" / "probe"), "child", "child_ladder")

    def _is_over_the_top(_rungs: Any) -> bool:
        """Go on: where the throughput ends to rise depends on what else the machine does."""
        return False

    ladder._is_over_the_top = _is_over_the_top
    os._exit(child.main(sys.argv[1:]))  # as the real one ends
