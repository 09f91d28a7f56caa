"""Compares the screen with a stored picture. `GPUDOCTOR_NEW_PICTURES=1` stores what is seen, to be looked at and committed.

A picture is compared byte by byte under the Textual that drew it, and by its words under another: a new version draws the
same screen with other rules in the file, and that is no fault of ours.
"""

from __future__ import annotations

import os
import re
from html import unescape
from pathlib import Path

import textual

from gpudoctor.tui.picture import stable
from tests.tui.stage import Stage

PICTURES = Path(__file__).parent / "pictures"
VERSION = PICTURES / "textual-version.txt"
# Half of a file are rules that cut each line at the window's edge, where nothing reaches.
CLIPS = re.compile(
    r'<clipPath id="gpudoctor-line-\d+">.*?</clipPath>\s*| clip-path="url\(#gpudoctor-line-\d+\)"', re.DOTALL
)
TEXT = re.compile(r"<text[^>]*>([^<]*)</text>")


def compare(on: Stage, name: str) -> None:
    """Assert that the screen is the stored one."""
    seen = CLIPS.sub("", stable(on.app.export_screenshot(title=name)))
    path = PICTURES / f"{name}.svg"
    if os.environ.get("GPUDOCTOR_NEW_PICTURES"):
        path.write_text(seen, encoding="utf-8")
        VERSION.write_text(f"{textual.__version__}\n", encoding="utf-8")
        return
    stored = path.read_text(encoding="utf-8")
    if VERSION.read_text(encoding="utf-8").strip() == textual.__version__:
        assert words(seen) == words(stored)
        assert seen == stored, f"{name}: the words are the same, places or colours differ"
    else:
        assert words(seen) == words(stored)


def words(svg: str) -> list[str]:
    """Return the words of a picture, without the spaces between them."""
    return " ".join(unescape(each) for each in TEXT.findall(svg)).replace("\xa0", " ").split()
