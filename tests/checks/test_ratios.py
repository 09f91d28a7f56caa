"""How a ratio is told in a sentence."""

from __future__ import annotations

import pytest

from gpudoctor.model.observed import Comparison
from gpudoctor_checks.ratios import span


@pytest.mark.parametrize(("low", "high", "told"), [(2.58, 2.62, "2.6x"), (3.0, 3.52, "3.0-3.5x"), (1.0, 1.0, "1.0x")])
def test_an_interval_whose_ends_read_alike_is_one_number(low: float, high: float, told: str) -> None:
    assert span(Comparison(arm="a", against="b", pairs=8, speedup=(low + high) / 2, low=low, high=high)) == told
