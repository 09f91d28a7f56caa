"""The child's messages: JSON lines into dataclasses, strictly, and nothing a child writes can raise here.

A line that is cut off, unknown or of the wrong shape is dropped: a child that dies in the middle of a line is evidence,
and a user's library that finds our pipe and writes on it must not end the scan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from gpudoctor.model.observed import LoadedLibrary, Trial

LONGEST_LINE = 1 << 20  # a real message is under 10 KiB
STATUSES = frozenset({"ok", "failed", "inconclusive", "refused", "unsupported", "crashed", "timeout", "oom"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The child runs."""

    pid: int
    python: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """TensorFlow is imported; `keras_error` when tf.keras cannot be loaded."""

    import_s: float
    tensorflow_version: str = ""
    keras_version: str = ""
    keras_error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportFailed:
    """The import raised. `absent`: there is no TensorFlow (or no NumPy) in that environment."""

    error: str
    import_s: float = 0.0
    absent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """What TensorFlow lists, and what it would train on."""

    visible_gpus: int
    device: str = ""
    device_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The CUDA libraries mapped so far."""

    libraries: tuple[LoadedLibrary, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """A trial begins."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """So much (0-1) of a trial is done."""

    name: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A trial ended with a result."""

    trial: Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """All trials were run."""


Message = Hello | Imported | ImportFailed | Devices | Loaded | Begin | Advance | Finished | Done
Members = Mapping[str, Any]  # a JSON object before its conversion
PLAIN: Mapping[str, type[Message]] = {
    "hello": Hello,
    "imported": Imported,
    "import_failed": ImportFailed,
    "devices": Devices,
    "loaded": Loaded,
    "begin": Begin,
    "advance": Advance,
    "done": Done,
}


def decode(line: bytes) -> Message | None:
    """Return the message of one line, None where the line is not one."""
    if len(line) > LONGEST_LINE:
        return None
    try:
        return _message(msgspec.json.decode(line, type=dict[str, Any]))
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError, ValueError):
        return None


def _message(members: Members) -> Message | None:
    kind: Any = members.get("kind")
    if kind == "trial":
        return _finished(members)
    shape = PLAIN.get(kind) if isinstance(kind, str) else None
    return None if shape is None else msgspec.convert(dict(members), shape)


def _finished(members: Members) -> Finished | None:
    told = msgspec.convert(members.get("result"), dict[str, Any])
    named = {**told, "name": members.get("name"), "duration_s": members.get("duration_s", 0.0)}
    trial = msgspec.convert(named, Trial)
    return Finished(trial=trial) if trial.status in STATUSES and _is_sane(trial) else None


def _is_sane(trial: Trial) -> bool:
    """Return whether all figures are finite and no interval is inside out: what checks may take for granted."""
    if not all(math.isfinite(each) for each in trial.values.values()):
        return False
    return all(0 <= each.low <= each.speedup <= each.high < math.inf for each in trial.comparisons)


def lines_of(chunk: bytes, rest: bytes, take: Callable[[bytes], None]) -> bytes:
    """Give every whole line of rest + chunk to `take` and return what is left; an endless line is forgotten."""
    *whole, rest = (rest + chunk).split(b"\n")
    for line in whole:
        take(line)
    return rest if len(rest) <= LONGEST_LINE else b""
