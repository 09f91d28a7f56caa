"""Whatever a text, a snapshot or a fact holds: no crash of a reader or a check, and nothing that a terminal would obey.

A few of the cases of `python -m tests.fuzz`, which runs them by the hundred thousand.
"""

from __future__ import annotations

import pytest

from tests.fuzz import fuzz


@pytest.mark.parametrize(("kind", "count"), [("logs", 150), ("snapshots", 100), ("facts", 300)])
def test_nothing_that_is_read_breaks_anything_or_reaches_the_terminal(kind: str, count: int) -> None:
    fuzz(kind, count, repeatable=True)
