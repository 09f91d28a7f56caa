"""The forking carrier of `isolate`: one child a source, its messages pickled through a pipe.

Nothing here waits for a child without a time limit, not even after SIGKILL: one in an uninterruptible driver call does not
die. `waitpid` is asked with WNOHANG only, and only to tell a crash's signal.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from time import monotonic, sleep
from typing import NoReturn

from gpudoctor.collect.isolate import Answers, Message, Source, failure

LENGTH = struct.Struct("!I")
CHUNK = 1 << 16  # the capacity of a Linux pipe (man 7 pipe)
FIRST_FREE_FD = 3
FDS_WITHOUT_PROC = 256  # closed blindly where /dev/fd does not list the open ones
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

    def take(self) -> list[Message]:
        """Return the messages that are complete."""
        messages: list[Message] = []
        while len(self.buffer) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self.buffer)
            end = LENGTH.size + length
            if len(self.buffer) < end:
                break
            messages.append(pickle.loads(self.buffer[LENGTH.size : end]))  # noqa: S301  # written by our own child
            del self.buffer[:end]
        return messages


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
            pid = os.fork()
        except OSError:
            os.close(read_end)
            os.close(write_end)
            raise
        if pid == 0:
            _be_child(source, answers, write_end, self._serve)
        os.close(write_end)
        os.set_blocking(read_end, False)
        self._children[read_end] = _Child(source.name, pid, read_end)
        self._poll.register(read_end, select.POLLIN)

    def receive(self, timeout_s: float) -> Iterable[tuple[str, Message]]:
        """Return what has come, waiting at most so long."""
        found: list[tuple[str, Message]] = []
        for fd, _ in self._poll.poll(int(timeout_s * 1000) + 1):
            child = self._children[fd]
            found += ((child.name, message) for message in self._read(child))
        return found

    def _read(self, child: _Child) -> list[Message]:
        try:
            chunk = os.read(child.fd, CHUNK)
        except BlockingIOError:
            return []
        if not chunk:
            self._forget(child)
            return [("failed", _how_it_ended(child.pid))]
        child.buffer += chunk
        try:
            return child.take()
        except Exception as error:  # noqa: BLE001  # a child that overwrote its own memory writes anything
            return [("failed", failure(error))]

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


def _be_child(source: Source, answers: Answers, write_end: int, serve: Serve) -> NoReturn:
    """Ask the source, send its messages, and end without any of the parent's exit handlers."""
    code = 1
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, source.deadline_s + ORPHAN_GRACE_S)
        write_end = _let_go_of_files(write_end)
        gc.disable()  # a short life: what it would collect dies with the process
        for message in serve(source, answers):
            _send(write_end, message)
        code = 0
    except BaseException:  # noqa: BLE001, S110  # nothing may escape into the parent's copied stack
        pass
    finally:
        os._exit(code)


def _let_go_of_files(write_end: int) -> int:
    """Keep the pipe only: an abandoned child must not hold the user's terminal, pipes or files open."""
    while write_end < FIRST_FREE_FD:  # the caller's own standard streams were closed
        write_end = os.dup(write_end)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(FIRST_FREE_FD):
        os.dup2(null, standard)
    for fd in _open_fds():
        if fd >= FIRST_FREE_FD and fd != write_end:
            with suppress(OSError):
                os.close(fd)
    return write_end


def _open_fds() -> Iterable[int]:
    try:
        return [int(name) for name in os.listdir("/dev/fd")]  # noqa: PTH208  # names are wanted, not paths
    except (OSError, ValueError):
        return range(FDS_WITHOUT_PROC)


def _send(fd: int, message: Message) -> None:
    try:
        body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001  # an answer that cannot travel is a failure of its source
        body = pickle.dumps(("failed", failure(error)))
    view = memoryview(LENGTH.pack(len(body)) + body)
    while view:
        view = view[os.write(fd, view) :]
