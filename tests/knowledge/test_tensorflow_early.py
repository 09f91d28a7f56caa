"""Early releases: each row of the page "Tested build configurations" (Linux, GPU) gives what the page says."""

from __future__ import annotations

import pytest

from gpudoctor.knowledge.tensorflow_early import built_with

PAGE = {
    ("2.3.0", "2.2.0", "2.1.0"): ("10.1", "7.6"),
    ("2.0.0", "1.15.0", "1.14.0", "1.13.1"): ("10.0", "7.4"),
    ("1.12.0", "1.11.0", "1.10.0", "1.9.0", "1.8.0", "1.7.0", "1.6.0", "1.5.0"): ("9.0", "7"),
    ("1.4.0", "1.3.0"): ("8.0", "6"),
    ("1.2.0", "1.1.0", "1.0.0"): ("8.0", "5.1"),
}


@pytest.mark.parametrize(("version", "built"), [(each, built) for rows, built in PAGE.items() for each in rows])
def test_each_row_of_the_page(version: str, built: tuple[str, str]) -> None:
    assert built_with(version) == built


@pytest.mark.parametrize("version", ["2.4.0", "2.21.0", "0.12.1"])
def test_what_the_page_or_another_table_speaks_of_is_not_answered(version: str) -> None:
    assert built_with(version) is None
