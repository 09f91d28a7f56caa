"""Take out of a snapshot what identifies a person or a machine; done once, before anything is judged or shown.

A GPU's UUID becomes a token that is the same wherever the UUID stood: what is judged by identity (which GPU a variable
names) comes out the same from a redacted snapshot.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeGuard, TypeVar, cast

from gpudoctor.model.gpu import Gpu, GpuProcess
from gpudoctor.model.missing import Missing
from gpudoctor.model.snapshot import Snapshot

HIDDEN = Missing("identifier; shown with --include-identifiers")
# A whole UUID or the beginning of one, which CUDA_VISIBLE_DEVICES takes as well (CUDA C Programming Guide)
UUID = re.compile(r"(?<![\w-])((?:MIG-)?(?:GPU|MIG))-(?=[0-9a-fA-F-]*\d)([0-9a-fA-F]{4,8}(?:-[0-9a-fA-F]*){0,4})(?!\w)")
HOMES = re.compile(r"(?<=/home/)[^/\s:;,'\"]+|(?<=/Users/)[^/\s:;,'\"]+|(?<=\\Users\\)[^\\\s:;,'\"]+")
SHORTEST_NAME = 3  # shorter user or host names would blot out parts of ordinary words
COMMON_NAMES = frozenset({"root", "user", "ubuntu", "debian", "localhost", "gpu", "cuda", "python", "tensorflow"})
T = TypeVar("T")
Rewrite = Callable[[str], str]


def redact(snapshot: Snapshot, *, rewrite: Rewrite | None = None) -> Snapshot:
    """Return the snapshot with UUIDs as tokens, without serial, process user and command; home as ~; names masked."""
    tokens, masked = _Tokens(snapshot), rewrite or rewriter_of_this_machine()
    rewritten = _map_strings(snapshot, lambda text: tokens.put_into(masked(text)))
    gpus = rewritten.gpus and tuple(_without_identifiers(gpu) for gpu in rewritten.gpus)
    return replace(rewritten, gpus=gpus)


class _Tokens:
    """UUIDs and what stands for them: `GPU-#1` is the first that the snapshot lists."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._known: dict[str, str] = {}
        for gpu in snapshot.gpus or ():
            if isinstance(gpu.uuid, str):
                self.put_into(gpu.uuid)

    def put_into(self, text: str) -> str:
        return UUID.sub(self._token, text) if "GPU-" in text or "MIG-" in text else text

    def _token(self, found: re.Match[str]) -> str:
        kind, uuid = found[1], found[2].lower()
        owners = [known for known in self._known if known == uuid or known.startswith(uuid)]
        owner = owners[0] if len(owners) == 1 else uuid
        return f"{kind}-#{self._known.setdefault(owner, str(len(self._known) + 1))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A redacted snapshot, and how many of each kind were taken out of it."""

    snapshot: Snapshot
    counts: Mapping[str, int]


def redact_counted(snapshot: Snapshot, *, rewrite: Rewrite) -> Redacted:
    """Redact, and tell what was taken out: nobody should have to trust that it was."""
    masked = 0

    def counting(text: str) -> str:
        nonlocal masked
        result = rewrite(text)
        masked += result != text
        return result

    gpus = snapshot.gpus or ()
    processes = [each for gpu in gpus if not isinstance(gpu.processes, Missing) for each in gpu.processes]
    hidden = {
        "GPU UUIDs": [each.uuid for each in gpus],
        "serial numbers": [each.serial for each in gpus],
        "names of processes' users": [each.user for each in processes],
        "command lines": [each.command for each in processes],
    }
    counts = {what: sum(not isinstance(each, Missing) for each in values) for what, values in hidden.items()}
    redacted = redact(snapshot, rewrite=counting)
    return Redacted(snapshot=redacted, counts={**counts, "texts with the home folder, user or host name": masked})


def _without_identifiers(gpu: Gpu) -> Gpu:
    processes = gpu.processes
    if not isinstance(processes, Missing):
        processes = tuple(_without_person(process) for process in processes)
    return replace(gpu, serial=_hide(gpu.serial), processes=processes)


def _without_person(process: GpuProcess) -> GpuProcess:
    return replace(process, user=_hide(process.user), command=_hide(process.command))


def _hide(value: str | Missing) -> Missing:
    return value if isinstance(value, Missing) else HIDDEN


def rewriter_of_this_machine() -> Rewrite:
    """Return a function that masks this user's home folder, name and host name in any text."""
    return rewriter(home=_home(), user=_user(), host=_host())


def _home() -> str:
    """Return the home folder, '' where a user without an entry anywhere has none (`docker run --user 12345`)."""
    found = os.path.expanduser("~")  # noqa: PTH111  # never raises
    return "" if found == "~" else found


def _user() -> str:
    """Return the login name without the password database, which may be a directory service that does not answer."""
    named = next((name for each in ("LOGNAME", "USER", "USERNAME") if (name := os.environ.get(each))), "")
    return named or os.path.basename(_home())  # noqa: PTH119  # a text, not a path


def _host() -> str:
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def rewriter(*, home: str, user: str, host: str) -> Rewrite:
    """Return a function that masks the given identifiers, and the names of home folders of others, in a text."""
    masks: list[tuple[re.Pattern[str], str]] = []
    if len(home) > 1:
        masks.append((re.compile(r"(?<![\w./-])" + re.escape(home) + r"(?=$|[/\\:;\s\"'])"), "~"))
    for name, mask in ((user, "<user>"), (host, "<host>"), (host.partition(".")[0], "<host>")):
        if len(name) >= SHORTEST_NAME and name.lower() not in COMMON_NAMES:
            masks.append((re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])"), mask))
    masks.append((HOMES, "<user>"))

    def rewrite(text: str) -> str:
        for pattern, mask in masks:
            text = pattern.sub(mask, text)
        return text

    return rewrite


def _map_strings(value: T, rewrite: Rewrite) -> T:
    """Return a copy of frozen data with every text rewritten."""
    return cast("T", _mapped(value, rewrite))


def _is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def _mapped(value: Any, rewrite: Rewrite) -> Any:  # any node of frozen data
    if isinstance(value, str):
        return rewrite(value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {each.name: _mapped(getattr(value, each.name), rewrite) for each in fields(value)}
        return replace(value, **changed)
    if _is_tuple(value):
        return tuple(_mapped(each, rewrite) for each in value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: _mapped(each, rewrite) for key, each in items}
    return value
