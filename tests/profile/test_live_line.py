"""The live line: what the last seconds brought."""

from __future__ import annotations

import pytest

from gpudoctor.profile.live import LiveLine


class Screen:
    """Stands for a terminal."""

    def __init__(self) -> None:
        self.line = ""

    def show(self, line: str) -> None:
        self.line = line


def test_where_fetches_run_beside_compute_no_wait_is_told() -> None:
    screen = Screen()
    line = LiveLine(screen)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # what it shows on
    line.hear("loops", {"process": "7-1", "loop": 0, "overlaps": 1})
    for at in (1.0, 2.0):
        line.hear("steps", {"process": "7-1", "loop": 0, "at": at, "count": 50 * at, "wait_s": 0.9 * at})
    line.show()
    assert screen.line == "gpudoctor: 50.0 steps/s"


@pytest.mark.parametrize(
    ("spent", "words"),
    [
        ({"wait_s": 0.3}, "50.0 steps/s | input 30 %"),
        ({"inside_s": 0.3}, "50.0 steps/s | host 70 %"),  # nothing is fetched: the rest of the time is the loop's own
    ],
)
def test_the_share_is_of_waiting_or_of_the_loops_own_python(spent: dict[str, float], words: str) -> None:
    screen = Screen()
    line = LiveLine(screen)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # what it shows on
    for at in (1.0, 2.0):
        row = {
            "process": "7-1",
            "loop": 0,
            "at": at,
            "count": 50 * at,
            **{key: at * value for key, value in spent.items()},
        }
        line.hear("steps", row)
    line.show()
    assert screen.line == f"gpudoctor: {words}"
