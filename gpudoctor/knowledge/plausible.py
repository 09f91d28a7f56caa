"""Takes out of a foreign snapshot what cannot be a version or a compute capability, so that no check compares nonsense.

A snapshot comes from another machine, perhaps edited or damaged. Each check guarding itself would be tempting; one in a
hundred would forget it. What is taken out is unknown, with the reason, never guessed.
"""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from gpudoctor.model.missing import Missing

if TYPE_CHECKING:
    from gpudoctor.model.snapshot import Snapshot

Node = TypeVar("Node")
VERSION = re.compile(r"\s*v?\d{1,6}(?:\.\d{1,9})*", re.IGNORECASE)
CAPABILITY = re.compile(r"\d{1,2}\.\d")
# two fields are needed where a minor version is asked for
MINOR = re.compile(r"\s*v?\d{1,6}\.\d{1,9}", re.IGNORECASE)
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
NUMBERED = {"xid": "code"}  # kinds of events that are nothing without a number
NO_VERSION = Missing("what stands there is no version")


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
        return NO_VERSION if form is not None and form.match(value) is None else value
    if is_dataclass(value) and not isinstance(value, (type, Missing)):
        return _walked(value)
    return _items(name, cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


def _items(name: str, items: tuple[object, ...]) -> tuple[object, ...]:
    if name == "events":
        return items if all(map(_numbered, items)) else tuple(each for each in items if _numbered(each))
    better = tuple(_judged("", each) for each in items)
    return better if any(new is not old for new, old in zip(better, items, strict=True)) else items


def _numbered(event: object) -> bool:
    needed = NUMBERED.get(getattr(event, "kind", ""))
    values: dict[str, str] = getattr(event, "values", {})
    return needed is None or values.get(needed, "").isdecimal()
