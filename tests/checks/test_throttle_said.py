"""GD852: the driver's own reasons decide."""

from __future__ import annotations

from gpudoctor_checks.hardware.throttle_said import lowered
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case("GD852", "        HW Thermal Slowdown               : Active", variants=FAULTY)


def test_heat_is_a_matter_of_cooling() -> None:
    finding = found(lowered, "            SW Thermal Slowdown       : Active")
    assert (finding.cause, finding.fixes[0].id) == ("throttle", "improve-cooling")
