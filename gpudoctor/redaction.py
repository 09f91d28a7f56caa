"""Take out of a snapshot what identifies a person or a machine; done once, before anything is judged or shown.

A GPU's UUID becomes a token that is the same wherever the UUID stood: what is judged by identity (which GPU a variable
names) comes out the same from a redacted snapshot.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeGuard, TypeVar, cast

from gpudoctor.model.gpu import Gpu, GpuProcess
from gpudoctor.model.missing import Missing
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import WORDS

HIDDEN = Missing("identifier; shown with --include-identifiers")
# A whole UUID or the beginning of one, which CUDA_VISIBLE_DEVICES takes as well (CUDA C Programming Guide)
UUID = re.compile(r"(?<![\w-])((?:MIG-)?(?:GPU|MIG))-(?=[0-9a-fA-F-]*\d)([0-9a-fA-F]{4,8}(?:-[0-9a-fA-F]*){0,4})(?!\w)")
HOMES = re.compile(r"(?<=/home/)[^/\s:;,'\"]+|(?<=/Users/)[^/\s:;,'\"]+|(?<=\\Users\\)[^\\\s:;,'\"]+")
USER_SAID = re.compile(r"\b(?:user|username|owner|USER|LOGNAME)=['\"]?([A-Za-z_][\w.-]*\w)")
# A host is believed where it is said to be one and looks like one: "host memory" is none, nor is "host x86_64-linux-gnu".
HOST_SAID = re.compile(r"\b(?i:host|hostname|node|nodename|server)[ =:]+['\"]?((?!x86|aarch)[A-Za-z]\w*[-.][\w.-]*\w)")
# A full name begins with a part that a number or a hyphen makes one machine's: `storage.googleapis.com` is everybody's.
HOST_FULL = re.compile(
    r"(?<![\w./@-])((?=[\w-]*[\d-])[A-Za-z][A-Za-z0-9-]*(?:\.[A-Za-z][A-Za-z0-9-]*)+\.(?:(?!so|py|sh|md|rs|cc)[a-z]{2}"
    r"|com|org|net|edu|gov|mil|cloud|cluster|corp|example|home|internal|intranet|lan|local|localdomain|private|test))"
    r"(?!\.?[\w/-])"
)
USER_VARIABLES = frozenset({"USER", "LOGNAME", "USERNAME", "SUDO_USER", "SLURM_JOB_USER", "PBS_O_LOGNAME", "NB_USER"})
HOST_VARIABLES = frozenset(
    {"HOSTNAME", "HOST", "COMPUTERNAME", "SLURMD_NODENAME", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}
)
# Folders below /home that are nobody's name, and names that every image has
EVERYBODYS = frozenset(
    {
        "admin", "app", "bin", "conda", "data", "dev", "docker", "home", "jovyan", "jupyter", "keras", "lib", "linux", "model",
        "models", "nvidia", "opt", "public", "runner", "scratch", "server", "shared", "test", "train", "usr", "venv", "vscode",
        "work", "workspace",
    }
)  # fmt: skip
LONG_NAME = 6  # so long a name is no part of an ordinary word: it is masked between any two signs
SHORTEST_NAME = 3  # shorter user or host names would blot out parts of ordinary words
COMMON_NAMES = frozenset({"root", "user", "ubuntu", "debian", "localhost", "gpu", "cuda", "python", "tensorflow"})
T = TypeVar("T")
Rewrite = Callable[[str], str]


def redact(snapshot: Snapshot, *, rewrite: Rewrite | None = None) -> Snapshot:
    """Return the snapshot with UUIDs as tokens, without serial, process user and command; home as ~; names masked.

    `rewrite` masks what is known of this machine; names that the snapshot itself tells are masked besides, everywhere.
    """
    tokens, masked = _Tokens(snapshot), chained(rewrite or rewriter_of_this_machine(), rewriter_of(snapshot))
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
    told = rewriter_of(snapshot)

    def counting(text: str) -> str:
        nonlocal masked
        result = told(rewrite(text))
        masked += result != text
        return result

    gpus, processes = snapshot.gpus or (), _processes(snapshot)
    hidden = {
        "GPU UUIDs": [each.uuid for each in gpus],
        "serial numbers": [each.serial for each in gpus],
        "names of processes' users": [each.user for each in processes],
        "command lines": [each.command for each in processes],
    }
    counts = {what: sum(not isinstance(each, Missing) for each in values) for what, values in hidden.items()}
    redacted = redact(snapshot, rewrite=counting)
    return Redacted(snapshot=redacted, counts={**counts, "texts with the home folder, user or host name": masked})


def chained(first: Rewrite, *others: Rewrite) -> Rewrite:
    """Return what applies all of them in turn."""

    def rewrite(text: str) -> str:
        for each in (first, *others):
            text = each(text)
        return text

    return rewrite


def rewriter_of(snapshot: Snapshot) -> Rewrite:
    """Return a function that masks the users and hosts that the snapshot names: it may be of somebody else's machine.

    A user is who owns a home folder or a process of another; a host is a name of several parts, or one said to be a host.
    """
    texts = list(_texts(snapshot))
    users = {name for text in texts for name in HOMES.findall(text)}
    users |= {name for text in texts for name in USER_SAID.findall(text)}
    users |= {each.user for each in _processes(snapshot) if isinstance(each.user, str)}
    env = snapshot.env or {}
    users |= {value for name, value in env.items() if name in USER_VARIABLES}
    hosts = {name for text in texts for pattern in (HOST_SAID, HOST_FULL) for name in pattern.findall(text)}
    hosts |= {value for name, value in env.items() if name in HOST_VARIABLES}
    hosts |= {name.partition(".")[0] for name in hosts}
    masks = [*_masks(users, "<user>"), *_masks(hosts, "<host>")]
    return _applying(masks)


def _texts(value: object) -> Iterator[str]:
    """Yield every text of frozen data."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            yield from _texts(getattr(value, each.name))
    elif _is_tuple(value):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, Mapping):
        for member in cast("Mapping[str, object]", value).values():
            yield from _texts(member)


def _processes(snapshot: Snapshot) -> list[GpuProcess]:
    return [each for gpu in snapshot.gpus or () if not isinstance(gpu.processes, Missing) for each in gpu.processes]


def _masks(names: Iterable[str], mask: str) -> list[tuple[re.Pattern[str], str]]:
    """Return the patterns, longest first: a host's full name goes before its first part."""
    told = sorted({name for name in names if _tells(name)}, key=lambda name: (-len(name), name))
    return [(re.compile(_bounded(name), re.IGNORECASE), mask) for name in told]


def _bounded(name: str) -> str:
    before, after = ("A-Za-z0-9", "A-Za-z0-9") if len(name) >= LONG_NAME else (r"\w.-", r"\w-")
    return rf"(?<![{before}]){re.escape(name)}(?![{after}])"


def _tells(name: str) -> bool:
    ordinary = COMMON_NAMES | EVERYBODYS
    return len(name) >= SHORTEST_NAME and name.lower() not in ordinary and not name.startswith(("<", "~"))


def _applying(masks: list[tuple[re.Pattern[str], str]]) -> Rewrite:
    def rewrite(text: str) -> str:
        for pattern, mask in masks:
            text = pattern.sub(mask, text)
        return text

    return rewrite


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
    masks += _masks([user], "<user>") + _masks([host, host.partition(".")[0]], "<host>")
    masks.append((HOMES, "<user>"))
    return _applying(masks)


def _map_strings(value: T, rewrite: Rewrite) -> T:
    """Return a copy of frozen data with every text rewritten."""
    return cast("T", _mapped(value, rewrite))


def _is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def _mapped(value: Any, rewrite: Rewrite) -> Any:  # any node of frozen data
    if isinstance(value, str):
        # The user slurm is masked, the scheduler of that name is not.
        return value if value in WORDS else rewrite(value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {each.name: _mapped(getattr(value, each.name), rewrite) for each in fields(value)}
        return replace(value, **changed)
    if _is_tuple(value):
        return tuple(_mapped(each, rewrite) for each in value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        rewritten = {key: _mapped(each, rewrite) for key, each in items}
        return {key: (each and _named(key, items)) or each for key, each in rewritten.items()}
    return value


def _named(key: str, members: Iterable[tuple[str, Any]]) -> str:
    """Return what stands for a whole value that is a name by its variable, '' for any other.

    A host may be called `gpu` and a user `slurm`: masking such a word everywhere would blot out what is judged, but where the
    variable says that it is the name, nothing else is meant. A log's event has the variable's name beside the value.
    """
    variable = next((each for name, each in members if name == "name"), "") if key == "value" else key
    return "<user>" if variable in USER_VARIABLES else "<host>" if variable in HOST_VARIABLES else ""
