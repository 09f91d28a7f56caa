"""Some places of the truth grid: one where nothing waits, one where most does, and one in each kind of fetching."""

from __future__ import annotations

import pytest

from tests.benchmarks.truth_grid import measured
from tests.profile.launched import with_tensorflow

POINTS = [
    ("generator", "fit", 5, 12),
    ("generator", "fit", 20, 5),
    ("numpy_function", "function", 20, 5),
    ("generator", "scan", 20, 5),
    ("files", "four_per_execution", 20, 5),
    ("numpy", "own_function", 5, 12),
    ("numpy", "own_eager", 20, 5),
]


@pytest.mark.benchmark
@pytest.mark.tensorflow
@pytest.mark.parametrize(("source", "loop", "delay_ms", "compute_ms"), POINTS)
def test_the_input_share_is_the_true_one(source: str, loop: str, delay_ms: float, compute_ms: float) -> None:
    point = measured(with_tensorflow(), source, loop, delay_ms, compute_ms)
    assert point.right, point.row()
