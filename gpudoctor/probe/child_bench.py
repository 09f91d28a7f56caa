"""What every trial needs: TensorFlow, the device it may use, the time left, and the shape of a result.

Runs under the target interpreter: Python 3.8, standard library, TensorFlow and NumPy only. TensorFlow is passed in and
never imported here, so that tests can look at the parts that need none.
"""

from __future__ import annotations

import re
import time
from typing import Any, Callable, Dict, Sequence

Json = Dict[str, Any]  # a JSON object on its way to the parent, which converts it strictly
DEVICE = re.compile(r"device:(GPU|CPU):", re.IGNORECASE)
MEBIBYTE = 1 << 20
WRAPPING = ("Graph execution error", "Detected at node", "<stack traces", "File ", "[[", "Traceback", "Original stack")


class Unsupported(Exception):  # noqa: N818  # an outcome, not an error
    """The trial cannot be made on this machine or with this TensorFlow."""


class Inconclusive(Exception):  # noqa: N818  # an outcome, not an error
    """The trial was made and does not allow an answer."""


class Bench:
    """The place where trials run. `device`: GPU or CPU, what TensorFlow would use by itself."""

    def __init__(
        self,
        tf: Any,
        np: Any,
        *,
        cap_bytes: int = 0,
        full: bool = False,
        advance: Callable[[float], None] | None = None,
    ) -> None:
        """Take the modules and choose the device; must come before anything initialises a GPU."""
        self.tf = tf
        self.np = np
        self.full = full
        self.cap_bytes = cap_bytes
        self._advance = advance
        self.deadline = float("inf")
        self.device = "CPU"
        self.device_name = ""
        self.compute_capability = 0
        self.cache: dict[str, Any] = {}
        gpus = tf.config.list_physical_devices("GPU")
        self.visible_gpus = len(gpus)
        self._choose(gpus)

    def _choose(self, gpus: Sequence[Any]) -> None:
        if not gpus:
            return
        self.tf.config.set_visible_devices(list(gpus[:1]), "GPU")
        if self.cap_bytes:
            cap = self.tf.config.LogicalDeviceConfiguration(memory_limit=self.cap_bytes // MEBIBYTE)
            self.tf.config.set_logical_device_configuration(gpus[0], [cap])
        details = self.tf.config.experimental.get_device_details(gpus[0])
        major, minor = details.get("compute_capability") or (0, 0)
        self.device = "GPU"
        self.device_name = str(details.get("device_name") or "")
        self.compute_capability = major * 10 + minor

    def limit(self, seconds: float) -> None:
        """Start the clock of a trial."""
        self.deadline = time.monotonic() + seconds

    def left_s(self) -> float:
        """Return the seconds that the trial may still take."""
        return self.deadline - time.monotonic()

    def advance(self, share: float) -> None:
        """Tell the parent that this share (0-1) of the trial is done."""
        if self._advance is not None:
            self._advance(share)

    def peak_bytes(self) -> int | None:
        """Return the most memory that tensors held on the GPU since the last reset; None on a CPU or an old TensorFlow."""
        if self.device != "GPU":
            return None
        try:
            return int(self.tf.config.experimental.get_memory_info("GPU:0")["peak"])
        except (AttributeError, ValueError, KeyError):
            return None

    def reset_peak(self) -> None:
        """Start a new peak, where this TensorFlow can (2.6 and newer)."""
        if self.device == "GPU" and hasattr(self.tf.config.experimental, "reset_memory_stats"):
            self.tf.config.experimental.reset_memory_stats("GPU:0")


def where(tensors: Sequence[Any]) -> str:
    """Return GPU when all tensors lie on a GPU, else CPU: where they were made, not what is installed."""
    kinds = [_kind(str(getattr(each, "backing_device", None) or each.device)) for each in tensors]
    return "GPU" if kinds and all(kind == "GPU" for kind in kinds) else "CPU"


def _kind(device: str) -> str:
    found = DEVICE.search(device)
    return found.group(1).upper() if found else "CPU"


def arm(name: str, *, steps: int, step_s: float | None = None, batch: int = 0, **more: Any) -> Json:
    """Return one arm; figures that are None are left out, so they stay unknown."""
    figures: Json = {"step_s": step_s, "examples_per_s": batch / step_s if batch and step_s else None}
    figures.update(more)
    return {"name": name, "steps": steps, **{key: value for key, value in figures.items() if value is not None}}


def result(
    bench: Bench,
    *,
    status: str = "ok",
    reason: str = "",
    device: str = "",
    arms: Sequence[Json] = (),
    comparisons: Sequence[Json] = (),
    values: dict[str, float] | None = None,
    notes: Sequence[str] = (),
) -> Json:
    """Return a trial's result; `device` is where its steps ran (default: the bench's)."""
    ran_on = device or bench.device
    told: Json = {
        "status": status,
        "reason": reason,
        "device": ran_on,
        "arms": list(arms),
        "comparisons": list(comparisons),
        "values": {key: float(value) for key, value in (values or {}).items()},
        "notes": list(notes),
    }
    if bench.device_name and ran_on == "GPU":
        told["device_name"] = bench.device_name
    return told


def first_line(error: BaseException) -> str:
    """Return the type and the first telling line of an exception's text: TensorFlow wraps it in pages about its graph."""
    lines = [line.strip() for line in str(error).splitlines()]
    telling = [line for line in lines if line and not line.startswith(WRAPPING)]
    return f"{type(error).__name__}: {telling[0][:300] if telling else 'no message'}"
