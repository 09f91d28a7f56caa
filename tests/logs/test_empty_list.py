"""A session that asks for GPUs and gets an empty list has none."""

from __future__ import annotations

import pytest

from gpudoctor.logs.reader import read_events


@pytest.mark.parametrize(
    "asked", ["tf.config.list_physical_devices('GPU')", '>>> print(tf.config.list_physical_devices("GPU"))']
)
def test_an_empty_list_in_the_next_line_is_no_gpu(asked: str) -> None:
    (event,) = read_events([asked, "[]"])
    assert (event.kind, event.values) == ("visible_gpus", {"count": "0"})


def test_a_question_with_another_answer_or_none_is_no_event() -> None:
    for lines in (
        ["gpus = tf.config.list_physical_devices('GPU')", "if gpus:"],
        ["tf.config.list_physical_devices('CPU')", "[]"],
    ):
        assert read_events(lines) == ()
