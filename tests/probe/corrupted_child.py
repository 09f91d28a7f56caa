"""The probe's child whose device computes the gradient of layer 2's weights wrongly; started in place of the real one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.probe.for_target import modules  # the target has no tests on its path

if __name__ == "__main__":
    child, gradients = modules(str(Path(__file__).parents[2] / "gpudoctor" / "probe"), "child", "child_gradients")
    sound = gradients.device_pass

    def device_pass(*given: Any) -> Any:
        """Compute as the device does, and lose two percent of one layer's gradient."""
        made = sound(*given)
        arrays = list(made.weight_gradients)
        arrays[1] = arrays[1] * 0.98
        return made._replace(weight_gradients=arrays)

    gradients.device_pass = device_pass
    sys.exit(child.main(sys.argv[1:]))
