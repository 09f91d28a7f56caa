"""The exception behind the last traceback of a text is found, whichever way the text comes; nothing else is taken for one."""

from __future__ import annotations

import pytest

from gpudoctor.logs.last_error import LastError

HEAD = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    raise ValueError("x")\n'


def last(*blocks: str) -> str:
    reader = LastError()
    for each in blocks:
        reader.feed(each)
    return reader.text


@pytest.mark.parametrize(
    ("blocks", "error"),
    [
        ((HEAD + "ValueError: x\n",), "ValueError: x"),
        ((HEAD, "ValueError: x\n"), "ValueError: x"),
        ((HEAD.replace("\n", "\r\n") + "ValueError: x\r\n",), "ValueError: x"),
        ((HEAD, "\n", "ValueError: x\n"), "ValueError: x"),
        ((HEAD + "\x1b[1;35mValueError\x1b[0m: \x1b[35mx\x1b[0m\n",), "ValueError: x"),
        ((HEAD + "KeyboardInterrupt\n",), "KeyboardInterrupt"),
        ((HEAD + "KeyError: 1\n\nDuring handling ...\n\n" + HEAD + "a.b.MyError: two\nmore\n",), "a.b.MyError: two"),
        ((HEAD + "ValueError: x\n", "W0000 TensorFlow says: more\nEpoch: 3\n"), "ValueError: x"),
        ((HEAD + "ValueError: " + "x" * 999 + "\n",), ("ValueError: " + "x" * 999)[:160]),
        (("ValueError: of no traceback\n",), ""),
        ((HEAD + "done\n",), ""),
        ((HEAD,), ""),
    ],
)  # fmt: skip
def test_the_exception_of_the_last_traceback_is_found(blocks: tuple[str, ...], error: str) -> None:
    assert last(*blocks) == error
