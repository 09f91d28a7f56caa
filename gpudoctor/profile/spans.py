"""Times from a start to an end, in seconds: as one without overlaps, what two lists have in common, and how long they are."""

from __future__ import annotations

from collections.abc import Sequence

Span = tuple[float, float]


def merged(spans: Sequence[Span]) -> list[Span]:
    """Return the spans without overlaps, in order."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def common(first: Sequence[Span], second: Sequence[Span]) -> list[Span]:
    """Return where two lists of merged spans overlap."""
    result: list[Span] = []
    at = other = 0
    while at < len(first) and other < len(second):
        start, end = max(first[at][0], second[other][0]), min(first[at][1], second[other][1])
        if start < end:
            result.append((start, end))
        if first[at][1] < second[other][1]:
            at += 1
        else:
            other += 1
    return result


def length(spans: Sequence[Span]) -> float:
    """Return how long they are in all."""
    return sum(end - start for start, end in spans)
