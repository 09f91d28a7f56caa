"""Attend to one child from start to end: collect its messages, enforce its limits, and say what became of it.

A child that crashes, hangs or is killed is a result. The only thing that ends the probe itself is Ctrl-C.
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from os import kill
from pathlib import Path
from tempfile import TemporaryDirectory

from gpudoctor.model.observed import LoadedLibrary, Trial
from gpudoctor.probe import wire
from gpudoctor.probe.jit_cache import JitWatch
from gpudoctor.probe.plan import BY_NAME
from gpudoctor.probe.process import Child

POLL_S = 0.2
# Policy: a first import from a slow network drive took a minute in public reports; a warm one is 2-5 s (measured).
START_LIMIT_S = 120.0
GRACE_S = 5.0  # a trial watches its own limit and may be within its last step
STACK_WAIT_S = 0.3
FRAME = re.compile(r'^  File "(?:.*/)?([^"/]+)", line (\d+) in (\S+)', re.MULTILINE)
OOM_KILLS = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)  # /proc/vmstat, since Linux 4.13


@dataclass(slots=True)
class Seen:
    """What a child has told so far."""

    hello: bool = False
    imported: wire.Imported | None = None
    import_failed: wire.ImportFailed | None = None
    devices: wire.Devices | None = None
    loaded: tuple[LoadedLibrary, ...] = ()
    running: str = ""
    trials: dict[str, Trial] = field(default_factory=dict[str, Trial])
    done: bool = False

    def take(self, message: wire.Message) -> None:
        """Note one message."""
        match message:
            case wire.Hello():
                self.hello = True
            case wire.Imported():
                self.imported = message
            case wire.ImportFailed():
                self.import_failed = message
            case wire.Devices():
                self.devices = message
            case wire.Loaded():
                self.loaded = message.libraries or self.loaded
            case wire.Begin():
                self.running = message.name
            case wire.Finished():
                self.trials[message.trial.name] = message.trial
                self.running = ""
            case wire.Done():
                self.done = True
            case wire.Advance():
                pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a child ended. `fate`: ok, crashed, timeout, oom, not_started, import_failed; `compiling`: PTX at its end."""

    fate: str
    reason: str
    seen: Seen
    text: str = ""
    exit_code: int | None = None
    abandoned: bool = False
    compiling: bool = False
    duration_s: float = 0.0


Listener = Callable[[wire.Message], None]


def attend(
    command: Callable[[int], Sequence[str]],
    environment: Mapping[str, str],
    *,
    deadline: float,
    listen: Listener = lambda _: None,
) -> Ending:
    """Run one child in an empty folder until it is done, dead, or out of time (`deadline`: on the monotonic clock)."""
    begun = time.monotonic()
    with TemporaryDirectory(prefix="gpudoctor-probe-", ignore_cleanup_errors=True) as folder:
        kills = _oom_kills()
        try:
            child = Child(command, environment, Path(folder))
        except OSError as error:
            return Ending(fate="not_started", reason=f"{error.strerror or error}", seen=Seen())
        try:
            seen, late, compiling = _watch(child, JitWatch(environment), deadline, listen)
            if late:
                late += _where(child)
        finally:
            child.end()
    died = _fate(child, seen, late, shortage=_oom_kills() > kills)
    return Ending(
        fate=died[0],
        reason=died[1],
        seen=seen,
        text=child.text(),
        exit_code=child.exit_code,
        abandoned=child.abandoned,
        compiling=compiling,
        duration_s=time.monotonic() - begun,
    )


def _watch(child: Child, jit: JitWatch, deadline: float, listen: Listener) -> tuple[Seen, str, bool]:
    """Return what was seen, why the time was over ('' = it was not), and whether PTX was being compiled then."""
    seen = Seen()
    limit = time.monotonic() + START_LIMIT_S
    extended = False
    while not seen.done:
        if child.is_over():
            _note(child.drain(), seen, listen)
            break
        if _note(child.read(POLL_S), seen, listen):
            limit, extended = time.monotonic() + _limit_s(seen), False
        now = time.monotonic()
        if now >= deadline:
            compiling = extended or jit.is_compiling(child.text())
            return seen, _over("the probe's whole time is over", compiling=compiling), compiling
        if now >= limit:
            if not jit.is_compiling(child.text()):
                return seen, f"no answer for {_limit_s(seen):.0f} s", False
            limit, extended = now + _limit_s(seen), True
    return seen, "", extended


def _note(messages: Sequence[wire.Message], seen: Seen, listen: Listener) -> bool:
    """Take the messages; return whether one of them starts a new span of time."""
    for message in messages:
        seen.take(message)
        listen(message)
    return any(not isinstance(message, wire.Advance) for message in messages)


def _limit_s(seen: Seen) -> float:
    plan = BY_NAME.get(seen.running)
    return plan.limit_s + GRACE_S if plan is not None else START_LIMIT_S


def _over(reason: str, *, compiling: bool) -> str:
    return (
        f"{reason}: PTX is still being compiled for this GPU (ptx-jit), which can take half an hour"
        if compiling
        else reason
    )


def _where(child: Child) -> str:
    """Ask a silent child for its Python stack; return the innermost line that is ours, '' when it does not answer."""
    before = len(child.text())
    with suppress(ProcessLookupError, PermissionError):
        kill(child.pid, signal.SIGUSR1)
    end = time.monotonic() + STACK_WAIT_S
    while (left_s := end - time.monotonic()) > 0 and not child.is_over():
        child.read(left_s)
    frame = FRAME.search(child.text()[before:])
    return f"; it stands in {frame[3]} ({frame[1]}:{frame[2]})" if frame else ""


def _fate(child: Child, seen: Seen, late: str, *, shortage: bool) -> tuple[str, str]:
    if late:
        stuck = "; it does not even end when killed (stuck in the driver)" if child.abandoned else ""
        return "timeout", late + stuck
    if seen.import_failed is not None:
        return "import_failed", seen.import_failed.error
    if seen.done:
        return "ok", ""
    if not seen.hello:
        return "not_started", _died(child)
    if child.exit_code == -signal.SIGKILL and not child.killed and shortage:
        return "oom", "killed by the kernel: the machine or the control group ran out of memory"
    return "crashed", _died(child)


def _died(child: Child) -> str:
    code = child.exit_code
    if code is None or child.killed:
        return "the child closed its pipe and went on"
    how = f"the child ended with exit code {code}" if code >= 0 else f"the child died of {_signal_name(-code)}"
    said = _last_words(child.text())
    return f"{how}; it said: {said}" if said else how


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_words(text: str) -> str:
    """Return the line that tells most: a fatal check of TensorFlow, else Python's fatal error, else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    fatal = [line for line in lines if re.match(r"(?:[\d\-]+ [\d:.]+: F |F\d{4} )", line)]
    python = [line for line in lines if line.startswith("Fatal Python error")]
    chosen = (fatal or python or lines or [""])[-1]
    return chosen[:300]


def _oom_kills() -> int:
    try:
        found = OOM_KILLS.search(Path("/proc/vmstat").read_text(encoding="ascii"))
    except OSError:
        return 0
    return int(found[1]) if found else 0
