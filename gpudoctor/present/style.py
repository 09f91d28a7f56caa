"""What a terminal may be sent: printable text, and colour only where it is wanted and never as the only sign."""

from __future__ import annotations

import os
import unicodedata
from typing import TextIO

from gpudoctor.model.record import dataclass

RESET = "\x1b[0m"
ESCAPED = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})  # controls, bidi overrides, surrogates, line separators


def printable(text: str) -> str:
    """Return the text with every character that could steer a terminal shown as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(repr(char)[1:-1] if unicodedata.category(char) in ESCAPED else char for char in text)


def shorten(text: str, width: int) -> str:
    """Return the printable text cut to the width, with a sign where it was cut."""
    clean = printable(text)
    return clean if len(clean) <= width else clean[: max(0, width - 1)] + "~"


def wants_color(stream: TextIO) -> bool:
    """Return whether to colour: NO_COLOR (present and not empty), then FORCE_COLOR, as Python itself orders them."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return os.environ.get("TERM") != "dumb" and stream.isatty()


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """Paints words; without colour it leaves them as they are."""

    color: bool = False

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}{RESET}" if self.color else text

    def bold(self, text: str) -> str:
        """Return the text in bold."""
        return self._paint("1", text)

    def dim(self, text: str) -> str:
        """Return the text dimmed."""
        return self._paint("2", text)

    def error(self, text: str) -> str:
        """Return the text in the colour of an error."""
        return self._paint("1;31", text)

    def warning(self, text: str) -> str:
        """Return the text in the colour of a warning."""
        return self._paint("33", text)

    def good(self, text: str) -> str:
        """Return the text in the colour of health."""
        return self._paint("32", text)
