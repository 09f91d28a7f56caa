"""GD652: the size of the difference decides."""

from __future__ import annotations

from gpudoctor_checks.compute.tf32_said import rounded
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case(
    "GD652",
    "TensorFloat-32 will be used for the matrix multiplication. This will only be logged once.",
    variants=FAULTY,
)


def test_a_difference_of_ten_bits_is_rounding() -> None:
    finding = found(rounded, "relative max diff | 2.9477e-4", gpu="A100")
    assert (finding.cause, finding.fixes[0].id) == ("tf32", "tf32-off")
