"""The facts of two machines that differ, as text: what explains a change has a line, a whole environment's packages a paragraph.

Two environments differ in scores of packages, of which one or two matter: the rest stands behind, complete but folded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.diagnose.comparison import Fact
from gpudoctor.present.findings import wrapped
from gpudoctor.present.style import printable

WIDTH = 80
PREFIX = "package "
RELEASES = frozenset({"TensorFlow", "Keras"})  # their packages say the same once more
SIDES = ("other version", "first only", "second only")


def changed_facts(facts: Sequence[Fact]) -> Iterator[str]:
    """Yield the lines; none where nothing differs."""
    if not facts:
        return
    yield f"FACTS  {len(facts)} {'differs' if len(facts) == 1 else 'differ'}, what explains most first"
    said = {(each.before, each.after) for each in facts if each.name in RELEASES}
    stack = [each for each in facts if each.group == "stack" and (each.before, each.after) not in said]
    others = [each for each in facts if each.group == "package"]
    rows = [each for each in facts if each.group in {"machine", "library"}]
    rows += [each for each in stack if _side(each) == SIDES[0]]
    rows += [each for each in facts if each.group == "variable"]
    yield from _rows(rows)
    yield from _folded("TENSORFLOW'S AND CUDA'S PACKAGES", [each for each in stack if each not in rows])
    yield from _folded("OTHER PACKAGES", others)


def _rows(facts: Sequence[Fact]) -> Iterator[str]:
    width = max((len(each.name) for each in facts), default=0)
    for fact in facts:
        absent = "unknown" if fact.group == "machine" else "not listed"
        yield printable(f"  {fact.name:<{width}}  {fact.before or absent} -> {fact.after or absent}")


def _folded(title: str, facts: Sequence[Fact]) -> Iterator[str]:
    """Yield the packages by where they are: of another version, on one side only."""
    if not facts:
        return
    sides = {side: [each for each in facts if _side(each) == side] for side in SIDES}
    yield f"{title}  {', '.join(f'{len(found)} {side}' for side, found in sides.items() if found)}"
    for side, found in sides.items():
        if found:
            listed = ", ".join(_short(each) for each in found)
            yield from wrapped(f"{side}: {listed}", "  ", "    ", WIDTH)


def _side(fact: Fact) -> str:
    return SIDES[0] if fact.before and fact.after else SIDES[1] if fact.before else SIDES[2]


def _short(fact: Fact) -> str:
    versions = " -> ".join(each for each in (fact.before, fact.after) if each)
    return f"{fact.name.removeprefix(PREFIX)} {versions}"
