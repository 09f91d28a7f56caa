"""A small file as text; '' where it cannot be read, for most of what the kernel tells is optional."""

from __future__ import annotations

from pathlib import Path


def text_of(path: Path) -> str:
    """Return what stands in the file, whatever its bytes are."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def word_of(path: Path) -> str:
    """Return it without the white space around it: one value a file is the rule under /sys."""
    return text_of(path).strip()
