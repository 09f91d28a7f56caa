"""GD618: float64 is found by the layers that compute in it."""

from __future__ import annotations

from gpudoctor.testing import judge
from gpudoctor_checks.compute.float64_in_force import double
from tests.checks.runs import case, make_settings

DOUBLE = make_settings(dtype_policy="float64", layer_policies=("float64",))
CASE = case("GD618", {"settings": DOUBLE}, {"settings": make_settings()}, "settings")


def test_the_line_of_fit_is_the_place() -> None:
    (finding,) = judge(double, CASE.fires).findings
    assert finding.location is not None
    assert finding.location.line == 41
