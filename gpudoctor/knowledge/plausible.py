"""Takes out of a snapshot what cannot be a version, a capability or a number, so that no check compares nonsense or advises it.

A snapshot or a text comes from another machine, perhaps edited, damaged, or meant to have its words run by whoever copies a
fix. Each check guarding itself would be tempting; one in a hundred would forget it. What is taken out is unknown, never guessed.
The whole value is judged: a version with a shell command behind it begins like one.
"""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import LogEvent

if TYPE_CHECKING:
    from gpudoctor.model.snapshot import Snapshot

Node = TypeVar("Node")
# What may stand behind the number: letters and signs of PEP 440 and of distributions' versions, none that a shell reads.
SUFFIX = r"(?:[.+_~-]?[A-Za-z0-9])*"
VERSION = re.compile(rf"v?[0-9]{{1,6}}(?:\.[0-9]{{1,9}})*{SUFFIX}", re.IGNORECASE)
CAPABILITY = re.compile(r"[0-9]{1,2}\.[0-9]")
# two fields are needed where a minor version is asked for
MINOR = re.compile(rf"v?[0-9]{{1,6}}\.[0-9]{{1,9}}{SUFFIX}", re.IGNORECASE)
LONGEST = 100  # policy: a version is shorter, and matching a long text from every start would take its square
NUMBER = re.compile(r"[0-9]{1,19}")
FORMS = {
    "driver_version": VERSION,
    "cuda_driver_version": VERSION,
    "library_version": VERSION,
    "driver_api_version": VERSION,
    "module_version": VERSION,
    "cuda_version": VERSION,
    "cudnn_version": VERSION,
    "keras_version": VERSION,
    "tensorflow_version": MINOR,
    "version": MINOR,
    "compute_capability": CAPABILITY,
}
# Values of events by name: they are text whatever they mean, and these stand in commands or are compared.
VALUES = {
    **dict.fromkeys(("tf", "python", "cuda", "cudnn", "nccl", "libcuda", "compiled", "loaded"), VERSION),
    "count": NUMBER,
}
# Names of files that stand in commands. Quotes help neither against a leading dash nor a terminal that obeys control characters.
PLACE = re.compile(r"[^\x00-\x1f\x7f-\x9f-][^\x00-\x1f\x7f-\x9f]*")
PLACES = frozenset({"elsewhere", "shadowing"})
NUMBERED = {"xid": "code"}  # kinds of events that are nothing without a number
NO_VERSION = Missing("what stands there is no version")
NO_PLACE = Missing("what stands there is no path")


def plausible(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with what has not the form of its field as Missing."""
    return _walked(snapshot)


def _walked(node: Node) -> Node:
    changes: dict[str, Any] = {}
    for each in fields(cast("Any", node)):
        value: object = getattr(node, each.name)
        better = _judged(each.name, value)
        if better is not value:
            changes[each.name] = better
    return replace(cast("Any", node), **changes) if changes else node


def _judged(name: str, value: object) -> object:
    if isinstance(value, str):
        form = FORMS.get(name)
        return value if form is None or _is(form, value) else NO_VERSION
    if isinstance(value, LogEvent):
        return _event(value)
    if is_dataclass(value) and not isinstance(value, (type, Missing)):
        return _walked(value)
    if not isinstance(value, tuple):
        return value
    items = cast("tuple[object, ...]", value)
    return _places(items) if name in PLACES else _items(name, items)


def _is(form: re.Pattern[str], text: str) -> bool:
    return len(text) <= LONGEST and form.fullmatch(text.strip(" ")) is not None


def _event(event: LogEvent) -> LogEvent:
    values = event.values
    bad = {name for name, text in values.items() if name in VALUES and not _is(VALUES[name], text)}
    return replace(event, values={name: text for name, text in values.items() if name not in bad}) if bad else event


def _places(items: tuple[object, ...]) -> object:
    kept = tuple(each for each in items if isinstance(each, str) and PLACE.fullmatch(each))
    return items if kept == items else kept or NO_PLACE


def _items(name: str, items: tuple[object, ...]) -> tuple[object, ...]:
    if name == "events":
        items = items if all(map(_numbered, items)) else tuple(each for each in items if _numbered(each))
    better = tuple(_judged("", each) for each in items)
    return better if any(new is not old for new, old in zip(better, items, strict=True)) else items


def _numbered(event: object) -> bool:
    needed = NUMBERED.get(getattr(event, "kind", ""))
    values: dict[str, str] = getattr(event, "values", {})
    return needed is None or values.get(needed, "").isdecimal()
