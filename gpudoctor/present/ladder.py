"""What the probe's `batch_ladder` found, in words: where overhead ends, what a batch needs, and the largest that fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpudoctor.model.observed import Trial
from gpudoctor.present import figures


def lines(trial: Trial) -> Iterator[str]:
    """Yield a line for each thing that was found; all of it is about the reference network."""
    if trial.name != "batch_ladder":
        return
    values = trial.values
    if "half_batch" in values:
        span = f"{values['half_batch_low']:.0f} to {values['half_batch_high']:.0f}"
        rising = "" if values.get("saturated", 1.0) else "; throughput still rises at the largest, so it is more"
        yield f"overhead ends at batch {values['half_batch']:.0f} ({span}){rising}"
    if "memory_per_example_bytes" in values:
        yield from _memory(values)
    if "full_at_batch" in values:
        yield f"batch {values['full_at_batch']:.0f} did not fit"


def _memory(values: Mapping[str, float]) -> Iterator[str]:
    fixed, each = figures.size(values["memory_fixed_bytes"]), figures.size(values["memory_per_example_bytes"])
    yield f"memory {fixed} + {each} x batch, peaks within {figures.size(values.get('memory_residual_bytes', 0.0))}"
    if "largest_batch" in values:
        yield f"largest batch {values['largest_batch']:.0f} predicted for {figures.size(values['pool_bytes'])}"
    if "largest_batch_in_free" in values:
        free = figures.size(values["free_bytes"])
        yield f"largest batch {values['largest_batch_in_free']:.0f} predicted for the {free} that are free"
