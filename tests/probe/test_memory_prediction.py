"""Predicted peaks against reality: the same BFC allocator as on a GPU, on the CPU, with 256 MiB.

The tolerance is that of the peaks themselves: which ops run at once differs from step to step (measured: by up to a fifth).
"""

from __future__ import annotations

import json

import pytest

from gpudoctor.model.finding import Peak
from gpudoctor.model.observed import Trial
from gpudoctor.probe.runner import run_probe
from gpudoctor_checks.memory.ways_out import Need, accumulated, from_line, smaller
from tests.probe.real_tensorflow import HIDDEN, ask, interpreter

pytestmark = pytest.mark.tensorflow
TOLERANCE = 0.25
MIB = 1 << 20
POOL = {"TF_CPU_ALLOCATOR_USE_BFC": "true", "TF_CPU_BFC_MEM_LIMIT_IN_MB": "256", "CUDA_VISIBLE_DEVICES": "-1"}


@pytest.fixture(scope="module")
def ladder() -> Trial:
    """Return the trial, with its line."""
    return run_probe(interpreter(), ("batch_ladder",), environment=HIDDEN).trials["batch_ladder"]


# oneDNN's kernels take a shortage badly: TensorFlow 2.21 itself ended by SIGSEGV in 3 of 12 of them, in 0 of 16 without
PLAIN_KERNELS = {"TF_ENABLE_ONEDNN_OPTS": "0"}


def measured(*plan: tuple[int, int], **variables: str) -> list[int | None]:
    return [peak for _, _, peak in ask("measure_peaks.py", json.dumps(plan), **POOL, **variables)]


def need(ladder: Trial, batch: int) -> Need:
    values = ladder.values
    return from_line(
        fixed=values["memory_fixed_bytes"],
        each=values["memory_per_example_bytes"],
        fixed_high=values["memory_fixed_high_bytes"],
        each_high=values["memory_per_example_high_bytes"],
        batch=batch,
        limit=round(values["pool_bytes"]),
        weights=round(values["weights_bytes"]),
    )


def assert_predicted(peak: Peak, measured: int | None) -> None:
    """Assert that the line meets the peak, and that the upper end, which promises the largest batch, is passed by no more."""
    assert measured is not None
    assert peak.low_bytes == pytest.approx(measured, rel=TOLERANCE)
    assert isinstance(peak.high_bytes, int)
    assert measured <= peak.high_bytes * (1 + TOLERANCE)
    assert peak.high_bytes <= measured * (
        1 + 2 * TOLERANCE
    )  # the line's own tolerance, and the interval's as wide again


def test_a_smaller_batch_and_a_batch_in_parts_need_what_was_predicted(ladder: Trial) -> None:
    batch, parts = 16384, 4
    whole = need(ladder, batch)
    in_one, in_parts = measured((batch // parts, 1), (batch, parts))
    assert_predicted(smaller(whole, parts), in_one)
    assert_predicted(accumulated(whole, parts), in_parts)


def test_the_largest_batch_fits_and_one_clearly_above_does_not(ladder: Trial) -> None:
    largest = round(ladder.values["largest_batch"])
    (fits,) = measured((largest, 1))
    assert fits is not None
    assert measured((round(largest * 1.5), 1), **PLAIN_KERNELS) == [None]


@pytest.mark.long
@pytest.mark.parametrize("share", [0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("parts", [2, 4, 8])
def test_predictions_hold_over_batches_and_parts(ladder: Trial, share: float, parts: int) -> None:
    batch = round(ladder.values["largest_batch"] * share) // parts * parts
    in_one, in_parts = measured((batch // parts, 1), (batch, parts))
    assert_predicted(smaller(need(ladder, batch), parts), in_one)
    assert_predicted(accumulated(need(ladder, batch), parts), in_parts)


@pytest.mark.long
@pytest.mark.parametrize("share", [0.5, 0.8, 0.9])
def test_no_batch_below_the_largest_runs_out(ladder: Trial, share: float) -> None:
    assert measured((round(ladder.values["largest_batch"] * share), 1)) != [None]
