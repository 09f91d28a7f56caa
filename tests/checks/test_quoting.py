"""Words of a stranger's snapshot as words of a command."""

from __future__ import annotations

import pytest

from gpudoctor_checks.tensorflow.quoting import requirement


@pytest.mark.parametrize("text", ["-rhttps://example.org/x", "--pre", " --pre", ";--pre", "", "-e."])
def test_an_option_is_no_requirement(text: str) -> None:
    assert requirement(text) == "''"


def test_a_requirement_keeps_what_it_may_hold() -> None:
    assert requirement("protobuf>=4.25,!=5.*") == "'protobuf>=4.25,!=5.*'"
    assert requirement("numpy==1.26';id;'") == "'numpy==1.26id'"
