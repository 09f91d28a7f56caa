"""The one place where JSON meets the model. Sparse JSON is legal: what is absent is unknown, `missing` maps a path to why.

msgspec decodes strictly into the frozen dataclasses; a Missing value is never written in place but as a path in `missing`.
Writing needs the standard library only: a quick scan, which reads nothing, must not pay for loading msgspec.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar, cast

from gpudoctor.errors import SnapshotError, UsageError
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Report
from gpudoctor.model.snapshot import SCHEMA_VERSION, Snapshot

if TYPE_CHECKING:
    from gpudoctor.model.baseline import Baseline  # few runs have one

WHOLLY_OPTIONAL = frozenset({"host", "nvml", "cuda", "scheduler", "kernel", "gpus", "python", "tensorflow"})
BOM = b"\xef\xbb\xbf"  # editors on Windows put it first
MAX_SNAPSHOT_BYTES = 64 * 1024 * 1024  # a real one is under 1 MiB; a larger file is not a snapshot
MAX_BASELINE_BYTES = 4 * 1024 * 1024  # 200 bytes a finding; nobody accepts ten thousand
# Characters that steer a terminal or hide text: DEL and C1, zero-width and bidi controls, line separators, the BOM.
# Lone surrogates are bytes of a name that is not UTF-8: no JSON reader takes them.
STEERING = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff]")
LONGEST_REASON = 200  # characters of a refusal
DEEPEST = 8  # steps of a path in `missing`: more than the model is deep
STEP = re.compile(r"([A-Za-z_][\w.\-]*?)(?=\.|\[|$)|\[(\d{1,4})\]")

T = TypeVar("T")
Json = Any  # a JSON document as Python builtins: there is no tighter type for it


def _is_object(node: object) -> TypeGuard[dict[str, Json]]:
    return isinstance(node, dict)


def _is_array(node: object) -> TypeGuard[list[Json]]:
    return isinstance(node, list)


def to_builtins(value: object, missing: dict[str, str], path: str = "") -> Json:
    """Return the value as JSON builtins; each Missing is left out and noted in `missing` by its path."""
    if is_dataclass(value):
        return _object({each.name: getattr(value, each.name) for each in fields(value)}, missing, path)
    if isinstance(value, Mapping):
        return _object(cast("Mapping[str, object]", value), missing, path)
    if isinstance(value, tuple):
        items = enumerate(cast("tuple[object, ...]", value))
        return [to_builtins(item, missing, f"{path}[{index}]") for index, item in items]
    if isinstance(value, float) and not math.isfinite(value):
        missing[path] = f"not a finite number: {value}"
        return None
    return value.value if isinstance(value, Enum) else value


def _object(members: Mapping[str, object], missing: dict[str, str], path: str) -> dict[str, Json]:
    result: dict[str, Json] = {}
    for name, member in members.items():
        where = f"{path}.{name}" if path else name
        if isinstance(member, Missing):
            missing[where] = member.reason
        elif isinstance(member, float) and not math.isfinite(member):
            missing[where] = f"not a finite number: {member}"
        elif member is not None:
            result[name] = to_builtins(member, missing, where)
    return result


def snapshot_to_builtins(snapshot: Snapshot) -> dict[str, Json]:
    """Return the snapshot as a JSON object, with `missing` complete."""
    missing = dict(snapshot.missing)
    document = cast("dict[str, Json]", to_builtins(replace(snapshot, missing={}), missing))
    document["missing"] = missing
    return document


def report_to_builtins(report: Report) -> dict[str, Json]:
    """Return the report as a JSON object (its format: `gpudoctor schema report`)."""
    missing: dict[str, str] = {}
    document = {
        each.name: to_builtins(getattr(report, each.name), missing)
        for each in fields(report)
        if each.name != "snapshot"
    }
    for verdict in document["checks"]:
        del verdict["findings"]
    # said outright: whoever reads it would take an absent key for an older report
    document["summary"]["primary"] = report.summary.primary
    document["snapshot"] = snapshot_to_builtins(report.snapshot)
    document["probe"] = document["snapshot"].get("probe")
    if report.snapshot.run is not None:
        document["run"] = document["snapshot"].get("run")
    return document


def dumps(document: Json, *, indent: int = 2) -> str:
    """Return the JSON text of builtins; no character in it steers a terminal."""
    return _escaped(json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False))


def loads(data: bytes | str) -> Json:
    """Return the builtins of a JSON text. Raises ValueError where it is not one."""
    import msgspec  # noqa: PLC0415  # see the module's docstring

    try:
        return msgspec.json.decode(data.encode() if isinstance(data, str) else data.removeprefix(BOM))
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise ValueError(str(error)) from error


def compact(document: Json) -> str:
    """Return the JSON text of builtins on one line; no character in it steers a terminal or ends the line early."""
    return _escaped(json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def typed(value: Json, model: type[T]) -> T:
    """Return builtins as the dataclass that they describe. Raises ValueError where they do not fit."""
    import msgspec  # noqa: PLC0415  # see the module's docstring

    try:
        return msgspec.convert(value, model)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _escaped(text: str) -> str:
    return STEERING.sub(lambda char: "\\ufffd" if "\ud800" <= char[0] <= "\udfff" else f"\\u{ord(char[0]):04x}", text)


def _decoded(data: bytes) -> Json:
    """Decode a foreign document; a key that stands twice is refused: which of the two holds is anybody's guess."""
    import msgspec  # noqa: PLC0415  # see the module's docstring

    text = data.removeprefix(BOM)
    document: Json = msgspec.json.decode(text)
    # Nothing but the keys is of interest here: a number of thousands of digits is not worth turning into one.
    json.loads(text, object_pairs_hook=_no_key_twice, parse_int=str, parse_float=str)
    return document


class RepeatedKeyError(Exception):
    """An object of a document names a key twice."""


def _no_key_twice(members: list[tuple[str, Json]]) -> None:
    names: set[str] = set()
    for name, _ in members:
        if name in names:
            raise RepeatedKeyError(f"the key {name!r} stands twice in one object")
        names.add(name)


def load_baseline(data: bytes, *, name: str) -> Baseline:
    """Decode a baseline, strictly: a misspelt key must not silently accept less or more.

    Raises UsageError with a sentence that names the cure.
    """
    import msgspec  # noqa: PLC0415  # see the module's docstring

    from gpudoctor.knowledge.bounds import implausible  # noqa: PLC0415  # only what reads a file needs it
    from gpudoctor.model.baseline import BASELINE_VERSION, Baseline  # noqa: PLC0415

    if len(data) > MAX_BASELINE_BYTES:
        raise UsageError(f"{name}: larger than {MAX_BASELINE_BYTES >> 20} MiB; this is not a baseline")
    try:
        document = _decoded(data)
        wrong = implausible(document)
        if wrong:
            raise UsageError(f"{name}: not a baseline: {wrong}; make one with `gpudoctor scan --write-baseline FILE`")
        version = document.get("baseline_version") if _is_object(document) else None
        if isinstance(version, int) and version > BASELINE_VERSION:
            raise UsageError(f"{name}: written by a newer gpudoctor (baseline {version}); upgrade gpudoctor")
        return msgspec.convert(document, Baseline)
    except (
        msgspec.DecodeError,
        msgspec.ValidationError,
        RecursionError,
        UnicodeDecodeError,
        RepeatedKeyError,
    ) as error:
        raise UsageError(
            f"{name}: not a baseline ({error}); make one with `gpudoctor scan --write-baseline FILE`"
        ) from error


def load_snapshot(data: bytes, *, name: str = "snapshot") -> Snapshot:
    """Decode a snapshot, or the snapshot inside a report.

    Raises SnapshotError with a sentence that names the cure: not JSON, not a snapshot, too large, or newer than this
    gpudoctor.
    """
    import msgspec  # noqa: PLC0415  # see the module's docstring

    if len(data) > MAX_SNAPSHOT_BYTES:
        raise SnapshotError(f"{name}: larger than {MAX_SNAPSHOT_BYTES >> 20} MiB; this is not a snapshot")
    try:
        document = _decoded(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, RepeatedKeyError) as error:
        raise SnapshotError(
            f"{name}: not JSON ({error}); make one with `gpudoctor scan --save-snapshot FILE`"
        ) from error
    if not _is_object(document):
        raise SnapshotError(f"{name}: not a snapshot (a JSON object is expected)")
    inner = document.get("snapshot")
    return _convert(inner if _is_object(inner) else document, name)


def _convert(document: dict[str, Json], name: str) -> Snapshot:
    import msgspec  # noqa: PLC0415  # see the module's docstring

    from gpudoctor.knowledge.bounds import implausible  # noqa: PLC0415  # only what reads a snapshot needs it
    from gpudoctor.knowledge.plausible import plausible  # noqa: PLC0415  # only what reads a snapshot needs it

    wrong = implausible(document)
    if wrong:
        raise SnapshotError(f"{name}: not a snapshot of a machine: {wrong}; correct it, or take a new snapshot")
    version = document.get("schema_version", SCHEMA_VERSION)
    if not isinstance(version, int):
        raise SnapshotError(f"{name}: schema_version must be a whole number")
    if version > SCHEMA_VERSION:
        raise SnapshotError(
            f"{name}: written by a newer gpudoctor (schema {version}, this one reads {SCHEMA_VERSION}); upgrade gpudoctor"
        )
    prepared = dict(document)
    raw = prepared.get("missing", {})
    reasons = raw if _is_object(raw) else {}
    groups = {each.name for each in fields(Snapshot)}
    prepared["missing"] = {path: why for path, why in reasons.items() if path in groups}
    for path, why in reasons.items():
        if path not in groups:
            _plant(prepared, path, {"reason": str(why)})
    _without_status(prepared.get("probe"))
    try:
        return plausible(msgspec.convert(prepared, Snapshot))
    except (msgspec.ValidationError, RecursionError) as error:
        raise SnapshotError(f"{name}: not a snapshot this gpudoctor can read: {_told(error)}") from error


def _told(error: Exception) -> str:
    """Return what is wrong and, at the end, where; a foreign word in the middle is cut where it is endless."""
    text = str(error)
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON // 2]} ... {text[-LONGEST_REASON // 2 :]}"


def _without_status(probe: Json) -> None:
    """Mark trials and children whose status is not recorded: the default of one that was just made is `ok`."""
    if not _is_object(probe):
        return
    trials, children = probe.get("trials"), probe.get("children")
    for each in (*(trials.values() if _is_object(trials) else ()), *(children if _is_array(children) else ())):
        if _is_object(each):
            each.setdefault("status", "unknown")


def _plant(document: dict[str, Json], path: str, leaf: Json) -> None:
    """Put the leaf at the path; a path that leads nowhere is dropped.

    Objects are made on the way only where all that they hold is optional: half a trial would be none.
    """
    steps: list[str | int] = [match[1] or int(match[2]) for match in STEP.finditer(path)]
    if len(steps) > DEEPEST:
        return
    node: Json = document
    for step, following in zip_longest(steps, steps[1:]):
        if _is_array(node) and isinstance(step, int):
            if step >= len(node):
                return
            node = node[step]
        elif _is_object(node) and isinstance(step, str):
            if following is None:
                node.setdefault(step, leaf)
                return
            if step not in node and (isinstance(following, int) or steps[0] not in WHOLLY_OPTIONAL):
                return
            node = node.setdefault(step, {})
        else:
            return


def schema(model: type[Snapshot | Report]) -> dict[str, Json]:
    """Return the JSON Schema (2020-12) of a document: as published, so without the in-memory Missing."""
    import msgspec  # noqa: PLC0415  # see the module's docstring

    document = cast("dict[str, Json]", _without_missing(msgspec.json.schema(model)))
    definitions = document["$defs"]
    definitions.pop("Missing", None)
    if model is Report:
        _fit_report(definitions)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **document}


def _fit_report(definitions: dict[str, Json]) -> None:
    definitions["Verdict"]["properties"].pop("findings", None)
    report = definitions["Report"]["properties"]
    report["probe"] = {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Probe"}]}
    report["run"] = {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Run"}]}


def _without_missing(node: Json) -> Json:
    if _is_array(node):
        return [_without_missing(each) for each in node]
    if not _is_object(node):
        return node
    members = node
    default = members.get("default")
    if _is_object(default) and "reason" in default:
        members = {key: value for key, value in members.items() if key != "default"}
    choices = members.get("anyOf")
    if _is_array(choices):
        kept: list[Json] = [each for each in choices if each != {"$ref": "#/$defs/Missing"}]
        rest = {key: value for key, value in members.items() if key != "anyOf"}
        members = {**rest, **kept[0]} if len(kept) == 1 else {**rest, "anyOf": kept}
    return {key: _without_missing(value) for key, value in members.items()}
