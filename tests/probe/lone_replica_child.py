"""The probe's child whose replicas keep their gradients to themselves; started in place of the real one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.probe.for_target import modules  # the target has no tests on its path

if __name__ == "__main__":
    child, replicas = modules(str(Path(__file__).parents[2] / "gpudoctor" / "probe"), "child", "child_replicas")

    def _added_up(self: Any, pictures: Any, labels: Any, total: Any) -> Any:
        """Return what stands for an exchange that does not happen."""
        loss, gradients = replicas.loss_and_gradients(self.network, pictures, labels, total)
        return loss, gradients, self.tf.shape(pictures)[0]

    replicas.Replicas._added_up = _added_up
    sys.exit(child.main(sys.argv[1:]))
