"""What an installed distribution asks for, from its METADATA: those requirements that hold for this Python and this system.

The `packaging` library would read markers in full; it is no dependency, and a quick scan would pay for loading it. A marker
that is not understood drops its requirement: what is not known is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from gpudoctor.collect.ask_target import plain
from gpudoctor.knowledge import versions

MAX_BYTES = 1 << 20  # TensorFlow's is 60 KB, most of it prose
REQUIREMENT = re.compile(
    r"Requires-Dist:\s*([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*\(?((?:[<>=!~][^;()@]*)?)\)?\s*(?:;\s*(.*))?"
)
MARKER = re.compile(
    r"""(python_version|python_full_version|sys_platform|platform_system|platform_machine|extra|implementation_name)
    \s*(==|!=|<=|>=|<|>)\s*['"]([^'"]*)['"]""",
    re.VERBOSE,
)
SEPARATORS = re.compile(r"[-_.]+")


def requirements_of(metadata: Path, marks: Mapping[str, str]) -> tuple[str, ...]:
    """Return "name specifier" for each requirement that holds; `marks`: values of the marker variables. Never raises."""
    try:
        with (metadata / "METADATA").open("rb") as file:
            head = file.read(MAX_BYTES).partition(b"\n\n")[0].decode(errors="replace")
    except OSError:
        return ()
    return tuple(dict.fromkeys(_holding(head, marks)))


def _holding(head: str, marks: Mapping[str, str]) -> Iterator[str]:
    for line in head.splitlines():
        match = REQUIREMENT.fullmatch(line.strip())
        if match is None or not _holds(match[3] or "", marks):
            continue
        name = SEPARATORS.sub("-", plain(match[1])).lower()
        yield f"{name} {plain(match[2]).replace(' ', '')}".strip()


def _holds(marker: str, marks: Mapping[str, str]) -> bool:
    """Return whether the marker is true; False for one that is not understood."""
    if not marker.strip():
        return True
    said = MARKER.sub(lambda each: str(_compare(each, marks)), marker).replace("(", " ( ").replace(")", " ) ")
    return _either(said.split())


def _either(words: list[str]) -> bool:
    """Evaluate True/False, and, or and brackets; anything else makes it False."""
    if not set(words) <= {"True", "False", "and", "or", "(", ")"}:
        return False
    while "(" in words:
        end = words.index(")") if ")" in words else -1
        begin = max((place for place in range(end) if words[place] == "("), default=-1)
        if begin < 0:
            return False
        words = [*words[:begin], str(_either(words[begin + 1 : end])), *words[end + 1 :]]
    parts = " ".join(words).split(" or ")
    return any(all(each == "True" for each in part.split(" and ")) for part in parts)


def _compare(match: re.Match[str], marks: Mapping[str, str]) -> bool:
    name, operator, wanted = match[1], match[2], match[3]
    own = marks.get(name)
    if own is None:
        return False
    if name.startswith("python"):
        return versions.is_version(wanted) and versions.satisfies(own, f"{operator}{wanted}")
    return (own == wanted) == (operator == "==") if operator in {"==", "!="} else False
