"""GD354: noise is told as noise."""

from __future__ import annotations

from gpudoctor_checks.tensorflow.harmless_line import harmless
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case(
    "GD354",
    "successful NUMA node read from SysFS had negative value (-1), but there must be at least one NUMA node",
    variants=FAULTY,
)


def test_tensorrt_is_optional() -> None:
    finding = found(harmless, "TF-TRT Warning: Could not find TensorRT")
    assert (finding.cause, finding.fixes[0].id) == ("harmless-line", "ignore-line")
