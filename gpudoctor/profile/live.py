"""The live line: steps per second, input share, GPU, memory, from what the last seconds brought."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpudoctor.profile.terminal import Terminal  # part of the launcher, which exists on POSIX alone

GIBI = 1 << 30


class LiveLine:
    """Listens to the rows that are taken in and shows one line, where there is a terminal."""

    def __init__(self, terminal: Terminal | None) -> None:
        self._terminal = terminal
        self._last: dict[tuple[str, int], tuple[float, int, float]] = {}
        self._steps_per_s, self._share = 0.0, ""
        self._gpu: Mapping[str, Any] = {}
        # loops whose fetches run beside compute: only windows tell their wait
        self._overlap: set[tuple[str, int]] = set()

    def hear(self, table: str, values: Mapping[str, Any]) -> None:
        """Take a row."""
        if table == "gpu_samples" and values.get("own_processes", 1):
            self._gpu = values
        elif table == "loops" and values.get("overlaps"):
            self._overlap.add((str(values["process"]), int(values["loop"])))
        elif table == "steps":
            self._step(values)

    def _step(self, values: Mapping[str, Any]) -> None:
        key = (str(values["process"]), int(values["loop"]))
        called = values.get("wait_s") is None and values.get("inside_s") is not None
        spent = float((values["inside_s"] if called else values.get("wait_s")) or 0.0)
        now = (float(values["at"]), int(values["count"]), spent)
        before, self._last[key] = self._last.get(key), now
        if before is not None and now[0] > before[0] and now[1] > before[1]:
            seconds = now[0] - before[0]
            self._steps_per_s = (now[1] - before[1]) / seconds
            share = min(1.0, max(0.0, (now[2] - before[2]) / seconds))
            # steps that fetch nothing from tf.data: what is not inside of TensorFlow's calls is the loop's own Python
            told = f"host {100 * (1 - share):.0f} %" if called else f"input {100 * share:.0f} %"
            self._share = "" if key in self._overlap else told

    def show(self) -> None:
        """Show the line."""
        if self._terminal is None or not self._steps_per_s:
            return
        words = [f"{self._steps_per_s:.1f} steps/s", *([self._share] if self._share else [])]
        if "gpu_percent" in self._gpu:
            words.append(f"GPU {self._gpu['gpu_percent']} %")
        if "memory_used_bytes" in self._gpu and "memory_total_bytes" in self._gpu:
            used, total = (self._gpu[f"memory_{each}_bytes"] / GIBI for each in ("used", "total"))
            words.append(f"{used:.1f} of {total:.0f} GB")
        self._terminal.show("gpudoctor: " + " | ".join(words))
