"""Finds the number in a foreign document that no machine has, so that it is refused with its place and not computed with.

A number of 400 digits is legal JSON; it overflows where it is divided, printed or compared, far from where it came in.
Guarding each of these places would be tempting; the next one would forget it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

# NVML and the kernel count in 64 bits at most (nvml.h: unsigned long long)
LARGEST_COUNT = 2**64 - 1
# TensorFlow's losses and rates are float32 (IEEE 754: at most 3.4028235e38)
LARGEST_FIGURE = 3.4028235e38
# Sizes, clocks, power and shares of them begin at 0; so do counts. Status codes, losses and differences may be negative.
NOT_NEGATIVE = ("_bytes", "_mhz", "_w", "_percent")
COUNTS = frozenset(
    {
        "affinity", "allocated_gpus", "compute_instance", "cores", "corrected", "count", "device_count",
        "devices_unmasked", "gen", "gen_max", "gpu_instance", "index", "mig_instances", "pairs", "place", "pid", "quota_cores",
        "remapped_rows", "retired_pages", "steps", "uncorrected", "visible_gpus", "width", "width_max",
    }
)  # fmt: skip
FREE = frozenset({"values", "missing", "env", "packages"})  # names in these are not the model's
SHOWN = 24  # digits of a number that a sentence bears


def implausible(document: object) -> str:
    """Return a sentence on the first number that no machine has, with its path; '' where there is none."""
    left: list[tuple[str, str, object]] = [("", "", document)]
    while left:
        path, name, node = left.pop()
        if isinstance(node, (int, float)) and not isinstance(node, bool):
            why = _wrong(name, node)
            if why:
                return f"{path} is {_short(node)}, {why}"
        elif isinstance(node, Mapping):
            members = cast("Mapping[str, object]", node).items()
            free = name in FREE
            left += [(f"{path}.{key}" if path else key, "" if free else key, each) for key, each in members]
        elif isinstance(node, list):
            items = enumerate(cast("list[object]", node))
            left += [(f"{path}[{index}]", name, each) for index, each in items]
    return ""


def _wrong(name: str, number: float) -> str:
    if abs(number) > (LARGEST_COUNT if isinstance(number, int) else LARGEST_FIGURE):
        return "more than any machine counts"
    negative = number < 0 and (name.endswith(NOT_NEGATIVE) or name in COUNTS)
    return "which cannot be negative" if negative else ""


def _short(number: float) -> str:
    if isinstance(number, int) and abs(number) > LARGEST_COUNT:
        return "a number of more than 19 digits"  # turning thousands of digits into text is slow, and nobody reads them
    return f"{number!r:.{SHOWN}}"
