"""Run one of the scripts of `for_target` under another interpreter and read its answers, as it would run for its user.

The answers are Python literals, not JSON: the script then needs no import, which a broken target might not survive.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, cast

from gpudoctor.model.record import dataclass

if TYPE_CHECKING:
    import subprocess

SCRIPTS = Path(__file__).with_name("for_target")
GRACE_S, POLL_S = 0.5, 0.01  # a killed process is gone in milliseconds, or not at all
MARK = "gpudoctor:"  # tells our lines from what a sitecustomize or a library prints


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the script said. `exit_code` is None where it was given up after the deadline, negative after a signal."""

    values: tuple[Mapping[str, Any], ...]  # of the types that literals have
    exit_code: int | None
    errors: str = ""


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
    import subprocess  # noqa: PLC0415  # about 8 ms of import that a scan of gpudoctor's own interpreter does not need

    text = (SCRIPTS / f"{script}.py").read_text(encoding="utf-8")
    process = subprocess.Popen(
        [executable, "-B", "-c", text, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=None if environ is None else dict(environ),
        start_new_session=os.name == "posix",
    )
    exit_code: int | None = None
    try:
        output, errors = process.communicate(timeout=deadline_s)
        exit_code = process.returncode
    except subprocess.TimeoutExpired as late:
        output, errors = late.output or b"", late.stderr or b""
        _leave(process)
    lines = output.decode(errors="replace").splitlines()
    values = (_value(line.removeprefix(MARK)) for line in lines if line.startswith(MARK))
    return Answers(
        values=tuple(value for value in values if value is not None),
        exit_code=exit_code,
        errors=errors.decode(errors="replace"),
    )


def _leave(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and let go of it, whether or not it dies: in a driver's system call it may never."""
    process.kill()
    end = monotonic() + GRACE_S
    while process.poll() is None and monotonic() < end:
        sleep(POLL_S)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _value(line: str) -> Mapping[str, Any] | None:
    try:
        value = ast.literal_eval(line)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None  # cut off in the middle
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def plain(text: str) -> str:
    """Return the text without lone surrogates, which stand for bytes that are no UTF-8 and cannot be written out."""
    return text if text.isascii() else text.encode(errors="replace").decode()
