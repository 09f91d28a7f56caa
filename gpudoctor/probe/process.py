"""One child process: start it in an empty folder, read its two pipes, end it.

A child in D state ignores SIGKILL: it is abandoned and never waited for, because nothing may make a scan hang.
One would use `communicate()`; it joins the child, and returns only when every grandchild has closed the pipe.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from gpudoctor.probe import wire

KILL_GRACE_S = 0.4  # policy: a killable process is gone within milliseconds
DRAIN_S = 0.2  # after its death, for what is still in the pipes
CHUNK = 1 << 16
HEAD_BYTES = 1 << 20  # of the text that a child prints: the beginning tells about libraries and devices ...
TAIL_BYTES = 1 << 18  # ... and the end about its death
_abandoned: list[subprocess.Popen[bytes]] = []  # kept, so that the interpreter does not reap (and wait) for them


class Child:
    """A running child. `killed`: it was alive when it was ended; `abandoned`: and it still is."""

    def __init__(self, command: Callable[[int], Sequence[str]], environment: Mapping[str, str], folder: Path) -> None:
        """Start it; raises OSError when that is not possible. `command` gets the descriptor to write messages on."""
        wire_read, wire_write = os.pipe()
        text_read, text_write = os.pipe()
        try:
            self._process = subprocess.Popen(
                command(wire_write),
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=text_write,
                stderr=text_write,
                pass_fds=(wire_write,),
                start_new_session=True,
            )
        except BaseException:
            os.close(wire_read)
            os.close(text_read)
            raise
        finally:
            os.close(wire_write)
            os.close(text_write)
        self._selector = selectors.DefaultSelector()
        for descriptor in (wire_read, text_read):
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ)
        self._wire, self._text = wire_read, text_read
        self._rest = b""
        self._head, self._tail = bytearray(), bytearray()
        self.killed = False
        self.abandoned = False

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Return the exit code (negative: the signal) once it was ended; None when it was abandoned."""
        return self._process.returncode

    def text(self) -> str:
        """Return what it printed: all of it, or the beginning and the end."""
        data = bytes(self._head) + (b"\n" if self._tail else b"") + bytes(self._tail)
        return data.decode("utf-8", "replace")

    def read(self, timeout_s: float) -> list[wire.Message]:
        """Wait at most so long for something to read; return the messages that came whole."""
        messages: list[wire.Message] = []
        for key, _ in self._selector.select(max(0.0, timeout_s)):
            chunk = self._chunk(key.fd)
            if not chunk:
                self._close(key.fd)
            elif key.fd == self._wire:
                self._rest = wire.lines_of(chunk, self._rest, lambda line: self._take(line, messages))
            else:
                self._keep(chunk)
        return messages

    def is_over(self) -> bool:
        """Return whether it is dead, or has closed both pipes and cannot tell anything more."""
        return self._is_dead() or not self._selector.get_map()

    def _is_dead(self) -> bool:
        """Look without reaping: the process id, and so the group's, must stay ours until the group was killed."""
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def drain(self) -> list[wire.Message]:
        """Return the last messages of a dead child; a grandchild that holds a pipe open is not waited for."""
        messages: list[wire.Message] = []
        end = time.monotonic() + DRAIN_S
        while self._selector.get_map() and (left_s := end - time.monotonic()) > 0:
            messages += self.read(left_s)
        return messages

    def end(self) -> None:
        """Kill what is left of it and its group, and close the pipes; where killing has no effect, leave it behind."""
        if not self._selector.get_map():  # an exit closes the pipes a moment before it can be seen as one
            _wait(self._is_dead, DRAIN_S)
        self.killed = not self._is_dead()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self.abandoned = not _wait(lambda: self._process.poll() is not None, KILL_GRACE_S)
        if self.abandoned:
            _abandoned.append(self._process)
        for descriptor in [key.fd for key in list(self._selector.get_map().values())]:
            self._close(descriptor)
        self._selector.close()

    def _chunk(self, descriptor: int) -> bytes:
        try:
            return os.read(descriptor, CHUNK)
        except OSError:
            return b""

    def _close(self, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        os.close(descriptor)

    def _take(self, line: bytes, messages: list[wire.Message]) -> None:
        message = wire.decode(line)
        if message is not None:
            messages.append(message)

    def _keep(self, chunk: bytes) -> None:
        room = HEAD_BYTES - len(self._head)
        self._head += chunk[:room] if room > 0 else b""
        self._tail += chunk[max(0, room) :]
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]


def _wait(condition: Callable[[], bool], seconds: float) -> bool:
    """Return whether the condition came true within that time."""
    limit = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < limit:
        time.sleep(0.005)
    return met
