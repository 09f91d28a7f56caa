"""The forking carrier of `gathering`: one child a source, its messages pickled through a pipe.

Nothing here waits for a child without a time limit, not even after SIGKILL: one in an uninterruptible driver call does not
die. `waitpid` is asked with WNOHANG only, and only to tell a crash's signal.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from time import monotonic, sleep
from typing import cast

from gpudoctor.collect.framing import CHUNK, BrokenMessageError, send, taken
from gpudoctor.collect.isolate import Answers, Message, Source, failure
from gpudoctor.forking import FIRST_FREE_FD, Handlers, fork_alone

DEFAULT: Handlers = dict.fromkeys((signal.SIGINT, signal.SIGTERM, signal.SIGALRM), signal.SIG_DFL)
# A child whose parent was killed ends itself. Later than the parent's own deadline, so that it never decides an outcome.
ORPHAN_GRACE_S = 5.0
# Between the end of a crashed child's pipe and its exit status: measured under 1 ms; the limit covers a loaded machine.
STATUS_WAIT_S = 0.25
STATUS_STEP_S = 0.001

Serve = Callable[[Source, Answers], Iterable[Message]]

unreaped: set[int] = set()


class _Child:
    __slots__ = ("buffer", "fd", "name", "pid")

    def __init__(self, name: str, pid: int, fd: int) -> None:
        self.name, self.pid, self.fd = name, pid, fd
        self.buffer = bytearray()


class Forks:
    """Carrier of children; one object serves one `gather`."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._children: dict[int, _Child] = {}
        self._poll = select.poll()

    def start(self, source: Source, answers: Answers) -> None:
        """Fork a child that asks the source. Raises OSError when the system refuses."""
        read_end, write_end = os.pipe()
        try:
            write_end = _lifted(write_end)
            pid = fork_alone(partial(_ask, source, answers, write_end, self._serve), keep={write_end}, handlers=DEFAULT)
        except OSError:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        os.set_blocking(read_end, False)
        self._children[read_end] = _Child(source.name, pid, read_end)
        self._poll.register(read_end, select.POLLIN)

    def receive(self, timeout_s: float) -> Iterable[tuple[str, Message]]:
        """Return what has come, waiting at most so long."""
        found: list[tuple[str, Message]] = []
        for fd, _ in self._poll.poll(int(timeout_s * 1000) + 1):
            child = self._children[fd]
            found += ((message.name or child.name, message) for message in self._read(child))
        return found

    def _read(self, child: _Child) -> list[Message]:
        try:
            chunk = os.read(child.fd, CHUNK)
        except BlockingIOError:
            return []
        if not chunk:
            self._forget(child)
            return [Message("ended", _how_it_ended(child.pid))]
        child.buffer += chunk
        try:
            return cast("list[Message]", taken(child.buffer, Message))
        except BrokenMessageError as error:
            return [Message("ended", failure(error))]

    def _forget(self, child: _Child) -> None:
        if self._children.pop(child.fd, None) is not None:
            self._poll.unregister(child.fd)
            os.close(child.fd)
            unreaped.add(child.pid)

    def abandon(self, name: str) -> None:
        """Kill the child and its own children, and forget it."""
        for child in [each for each in self._children.values() if each.name == name]:
            _kill(child.pid)
            self._forget(child)

    def finish(self) -> None:
        """Abandon all that are left, and collect those that have ended."""
        for child in list(self._children.values()):
            self.abandon(child.name)
        for pid in list(unreaped):
            _status(pid)


def _kill(pid: int) -> None:
    """Kill the session that the child leads; before its `setsid` only the child itself answers to the number."""
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def _status(pid: int) -> int | None:
    """Return the exit code, negative for a signal; None while it has not ended or somebody else collected it."""
    try:
        ended, status = os.waitpid(pid, os.WNOHANG)
    except OSError:
        unreaped.discard(pid)
        return None
    if ended != pid:
        return None
    unreaped.discard(pid)
    return os.waitstatus_to_exitcode(status)


def _how_it_ended(pid: int) -> str:
    limit = monotonic() + STATUS_WAIT_S
    while (code := _status(pid)) is None and pid in unreaped and monotonic() < limit:
        sleep(STATUS_STEP_S)
    if code is None:
        return "crashed: ended without an answer"
    return f"crashed: signal {-code}" if code < 0 else f"crashed: exit code {code}"


def _lifted(fd: int) -> int:
    """Return the pipe's end above the standard streams, of which the caller may have closed some."""
    if fd >= FIRST_FREE_FD:
        return fd
    import fcntl  # noqa: PLC0415  # it exists on POSIX alone; the module is imported elsewhere too

    lifted = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE_FD)
    os.close(fd)
    return lifted


def _ask(source: Source, answers: Answers, write_end: int, serve: Serve) -> None:
    """Ask the source and send its messages, in the child."""
    signal.setitimer(signal.ITIMER_REAL, sum(each.deadline_s for each in (source, *source.then)) + ORPHAN_GRACE_S)
    for message in serve(source, answers):
        _tell(write_end, message)


def _tell(fd: int, message: Message) -> None:
    try:
        send(fd, message)
    except Exception as error:  # noqa: BLE001  # an answer that cannot travel is a failure of its source
        send(fd, Message("failed", failure(error), message.name))
