"""What an interpreter says of itself: version, prefix, search path; gpudoctor's own is not started again to be asked."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from gpudoctor.collect.ask_target import Answers, Asking
from gpudoctor.model.record import dataclass

START_DEADLINE_S = 10.0  # a start takes 20-40 ms (measured); a cold one from a network folder takes seconds
OLDEST = (3, 8)  # what the scripts for the target are written for
MAX_REASON = 200
SCRIPT = "describe_interpreter"
# One that was started before the imports has had their 40 ms (measured); a slower one is asked again under its own deadline.
BEGUN_DEADLINE_S = 0.5

_begun: dict[Path, Asking] = {}


class NotPythonError(Exception):
    """The program cannot be asked: it is no Python, too old, or does not start. The message is a clause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """Facts of `sys`. `path` is the search path of a script of the user's, without the script's own folder."""

    version: str
    executable: Path
    prefix: Path
    base_prefix: Path
    path: tuple[Path, ...]
    implementation: str = "cpython"


def own_interpreter() -> Interpreter:
    """Return the facts of the interpreter that runs gpudoctor."""
    script = os.path.dirname(os.path.abspath(sys.argv[0] if sys.argv else ""))  # noqa: PTH100, PTH120  # start-up path
    not_the_users = {"", script, os.getcwd()}  # noqa: PTH109
    return Interpreter(
        version=".".join(str(part) for part in sys.version_info[:3]),
        implementation=sys.implementation.name,
        executable=Path(sys.executable),
        prefix=Path(sys.prefix),
        base_prefix=Path(sys.base_prefix),
        path=tuple(Path(folder) for folder in sys.path if folder not in not_the_users),
    )


def ask_interpreter(
    executable: Path, *, environ: Mapping[str, str] | None = None, deadline_s: float = START_DEADLINE_S
) -> Interpreter:
    """Start the interpreter once and return what it says. Raises NotPythonError where it cannot."""
    begun = _begun.pop(executable, None) if environ is None else None
    try:
        answers = (begun or Asking(executable, SCRIPT, environ=environ)).finish(deadline_s)
    except OSError as error:
        raise NotPythonError(f"cannot be started ({error.strerror or error})") from error
    if not answers.values:
        raise NotPythonError(_why_silent(answers, deadline_s))
    return _interpreter(answers.values[0], executable)


def begin_to_ask(executable: Path) -> None:
    """Start the interpreter now and have `ask_interpreter` find its answer: it starts while this process imports the rest."""
    with suppress(OSError):  # said by who asks
        _begun[executable] = Asking(executable, SCRIPT)


def begun_answer(executable: Path) -> Interpreter | None:
    """Return what an interpreter said that was started before; None where none was, or it has nothing good to say yet."""
    if executable not in _begun:
        return None
    try:
        return ask_interpreter(executable, deadline_s=BEGUN_DEADLINE_S)
    except NotPythonError:
        return None


def _interpreter(facts: Mapping[str, Any], executable: Path) -> Interpreter:
    version = str(facts["version"])
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        raise NotPythonError(f"is Python {version}; 3.8 or newer is needed")
    return Interpreter(
        version=version,
        implementation=str(facts["implementation"]),
        executable=executable,
        prefix=Path(str(facts["prefix"])),
        base_prefix=Path(str(facts["base_prefix"])),
        path=tuple(Path(str(folder)) for folder in facts["path"]),
    )


def _why_silent(answers: Answers, deadline_s: float) -> str:
    if answers.flooded:
        return "writes without end instead of answering"
    if answers.exit_code is None:
        return f"did not answer within {deadline_s:g} s"
    if "SyntaxError" in answers.errors:
        return "is a Python older than 3.8"
    last = answers.errors.strip().splitlines()[-1:] or [f"exit code {answers.exit_code}"]
    return f"is not a working Python ({last[0][:MAX_REASON]})"
