"""Whether a notebook's kernel started this process, and with which interpreter: `!gpudoctor scan` is a question about it.

The kernel's command line names the interpreter as it was started; /proc/<pid>/exe would name the Python below a venv, which
has other packages. JPY_PARENT_PID only tells that Jupyter is about, and terminals of JupyterLab have it too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gpudoctor.model.record import dataclass

# What kernels that run Python are started as: ipykernel (Jupyter, VS Code), Colab's and Spyder's.
LAUNCHERS = frozenset({"ipykernel_launcher", "ipykernel", "colab_kernel_launcher", "spyder_kernels.console"})
GENERATIONS = 16  # shells and launchers between the kernel and this process; more is no cell of a notebook
ENVIRONMENTS = ("VIRTUAL_ENV", "CONDA_PREFIX")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A notebook's kernel. `environments`: the variables that name an active environment, as the kernel got them."""

    pid: int
    executable: Path
    environments: Mapping[str, str]

    def overruled_by(self, environ: Mapping[str, str]) -> bool:
        """Return whether an environment was activated since: one that the kernel inherited says nothing about it."""
        return any(environ.get(name, "") not in {"", self.environments.get(name, "")} for name in ENVIRONMENTS)


def kernel_above(proc: Path, pid: int) -> Kernel | None:
    """Return the nearest kernel among the process and those that started it; None without one, or without /proc."""
    for each in _line_of(proc, pid):
        words = command_words(proc / str(each))
        if is_kernel(words):
            executable = _executable(proc / str(each), words)
            return (
                None
                if executable is None
                else Kernel(pid=each, executable=executable, environments=_environments(proc / str(each)))
            )
    return None


def is_kernel(words: Sequence[str]) -> bool:
    """Return whether a command line starts a kernel: `python -m ipykernel_launcher`, or the launcher's file."""
    started = {words[1 + place] for place, word in enumerate(words[:-1]) if word == "-m"}
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    if script.endswith(".py"):
        started.add(os.path.basename(script).removesuffix(".py"))  # noqa: PTH119  # a word, not a file to look at
    return bool(started & LAUNCHERS)


def command_words(folder: Path) -> list[str]:
    """Return the command line of a process as words; empty where it may not be read."""
    try:
        return (folder / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
    except OSError:
        return []


def _line_of(proc: Path, pid: int) -> Iterator[int]:
    for _ in range(GENERATIONS):
        if pid <= 1:
            return
        yield pid
        pid = _parent(proc, pid)


def _parent(proc: Path, pid: int) -> int:
    """Return the fourth field of /proc/<pid>/stat (man 5 proc); the second, a name, may hold blanks and brackets."""
    try:
        fields = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return int(fields[1])
    except (OSError, ValueError, IndexError):
        return 0


def _executable(folder: Path, words: Sequence[str]) -> Path | None:
    real = _link(folder / "exe")
    variables = _variables(folder, ("PATH",))
    folders = [""] if "/" in words[0] else variables.get("PATH", "").split(os.pathsep)
    places = [Path(each, words[0]) for each in folders if each or "/" in words[0]]
    for place in places:
        if place.is_absolute() and os.access(place, os.X_OK) and _same(str(place), real):
            return place
    return Path(real) if real and os.access(real, os.X_OK) else None


def _same(place: str, real: str) -> bool:
    return not real or os.path.realpath(place) == os.path.realpath(real)


def _link(path: Path) -> str:
    try:
        return os.readlink(path)  # noqa: PTH115  # a text: the file may be gone
    except OSError:
        return ""


def _environments(folder: Path) -> dict[str, str]:
    return _variables(folder, ENVIRONMENTS)


def _variables(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Return some variables that the process was started with; none where they may not be read."""
    try:
        entries = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return {}
    pairs = (entry.partition("=") for entry in entries)
    return {name: value for name, _, value in pairs if name in names}
