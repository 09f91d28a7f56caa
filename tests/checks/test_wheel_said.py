"""GD352: what was asked for is compared with what pip saw."""

from __future__ import annotations

from gpudoctor_checks.tensorflow.wheel_said import no_wheel
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case("GD352", "ERROR: No matching distribution found for tensorflow==2.13.0", variants=FAULTY)


def test_a_release_for_this_python_is_offered() -> None:
    finding = found(
        no_wheel,
        "ERROR: Could not find a version that satisfies the requirement tensorflow==2.13.0 (from versions: 2.16.1, 2.17.0, 2.18.0)",
        python="3.12",
    )
    assert (finding.cause, finding.fixes[0].id) == ("python-tf-wheel", "release-with-wheel")


def test_without_any_version_another_python_is_needed() -> None:
    finding = found(
        no_wheel, "ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)"
    )
    assert (finding.cause, finding.fixes[0].id) == ("python-tf-wheel", "older-python")


def test_a_release_and_a_python_that_no_wheel_brings_together() -> None:
    finding = found(no_wheel, tf="2.13", python="3.12")
    assert (finding.cause, finding.fixes[0].id) == ("python-tf-wheel", "release-with-wheel")
