"""The exception of the last traceback of a text: what ended a Python program that nobody caught it in.

A row of `patterns/` would do for one line; the exception's own has no word of its own, only its place behind the traceback.
"""

from __future__ import annotations

import re

from gpudoctor.logs.text import printable, without_escapes

HEADER = "Traceback (most recent call last):"
MAX_TEXT = 160
# "ValueError: x", "KeyboardInterrupt", "package.module.SomeError: text"
EXCEPTION = re.compile(r"(?:[A-Za-z_]\w{0,80}\.){0,12}[A-Z_]\w{0,80}(?=:|$)[^\n]*")


class LastError:
    """Fed with whole lines, block by block; only those behind a traceback's heading are looked at."""

    def __init__(self) -> None:
        """Begin with none."""
        self.text = ""
        self._open = False

    def feed(self, block: str) -> None:
        """Read a block; the last traceback in it counts."""
        at = block.rfind(HEADER)
        if at < 0 and not self._open:
            return
        if at >= 0:
            block, self._open = block[at + len(HEADER) :], True
        for line in without_escapes(block).splitlines():
            if line.strip() and not line[0].isspace():
                found = EXCEPTION.match(line)
                self.text = printable(found[0]).strip()[:MAX_TEXT] if found else self.text
                self._open = False
                return
