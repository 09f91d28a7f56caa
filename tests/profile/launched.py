"""Start `gpudoctor run` as a person does, without touching the user's own sessions."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpudoctor.model.session import Session
from gpudoctor.profile.record import read_session

TENSORFLOW = "GPUDOCTOR_TEST_TENSORFLOW"
DEADLINE_S = 300


def with_tensorflow() -> str:
    """Return an interpreter that has TensorFlow; skip the test where there is none."""
    named = os.environ.get(TENSORFLOW)
    if named:
        return named
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip(f"no TensorFlow here, and {TENSORFLOW} names no Python that has one")
    return sys.executable


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of it."""

    code: int
    out: bytes
    err: bytes
    path: Path

    @property
    def session(self) -> Session:
        """Return the recording."""
        return read_session(self.path)


def gpudoctor(*words: str) -> list[str]:
    """Return the command that starts this gpudoctor."""
    return [sys.executable, "-m", "gpudoctor", *words]


def surroundings(folder: Path, **more: str) -> dict[str, str]:
    """Return an environment whose sessions lie in the folder, and that finds this gpudoctor nowhere by chance."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GPUDOCTOR_", "PYTHON"))}
    return {**kept, "XDG_STATE_HOME": str(folder / "state"), "TF_CPP_MIN_LOG_LEVEL": "3", **more}


def run(
    folder: Path,
    *command: str,
    options: Sequence[str] = ("--quiet",),
    stdin: bytes = b"",
    environ: Mapping[str, str] | None = None,
) -> Ran:
    """Run a command under `gpudoctor run` and return what came of it."""
    path = folder / "recorded.session"
    path.unlink(missing_ok=True)
    told = subprocess.run(
        gpudoctor("run", *options, "--session", str(path), "--", *command),
        cwd=folder,
        env=surroundings(folder, **(environ or {})),
        input=stdin,
        capture_output=True,
        check=False,
        timeout=DEADLINE_S,
    )
    return Ran(code=told.returncode, out=told.stdout, err=told.stderr, path=path)


def plain(folder: Path, *command: str, stdin: bytes = b"", environ: Mapping[str, str] | None = None) -> Ran:
    """Run the same command without us."""
    told = subprocess.run(
        command,
        cwd=folder,
        env=surroundings(folder, **(environ or {})),
        input=stdin,
        capture_output=True,
        check=False,
        timeout=DEADLINE_S,
    )
    return Ran(code=told.returncode, out=told.stdout, err=told.stderr, path=folder / "none")


def script(folder: Path, text: str, name: str = "train.py") -> str:
    """Write a script of the user's and return its name."""
    (folder / name).write_text(text, encoding="utf-8")
    return name
