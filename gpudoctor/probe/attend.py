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
from gpudoctor.model.words import Fate
from gpudoctor.probe import wire
from gpudoctor.probe.jit_cache import JitWatch
from gpudoctor.probe.plan import BY_NAME
from gpudoctor.probe.process import Child

POLL_S = 0.2
GRACE_S = 5.0  # a trial watches its own limit and may be within its last step
STACK_WAIT_S = 0.2
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
    """How a child ended. `compiling`: PTX at its end."""

    fate: Fate
    reason: str
    seen: Seen
    text: str = ""
    exit_code: int | None = None
    abandoned: bool = False
    compiling: bool = False
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a child may take: until `deadline` (monotonic clock) in all, `start_s` to its first trial.

    A trial has its plan's limit; `silence_s` overrules both.
    """

    deadline: float
    start_s: float
    silence_s: float | None = None

    def for_trial(self, name: str) -> float:
        """Return how long this trial ('': the start) may take."""
        plan = BY_NAME.get(name)
        allowed = self.start_s if plan is None else plan.limit_s + GRACE_S
        return allowed if self.silence_s is None else self.silence_s


Listener = Callable[[wire.Message], None]
Watcher = Callable[[str], None]


def attend(
    command: Callable[[int], Sequence[str]],
    environment: Mapping[str, str],
    *,
    limits: Limits,
    listen: Listener = lambda _: None,
    watch: Watcher = lambda _: None,
) -> Ending:
    """Run one child in an empty folder until it is done, dead, or out of time.

    `watch` is called several times a second with the name of the trial that runs ('' between trials).
    """
    begun = time.monotonic()
    with TemporaryDirectory(prefix="gpudoctor-probe-", ignore_cleanup_errors=True) as folder:
        kills = _oom_kills()
        try:
            child = Child(command, environment, Path(folder))
        except OSError as error:
            return Ending(fate="not_started", reason=f"{error.strerror or error}", seen=Seen())
        try:
            attended = _Attended(child, JitWatch(environment), limits, listen, watch)
            late = attended.run()
            if late:
                late += _where(child)
        finally:
            child.end()
    fate, reason = _fate(child, attended.seen, late, shortage=_oom_kills() > kills)
    return Ending(
        fate=fate,
        reason=reason,
        seen=attended.seen,
        text=child.text(),
        exit_code=child.exit_code,
        abandoned=child.abandoned,
        compiling=attended.compiling,
        duration_s=time.monotonic() - begun,
    )


class _Attended:
    """Waits for a child's messages and knows how long it may be silent."""

    def __init__(self, child: Child, jit: JitWatch, limits: Limits, listen: Listener, watch: Watcher) -> None:
        self.seen = Seen()
        self.compiling = False
        self._child, self._jit, self._limits, self._listen, self._watch = child, jit, limits, listen, watch
        self._limit = time.monotonic() + self._limit_s()

    def run(self) -> str:
        """Return when the child is done or dead (''), or why its time is over."""
        while not self.seen.done and not self._child.is_over():
            self._note(self._child.read(POLL_S))
            self._watch(self.seen.running)
            late = self._late(time.monotonic())
            if late:
                return late
        self._note(self._child.drain())
        return ""

    def _note(self, messages: Sequence[wire.Message]) -> None:
        for message in messages:
            self.seen.take(message)
            self._listen(message)
            if not isinstance(message, wire.Advance):
                self._limit, self.compiling = time.monotonic() + self._limit_s(), False

    def _late(self, now: float) -> str:
        if now < min(self._limits.deadline, self._limit):
            return ""
        self.compiling = self._jit.is_compiling(self._child.text()) or self.compiling
        if now >= self._limits.deadline:
            return _over("the probe's whole time is over", compiling=self.compiling)
        if not self.compiling:
            return f"no answer for {self._limit_s():.0f} s"
        self._limit = now + self._limit_s()
        return ""

    def _limit_s(self) -> float:
        return self._limits.for_trial(self.seen.running)


def _over(reason: str, *, compiling: bool) -> str:
    return (
        f"{reason}: PTX is still being compiled for this GPU (ptx-jit), which can take half an hour"
        if compiling
        else reason
    )


def _where(child: Child) -> str:
    """Ask a silent child for its Python stack; return the innermost line, '' when it does not answer."""
    before = len(child.text())
    with suppress(ProcessLookupError, PermissionError):
        kill(child.pid, signal.SIGUSR1)
    end = time.monotonic() + STACK_WAIT_S
    while (left_s := end - time.monotonic()) > 0 and not child.is_over():
        child.read(left_s)
    return _frame(child.text()[before:])


def _fate(child: Child, seen: Seen, late: str, *, shortage: bool) -> tuple[Fate, str]:
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
    text = child.text()
    said = _last_words(text)
    return how + (f"; it said: {said}" if said else "") + _frame(text.partition("\nCurrent thread")[2])


def _frame(stack: str) -> str:
    """Return the innermost line of a stack that faulthandler wrote, '' where there is none."""
    frame = FRAME.search(stack)
    return f"; it stood in {frame[3]} ({frame[1]}:{frame[2]})" if frame else ""


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
