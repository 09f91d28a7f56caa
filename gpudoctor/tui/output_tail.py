"""The last lines that a program printed to its terminal, from the file that keeps them: what a person would see, as plain text.

An emulator would draw every cursor movement; training scripts need carriage returns, backspaces and colours taken out.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from contextlib import suppress
from pathlib import Path

MOST_LINES = 2000
MOST_BYTES = 1 << 18  # policy: of what came since the last look; a flood is cut, its end is what counts
LONGEST_LINE, LONGEST_ESCAPE = 4000, 256
# CSI sequences, OSC ones up to their end, and other escapes of two characters (ECMA-48)
UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*)?$")
ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")


class OutputTail:
    """Reads a growing file."""

    def __init__(self, path: Path) -> None:
        self._path, self._at = path, 0
        self._open, self._column = "", 0
        self._decoder, self._rest = codecs.getincrementaldecoder("utf-8")("replace"), ""
        self._lines: deque[str] = deque(maxlen=MOST_LINES)

    @property
    def lines(self) -> list[str]:
        """Return the last lines, the one that is not ended yet included."""
        return [*self._lines, self._open] if self._open else list(self._lines)

    def read(self) -> bool:
        """Take what came since the last look; return whether something did."""
        with suppress(OSError), self._path.open("rb") as stream:
            size = stream.seek(0, 2)
            if size - self._at > MOST_BYTES:
                self._at = size - MOST_BYTES
            stream.seek(self._at)
            data = stream.read(MOST_BYTES)
            self._at += len(data)
            if data:
                self._print(self._without_escapes(self._decoder.decode(data)))
            return bool(data)
        return False

    def _without_escapes(self, text: str) -> str:
        """Return the text without escapes; one that is cut off waits for its end."""
        whole = self._rest + text
        cut = UNFINISHED.search(whole[-LONGEST_ESCAPE:])
        keep = len(whole) if cut is None else len(whole) - min(LONGEST_ESCAPE, len(whole)) + cut.start()
        self._rest = whole[keep:]
        return ESCAPES.sub("", whole[:keep])

    def _print(self, text: str) -> None:
        for part in re.split(r"([\r\n\x08])", text):
            if part == "\n":
                self._lines.append(self._open[:LONGEST_LINE])
                self._open, self._column = "", 0
            elif part == "\r":
                self._column = 0
            elif part == "\x08":
                self._column = max(0, self._column - 1)
            elif part:
                end = self._column + len(part)
                self._open = self._open[: self._column] + part + self._open[end:]
                self._column = end
