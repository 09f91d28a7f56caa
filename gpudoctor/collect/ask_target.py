"""Run one of the scripts of `for_target` under another interpreter and read its answers, as it would run for its user.

The answers are Python literals, not JSON: the script then needs no import, which a broken target might not survive.
"""

from __future__ import annotations

import ast
import os
import select
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, cast

from gpudoctor.model.record import dataclass

if TYPE_CHECKING:
    import subprocess

POSIX = os.name == "posix"

SCRIPTS = Path(__file__).with_name("for_target")
CHUNK = 1 << 16  # the capacity of a Linux pipe (man 7 pipe)
MOST_BYTES = 4 * 1024 * 1024  # of output and errors; an answer with 1000 packages has under 100 KiB (measured)
GRACE_S, POLL_S = 0.5, 0.001  # a killed process is gone in milliseconds, or not at all
MARK = "gpudoctor:"  # tells our lines from what a sitecustomize or a library prints


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the script said. `exit_code` is None where it was given up after the deadline, negative after a signal.

    `flooded`: it wrote more than any answer has, and was ended for that.
    """

    values: tuple[Mapping[str, Any], ...]  # of the types that literals have
    exit_code: int | None
    errors: str = ""
    flooded: bool = False


class Asking:
    """A script that runs under another interpreter, while this process does something else before `finish`."""

    def __init__(
        self, executable: Path, script: str, arguments: Sequence[str] = (), *, environ: Mapping[str, str] | None = None
    ) -> None:
        """Start it. Raises OSError when the interpreter cannot be started."""
        text = (SCRIPTS / f"{script}.py").read_text(encoding="utf-8")
        words = (str(executable), "-B", "-c", text, *arguments)
        environ = os.environ if environ is None else environ
        self._elsewhere = None if POSIX else _start_elsewhere(words, environ)
        self._pid, self._pipes = _start(words, environ) if POSIX else (0, (0, 0))

    def finish(self, deadline_s: float) -> Answers:
        """Return what it said until it ended or the deadline. One that cannot be killed is left behind, not waited for."""
        if self._elsewhere is not None:
            output, errors, exit_code = _finish_elsewhere(self._elsewhere, deadline_s)
        else:
            output, errors, exit_code = self._finish(monotonic() + deadline_s)
        lines = output.decode(errors="replace").splitlines()
        values = (_value(line.removeprefix(MARK)) for line in lines if line.startswith(MARK))
        return Answers(
            values=tuple(value for value in values if value is not None),
            exit_code=exit_code,
            errors=errors.decode(errors="replace"),
            flooded=len(output) + len(errors) > MOST_BYTES,
        )

    def _finish(self, end: float) -> tuple[bytes, bytes, int | None]:
        output, errors = self._read(end)
        flooded = len(output) + len(errors) > MOST_BYTES
        exit_code = None if flooded else self._exit_code(end)
        if exit_code is None:
            with suppress(OSError):
                os.killpg(self._pid, signal.SIGKILL)  # its session is its own: what it started goes with it
            self._exit_code(monotonic() + GRACE_S)
        return output, errors, exit_code

    def _read(self, end: float) -> tuple[bytes, bytes]:
        told = {pipe: bytearray() for pipe in self._pipes}
        waiting = select.poll()
        for pipe in self._pipes:
            waiting.register(pipe, select.POLLIN)
        open_pipes = len(told)
        read = 0
        while open_pipes and read <= MOST_BYTES and (left_s := end - monotonic()) > 0:
            for pipe, _ in waiting.poll(int(left_s * 1000) + 1):
                chunk = os.read(pipe, CHUNK)
                told[pipe] += chunk
                read += len(chunk)
                if not chunk:
                    waiting.unregister(pipe)
                    open_pipes -= 1
        for pipe in self._pipes:
            os.close(pipe)
        return bytes(told[self._pipes[0]]), bytes(told[self._pipes[1]])

    def _exit_code(self, end: float) -> int | None:
        """Return the exit code, negative for a signal; None where it has not ended by then."""
        while True:
            try:
                ended, status = os.waitpid(self._pid, os.WNOHANG)
            except OSError:
                return None  # somebody else collected it
            if ended:
                return os.waitstatus_to_exitcode(status)
            if monotonic() >= end:
                return None
            sleep(POLL_S)


def _start(words: tuple[str, ...], environ: Mapping[str, str]) -> tuple[int, tuple[int, int]]:
    """Start a command in a session of its own; return its pid and the ends of its stdout and stderr.

    `subprocess` would be less code; its import alone takes a third as long as the interpreter that is started (measured).
    """
    out, err = os.pipe(), os.pipe()
    files = (
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, out[1], 1),
        (os.POSIX_SPAWN_DUP2, err[1], 2),
    )
    restored = (signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores them; a program expects them as they were
    try:
        pid = os.posix_spawn(words[0], words, environ, file_actions=files, setsid=True, setsigdef=restored)
    except OSError:
        os.close(out[0])
        os.close(err[0])
        raise
    finally:
        os.close(out[1])
        os.close(err[1])
    return pid, (out[0], err[0])


def _start_elsewhere(words: tuple[str, ...], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    import subprocess  # noqa: PLC0415  # see `_start`

    return subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(environ)
    )


def _finish_elsewhere(process: subprocess.Popen[bytes], deadline_s: float) -> tuple[bytes, bytes, int | None]:
    import subprocess  # noqa: PLC0415

    try:
        output, errors = process.communicate(timeout=deadline_s)
    except subprocess.TimeoutExpired as late:
        process.kill()
        return late.output or b"", late.stderr or b"", None
    return output, errors, process.returncode


def ask_target(
    executable: Path,
    script: str,
    arguments: Sequence[str] = (),
    *,
    deadline_s: float,
    environ: Mapping[str, str] | None = None,
) -> Answers:
    """Run the script of that name; return what it said until it ended or the deadline.

    Raises OSError when the interpreter cannot be started. A process that cannot be killed is left behind, not waited for.
    """
    return Asking(executable, script, arguments, environ=environ).finish(deadline_s)


def _value(line: str) -> Mapping[str, Any] | None:
    try:
        value = ast.literal_eval(line)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None  # cut off in the middle
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def plain(text: str) -> str:
    """Return the text without lone surrogates, which stand for bytes that are no UTF-8 and cannot be written out."""
    return text if text.isascii() else text.encode(errors="replace").decode()
