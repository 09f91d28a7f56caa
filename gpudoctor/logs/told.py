"""Reads what somebody tells of the own machine in a sentence: "I have CUDA 12.4, cuDNN 8.9, RTX 3060".

Sentences of the first person are read wherever they stand; the beginning of a text, where a post is, in full (`prose`).
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from gpudoctor.logs.prose import stated_in

BEGINNINGS = ("I have ", "I am ", "I'm ", "My ")
REST = r"(?P<said>[^\n]{4,300})"
REPORTER = {"said_by": "reporter"}


def told_by_person(values: dict[str, str]) -> dict[str, str]:
    """Return the facts of a sentence in which somebody tells of the own machine."""
    found = stated_in("I " + values.pop("said", ""))
    return {**values, **found, **REPORTER} if found else values


def told_in_post(text: str, known: Container[str]) -> Iterator[dict[str, str]]:
    """Yield the facts that the beginning of a text states and that are not known yet, if there are any."""
    if found := {key: value for key, value in stated_in(text).items() if key not in known}:
        yield {**found, **REPORTER}
