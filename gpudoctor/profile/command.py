"""Which command is run: `train.py` and `-m pkg.train` get an interpreter in front, everything else is run as it stands."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gpudoctor.errors import UsageError

# Its sitecustomize runs below the user's own: by this name its frames do not count for a warning (agent/hidden.py)
INJECT = Path(__file__).parent / "agent" / "importlib_bootstrap"
OFF, SPOOL, SEARCH = "GPUDOCTOR_OFF", "GPUDOCTOR_SPOOL", "PYTHONPATH"
ISOLATING = frozenset("IES")  # python -I, -E, -S: PYTHONPATH or sitecustomize is not looked at


class NotRunnableError(UsageError):
    """The command cannot be started; the exit code is a shell's: 127 not found, 126 not executable."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def names_no_interpreter(words: Sequence[str]) -> bool:
    """Return whether a script or a module is to be run by an interpreter that has to be chosen."""
    return words[0] == "-m" or words[0].endswith(".py")


def completed(words: Sequence[str], python: Callable[[], str]) -> list[str]:
    """Return the command to run. Raises NotRunnableError where there is no such command."""
    if names_no_interpreter(words):
        return [python(), *words]
    _check(words[0])
    return list(words)


def _check(first: str) -> None:
    if shutil.which(first) is not None:
        return
    path = Path(first)
    if os.sep not in first or not path.exists():
        hint = f" (a script of yours? `gpudoctor run -- python {first}`)" if path.is_file() else ""
        raise NotRunnableError(f"{first}: command not found{hint}", 127)
    kind = "is a folder" if path.is_dir() else f"not executable; for a Python script: `gpudoctor run -- python {first}`"
    raise NotRunnableError(f"{first}: {kind}", 126)


def script_of(command: Sequence[str]) -> str:
    """Return what a person calls the command: the script, the module, else the program."""
    words = list(command)
    if "-m" in words[:-1]:
        return words[words.index("-m") + 1]
    named = next((word for word in words[1:] if word.endswith((".py", ".sh"))), words[0])
    return os.path.basename(named)  # noqa: PTH119  # text, not a file


def environment(environ: Mapping[str, str], spool: Path) -> dict[str, str]:
    """Return the command's environment: our folder first on PYTHONPATH, the user's value behind it, once."""
    ours = str(INJECT)
    theirs = [each for each in environ.get(SEARCH, "").split(os.pathsep) if each != ours]
    value = os.pathsep.join([ours, *theirs]) if environ.get(SEARCH) and theirs else ours
    return {**environ, SEARCH: value, SPOOL: str(spool.absolute())}


def is_off(environ: Mapping[str, str]) -> bool:
    """Return whether the user switched the agent off."""
    return environ.get(OFF, "0") not in {"", "0"}


def isolating_flag(command: Sequence[str]) -> str:
    """Return the option of the interpreter that keeps the agent out, "" where there is none."""
    if not os.path.basename(command[0]).startswith(("python", "pypy")):  # noqa: PTH119
        return ""
    for word in command[1:]:
        if not word.startswith("-") or word in {"-", "-m", "-c"}:
            return ""
        if not word.startswith("--") and ISOLATING & set(word[1:]) and word[1] not in "XWmc":
            return word
    return ""
