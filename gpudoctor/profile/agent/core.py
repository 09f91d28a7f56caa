"""The agent's heart: what is known of this process, the way into the spool, and the thread that beats once a second.

The thread begins with the first loop, iterator or phase, not with the import. Messages wait in a queue until the next beat: the user's
thread never writes a file.
"""

from __future__ import annotations

import _thread
import atexit
import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable
from importlib import import_module
from typing import Any, Dict, Tuple

from . import threads

FILE_BYTES = 4 << 20  # then the next file begins, and the wrapper removes this one once it is read
MOST_FILES = 64  # unread: nobody reads any more, 256 MiB are enough
BEAT_S = 1.0  # policy: a kill loses at most two of these
WRITE_WAIT_S = 1.0  # for another thread that writes
MOST_QUEUED = 20_000
LAST = -1000  # among multiprocessing's finalizers: behind those of the script

ALWAYS = ("tables", "memory", "sampler", "windows")  # what beats without hooking anything

Message = Tuple[str, Dict[str, Any]]


class Process:
    """The present process. `off`: nothing more is recorded."""

    def __init__(self) -> None:
        self.spool = self.name = ""
        self.off = True
        self.queue: deque[Message] = deque()
        self.begun: dict[str, float] = {}
        self.beating = False
        self.tracing = 0
        self.number = self.size = 0
        self.writing = _thread.allocate_lock()


process = Process()
on_start: list[Callable[[], None]] = []
every_beat: list[Callable[[], None]] = []
at_end: list[Callable[[], None]] = []  # first of all: what holds a thread of ours
before_end: list[Callable[[], None]] = []  # when no thread of ours runs any more
after_fork: list[Callable[[], None]] = []


def begin(spool: str, name: str, begun: dict[str, float]) -> None:
    """Take over from `waiting`."""
    process.spool, process.name, process.begun, process.off = spool, name, begun, False
    atexit.register(end)
    os.register_at_fork(after_in_child=_forked)
    import_module("_gpudoctor_agent.hidden").install()
    emit("processes", argv=[str(each) for each in getattr(sys, "argv", [])])


def hook(name: str, module: Any) -> None:
    """Let the agent's module `name` hook a module that has just been loaded."""
    if not process.off:
        for each in ALWAYS:
            import_module(f"_gpudoctor_agent.{each}")
        import_module(f"_gpudoctor_agent.{name}").hook(module)


def emit(table: str, **values: Any) -> None:
    """Queue a message; a queue that nobody empties is cut."""
    if not process.off and len(process.queue) < MOST_QUEUED:
        process.queue.append((table, values))


def flush() -> None:
    """Write what is queued."""
    if process.off or not process.writing.acquire(timeout=WRITE_WAIT_S):
        return
    try:
        lines: list[bytes] = []
        while process.queue:
            lines.append(_line(process.queue.popleft()))
        if lines:
            _write(b"".join(lines))
    except Exception:
        process.off = True
    finally:
        process.writing.release()


def _line(message: Message) -> bytes:
    try:
        text = json.dumps(message, allow_nan=False, separators=(",", ":"), default=str)
    except (ValueError, TypeError):
        return b""
    return text.encode("ascii", "replace") + b"\n"


def _write(data: bytes) -> None:
    if process.size > FILE_BYTES:
        process.number, process.size = process.number + 1, 0
        oldest = os.path.join(process.spool, f"{process.name}.{process.number - MOST_FILES}.jsonl")
        if os.path.exists(oldest):
            process.off = True
            return
    path = os.path.join(process.spool, f"{process.name}.{process.number}.jsonl")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        process.size += os.write(fd, data)
    finally:
        os.close(fd)


def ensure_beating() -> None:
    """Start the beat, unless it goes."""
    if process.beating or process.off or threads.threads.ending:
        return
    process.beating = True
    atexit.register(end)  # once more: what is registered last runs first, before TensorFlow takes anything down
    for each in (_end_with_a_child, _begin_to_beat, *on_start):
        quietly(each)


def _end_with_a_child() -> None:
    """In a child that multiprocessing forked: it ends by `os._exit`, past `atexit`, but behind finalizers of its own."""
    util, process = sys.modules.get("multiprocessing.util"), sys.modules.get("multiprocessing.process")
    if util is not None and process is not None and process.parent_process() is not None:
        util.Finalize(None, end, exitpriority=LAST)


def _begin_to_beat() -> None:
    """Start the thread; where there is none to be had, what is counted is read at borders and written at the end."""
    threads.start(_beat)


def _beat() -> None:
    try:
        while not threads.stopped(BEAT_S):
            if not process.off:
                beat_once()
    except BaseException:  # something of ours is broken
        process.off = True


def beat_once() -> None:
    """Read everything that is read once a second, and write it."""
    for each in every_beat:
        quietly(each)
    flush()


def quietly(function: Callable[[], None]) -> None:
    """Call it; what it raises stays here."""
    try:
        function()
    except Exception as error:
        note_fault(getattr(function, "__name__", "?"), error)


faults: dict[str, int] = {}


def note_fault(where: str, error: BaseException) -> None:
    """Record a fault of ours, a few times."""
    faults[where] = faults.get(where, 0) + 1
    if faults[where] <= 3:
        emit(
            "events",
            at=time.time(),
            kind="agent_fault",
            text=(f"{where}: {type(error).__name__}: {error}")[:300],
        )


def end() -> None:
    """Stop our threads at the interpreter's exit, and write the rest."""
    try:
        threads.ask()
        for each in at_end:
            quietly(each)
        ended = threads.wait()
        if not process.off:
            for each in (*before_end, *every_beat) if ended else ():
                quietly(each)
            emit("processes", ended_at=time.time())
            flush()
    except Exception:
        pass
    process.off = True


def _forked() -> None:
    """Begin anew in a forked child: its own name and file, no thread, fresh locks, nothing of the parent's queue."""
    try:
        fresh = Process()
        stat = open("/proc/self/stat", "rb").read().rpartition(b")")[2].split()  # noqa: SIM115
        fresh.name = f"{os.getpid()}-{stat[19].decode()}"
        fresh.spool, fresh.begun, fresh.off = process.spool, {}, process.off
        process.__dict__.update(fresh.__dict__)
        threads.forget()
        for each in after_fork:
            quietly(each)
        emit(
            "processes",
            pid=os.getpid(),
            ppid=os.getppid(),
            forked=True,
            started_at=time.time(),
            argv=[str(each) for each in getattr(sys, "argv", [])],
            executable=sys.executable,
            python=".".join(str(part) for part in sys.version_info[:3]),
        )
    except Exception:
        process.off = True
