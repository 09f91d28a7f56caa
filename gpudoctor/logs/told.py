"""Reads what somebody tells of the own machine in a sentence: "I have CUDA 12.4, cuDNN 8.9, RTX 3060".

Only sentences of the first person are read: any other version in prose may be somebody else's, or the one that is wanted.
"""

from __future__ import annotations

import re

BEGINNINGS = ("I have ", "I am ", "I'm ", "My ")
REST = r"(?P<said>[^\n]{4,300})"
TOLD: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "tf",
        re.compile(r"(?i)\btensorflow(?:-gpu)?(?: version)?(?: is|:|=|==)?\s{0,2}v?(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)"),
    ),
    ("cuda", re.compile(r"(?i)\bcuda(?: toolkit)?(?: version)?(?: is|:|=)?\s{0,2}v?(\d{1,2}\.\d{1,2})")),
    ("cudnn", re.compile(r"(?i)\bcudnn(?: version)?(?: is|:|=)?\s{0,2}v?(\d{1,2}(?:\.\d{1,3}){1,3})")),
    ("python", re.compile(r"(?i)\bpython(?: version)?(?: is|:|=)?\s{0,2}v?(3\.\d{1,2}(?:\.\d{1,2})?)")),
    ("driver", re.compile(r"(?i)\bdriver(?: version)?(?: is|:|=)?\s{0,2}v?(\d{3}\.\d{1,3}(?:\.\d{1,3})?)")),
    ("os", re.compile(r"(?i)\b(wsl ?2?|windows (?:10|11)|ubuntu \d\d\.\d\d|mac ?os|debian \d{1,2}|fedora \d\d)\b")),
    (
        "gpu",
        re.compile(
            r"(?i)\b((?:geforce )?(?:[gr]tx|quadro|tesla|titan) ?[a-z]{0,2}\d{2,4}(?: ?ti| ?super)?|[ahv]100|l40s?|rtx a\d{4})\b"
        ),
    ),
)


def told_by_person(values: dict[str, str]) -> dict[str, str]:
    """Return the facts of a sentence in which somebody tells of the own machine."""
    said = values.pop("said", "")
    found = {key: match[1] for key, pattern in TOLD if (match := pattern.search(said)) is not None}
    return {**values, **found, "said_by": "reporter"} if found else values
