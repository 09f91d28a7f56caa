"""Puts what a shell would run into each text of a machine, one at a time, and finds it in the commands of a report."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast

from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import LogEvent
from gpudoctor.model.report import Report
from gpudoctor.model.snapshot import Snapshot

MARK = "zqj"  # in no word of any fixture
WORDS: tuple[Callable[[str], str], ...] = (
    lambda text: f"{text}';{MARK};'",
    lambda text: f"{text};{MARK};",
    lambda text: f"{text}$({MARK})`{MARK}`",
    lambda _: f"--{MARK}",
    lambda text: f"--{MARK} {text}",
    lambda text: f"{text}\n{MARK}",
)
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
COPIED = frozenset({"command", "setting"})
QUOTED = re.compile(r"'[^']*'")
Path = tuple[str | int, ...]


def texts(node: object, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield each text with its place."""
    if isinstance(node, str):
        yield path, node
    elif is_dataclass(node) and not isinstance(node, (type, Missing)):
        for each in fields(node):
            yield from texts(getattr(node, each.name), (*path, each.name))
    elif isinstance(node, tuple):
        for index, item in enumerate(cast("tuple[object, ...]", node)):
            yield from texts(item, (*path, index))
    elif isinstance(node, Mapping):
        for key, item in cast("Mapping[str, object]", node).items():
            yield from texts(item, (*path, key))


def with_text(node: Any, path: Path, text: str) -> Any:
    """Return it with another text at this place."""
    if not path:
        return text
    first, rest = path[0], path[1:]
    if isinstance(node, tuple):
        items = cast("tuple[object, ...]", node)
        return tuple(with_text(item, rest, text) if index == first else item for index, item in enumerate(items))
    if isinstance(node, Mapping):
        members = cast("Mapping[object, object]", node)
        return {**members, first: with_text(members[first], rest, text)}
    name = str(first)
    return replace(node, **{name: with_text(getattr(node, name), rest, text)})


def kind_of(snapshot: Snapshot, path: Path) -> tuple[object, ...]:
    """Return what makes two places alike: the fields, and of an event its kind."""
    kinds: list[object] = []
    node: Any = snapshot
    for each in path:
        kinds.append("*" if isinstance(each, int) else each)
        node = getattr(node, str(each)) if is_dataclass(node) else node[each]
        if isinstance(node, LogEvent):
            kinds.append(node.kind)
    return tuple(kinds)


def commands(report: Report) -> Iterator[str]:
    """Yield all that somebody may copy into a shell."""
    yield from (each.text for each in report.fixes if each.action in COPIED)
    for finding in report.findings:
        yield from (each.text for each in finding.fixes if each.action in COPIED)
        yield from (str(each.value) for each in finding.evidence if each.source == "next step")


def runs(command: str) -> bool:
    """Return whether a shell would do something with the mark: it stands outside single quotes, or begins an option."""
    if MARK not in command:
        return False
    if CONTROL.search(command) or MARK in QUOTED.sub("", command.replace("'\"'\"'", "_")):
        return True
    return any(word.startswith("-") and MARK in word for word in shlex.split(command))
