"""A text that names no release is dated by the folders and words that only older releases print."""

from __future__ import annotations

import pytest

from gpudoctor.knowledge import versions
from gpudoctor.logs.era import SIGNS, narrowed


def test_the_signs_go_from_the_oldest_release_to_the_newest() -> None:
    newest = [versions.parse(each) for _, each in SIGNS]
    assert newest == sorted(newest)


@pytest.mark.parametrize(
    ("known", "line", "then"),
    [
        ("", "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load", "2.10"),
        ("2.10", "ResourceExhaustedError (see above for traceback): OOM", "1.15"),
        ("1.15", "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load", "1.15"),
        ("", "I external/local_xla/xla/stream_executor/cuda/cuda_executor.cc:887] could not open file", ""),
        ("", "I external/local_tsl/tsl/cuda/cudart_stub.cc:31] Could not find cuda drivers", ""),
        ("2.14", "hello", "2.14"),
        ("", 'File "/usr/lib/python3.9/site-packages/keras/engine/training.py", line 1184, in fit', "2.12"),
        ("", 'File "/usr/lib/python3.12/site-packages/tensorflow/python/keras/engine/training.py", line 9, in fit', ""),
    ],
)
def test_a_line_narrows_what_is_known(known: str, line: str, then: str) -> None:
    assert narrowed(known, line) == then
