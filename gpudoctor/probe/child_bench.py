"""What every trial needs: TensorFlow, the device it may use, the time left, and the shape of a result.

Runs under the target interpreter: Python 3.8, standard library, TensorFlow and NumPy only. TensorFlow is passed in and
never imported here, so that tests can look at the parts that need none.
"""

from __future__ import annotations

import contextlib
import os
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
        several: bool = False,
        advance: Callable[[float], None] | None = None,
    ) -> None:
        """Take the modules and choose the device; must come before anything initialises a GPU.

        `several`: take all visible GPUs, and where there are not two, make two devices of the CPU.
        """
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
        self.places: list[str] = []
        if several:
            self._choose_several(gpus)
        else:
            self._choose(gpus[:1])

    def _choose_several(self, gpus: Sequence[Any]) -> None:
        if len(gpus) >= 2:
            self._choose(gpus)
            self.places = [f"GPU:{number}" for number in range(len(gpus))]
            return
        config = self.tf.config
        config.set_visible_devices([], "GPU")
        config.set_logical_device_configuration(
            config.list_physical_devices("CPU")[0], [config.LogicalDeviceConfiguration()] * 2
        )
        self.places = ["CPU:0", "CPU:1"]

    def _choose(self, gpus: Sequence[Any]) -> None:
        if not gpus:
            return
        self.tf.config.set_visible_devices(list(gpus), "GPU")
        for gpu in gpus if self.cap_bytes else ():
            cap = self.tf.config.LogicalDeviceConfiguration(memory_limit=self.cap_bytes // MEBIBYTE)
            self.tf.config.set_logical_device_configuration(gpu, [cap])
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
        """Return the most memory that tensors held on the device since the last reset.

        None on an old TensorFlow, and on a CPU that is not served by the BFC allocator.
        """
        if self.device != "GPU" and not self.pool_bytes():
            return None  # TensorFlow answers there too, with what its ordinary allocator does not count
        try:
            return int(self.tf.config.experimental.get_memory_info(f"{self.device}:0")["peak"])
        except (AttributeError, ValueError, KeyError):
            return None

    def reset_peak(self) -> None:
        """Start a new peak, where this TensorFlow can (2.6 and newer)."""
        with contextlib.suppress(AttributeError, ValueError):
            self.tf.config.experimental.reset_memory_stats(f"{self.device}:0")

    def pool_bytes(self) -> int:
        """Return the size of the allocator's pool that this process was given; 0 where there is none or no limit."""
        if self.device == "GPU":
            return self.cap_bytes // MEBIBYTE * MEBIBYTE
        if os.environ.get("TF_CPU_ALLOCATOR_USE_BFC", "").lower() not in {"1", "true"}:
            return 0
        return int(os.environ.get("TF_CPU_BFC_MEM_LIMIT_IN_MB", "0")) * MEBIBYTE


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
