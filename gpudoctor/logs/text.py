"""Makes foreign text harmless and measurable: terminal escapes and control characters out, sizes into bytes.

Events end up on other people's terminals, so nothing that a terminal would obey may pass.
"""

from __future__ import annotations

import re

ESCAPES = re.compile(
    r"\x1b\[[0-9:;<=>?]{0,40}[ -/]{0,4}[@-~]"  # colours, cursor moves
    r"|\x1b\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)?"  # titles, links
    r"|\x1b[()*+\-./][0-9A-Za-z]"  # character sets
    r"|\x1b[@-Z\\-_]?"  # the rest, and a lone escape
)
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
SIZE = re.compile(r"(\d{1,20}(?:\.\d{1,6})?)\s?([KMGTPE]?)(i?)B?")
POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}


def without_escapes(text: str) -> str:
    """Return the text without terminal escapes; line ends stay."""
    return ESCAPES.sub("", text) if "\x1b" in text else text


def printable(text: str) -> str:
    """Return the text with each control character, and each that turns the writing direction, as a space."""
    return text if text.isprintable() else CONTROL.sub(" ", text)


def size_bytes(text: str) -> int | None:
    """Return a size in bytes: "268435456", "34.10MiB", "4.0KiB"; TensorFlow counts in powers of 1024."""
    match = SIZE.fullmatch(text.strip())
    if match is None:
        return None
    return round(float(match[1]) * 1024 ** POWERS[match[2]]) if match[2] else int(float(match[1]))
