"""Looks at the PCIe link of the probe's GPU while the trial `transfer` moves data over it, and only then.

At idle a GPU lowers its link on purpose. What counts is the best that was seen: it takes a moment until the link is up, and
one that was up for a moment can be up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpudoctor.model.gpu import Gpu, LinkSample
from gpudoctor.model.missing import Maybe, Missing

TRIAL = "transfer"


class LinkWatch:
    """Collects what is seen of one GPU's link. `gpu`: None where it is not known which GPU the child uses."""

    def __init__(self, gpu: Gpu | None = None, ask: Callable[[int], LinkSample | None] | None = None) -> None:
        """Look at this GPU by this way."""
        self._gpu, self._ask = gpu, ask
        self._seen: list[LinkSample] = []

    def look(self, running: str) -> None:
        """Look once, if the trial runs; after a look that found nothing, never again: NVML may hang for seconds each time."""
        if running != TRIAL or self._gpu is None or self._ask is None:
            return
        sample = self._ask(self._gpu.index)
        if sample is None:
            self._ask = None
        else:
            self._seen.append(sample)

    def figures(self) -> Mapping[str, float]:
        """Return the best of each figure; one that was never told is left out."""
        if self._gpu is None or not self._seen:
            return {}
        told: dict[str, list[Maybe[int]]] = {
            "pcie_gen": [each.link.gen for each in self._seen],
            "pcie_gen_max": [each.link.gen_max for each in self._seen],
            "pcie_width": [each.link.width for each in self._seen],
            "pcie_width_max": [each.link.width_max for each in self._seen],
            "pcie_received_bytes_per_s": [each.received_bytes_per_s for each in self._seen],
        }
        best = {
            name: max((each for each in seen if not isinstance(each, Missing)), default=0)
            for name, seen in told.items()
        }
        known = {name: float(value) for name, value in best.items() if value}
        return {"gpu_index": float(self._gpu.index), "link_samples": float(len(self._seen)), **known}
