"""GD551: the message has one cause."""

from __future__ import annotations

from gpudoctor_checks.input.data_ended import ended
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case("GD551", "WARNING:tensorflow:Your input ran out of data; interrupting training.", variants=FAULTY)


def test_the_data_is_repeated() -> None:
    finding = found(ended, "UserWarning: Your input ran out of data; interrupting training.")
    assert (finding.cause, finding.fixes[0].id) == ("data-ended", "repeat-dataset")
