"""A sample on the head of a loop is its body's only where that is certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.profile.loop_bodies import line_of_work


def work(folder: Path, text: str, line: int = 1) -> int:
    place = folder / f"{abs(hash(text))}.py"
    place.write_text(text, encoding="utf-8")
    return line_of_work(str(place), line)


@pytest.mark.parametrize("head", ["while True:", "while left > 0:", "while not done and n < 9:"])
def test_one_line_under_a_condition_that_does_nothing_is_where_the_time_went(tmp_path: Path, head: str) -> None:
    assert work(tmp_path, f"{head}\n    n = step(n)\n") == 2
    assert work(tmp_path, f"{head}\n\n    # why\n    n += 1\n") == 4


@pytest.mark.parametrize(
    "text",
    [
        "while True:\n    a = 1\n    b = 2\n",  # which of them is not known
        "while more():\n    a = 1\n",
        "while queue[0]:\n    a = 1\n",
        "while node.next:\n    a = 1\n",
        "while True:\n    if a: break\n",
        "while True: a = 1\n",
        "for a in b:\n    c = a\n",  # its jump stands in the body
        "while True:\n    a = f(\n        1)\n",
        "while True\n",
    ],
)
def test_any_other_head_is_left_as_it_was_seen(tmp_path: Path, text: str) -> None:
    assert work(tmp_path, text) == 1


def test_without_the_source_nothing_is_moved(tmp_path: Path) -> None:
    assert line_of_work(str(tmp_path / "gone.py"), 7) == 7
    assert line_of_work("<string>", 7) == 7
