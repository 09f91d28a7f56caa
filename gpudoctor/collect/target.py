"""Which Python interpreter is examined, and why: the one that the user's training would run, not gpudoctor's own.

Asking every candidate whether it can import TensorFlow would be exact and take seconds each; a folder named tensorflow in
its site-packages tells the same from a directory listing. Only what the user names with --python is started to be checked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from gpudoctor.collect.interpreter import (
    Interpreter,
    NotPythonError,
    ask_interpreter,
    begin_to_ask,
    begun_answer,
    own_interpreter,
)
from gpudoctor.collect.notebook import kernel_above
from gpudoctor.collect.text_file import word_of
from gpudoctor.errors import UsageError
from gpudoctor.model.record import dataclass

NAMES = ("python.exe",) if sys.platform == "win32" else ("python", "python3")
FOLDERS = ("Scripts", "") if sys.platform == "win32" else ("bin",)  # of an environment; conda on Windows has it on top
LOCAL = (".venv", "venv", "env")  # what people call an environment inside a project
NOTEBOOK = "notebook kernel"
CURE = "give the python of the environment that you train in, for example --python .venv/bin/python"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The interpreter to examine. `interpreter` holds what it said of itself where it was already asked."""

    executable: Path
    chosen_by: str
    interpreter: Interpreter | None = None

    @property
    def is_own(self) -> bool:
        """Return whether gpudoctor itself runs in it, so that nothing need be started to ask it."""
        return same_environment(self.executable, Path(sys.executable))

    def ask(self) -> Interpreter:
        """Return what the interpreter says of itself. Raises NotPythonError where it cannot."""
        if self.interpreter is not None:
            return self.interpreter
        return own_interpreter() if self.is_own else ask_interpreter(self.executable)


def choose_target(
    python: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    proc: Path = Path("/proc"),
) -> Target:
    """Choose: --python > notebook kernel > VIRTUAL_ENV > CONDA_PREFIX > ./.venv > first on PATH with TensorFlow > own.

    A notebook's kernel that started this process is what the question is about, unless an environment was activated since.
    Raises UsageError, naming the cure, where `python` (--python: a file, an environment's folder, a command's name) is
    missing, not executable, or not a Python 3.8 or newer. A stale variable is passed over.
    """
    environ = os.environ if environ is None else environ
    if python is not None:
        return _named(python, environ)
    found = _found(environ, folder, proc)
    return replace(found, interpreter=begun_answer(found.executable))


def begin(python: str | None, *, environ: Mapping[str, str], folder: Path, proc: Path) -> None:
    """Start the interpreter that `choose_target` will choose, so that it answers while this process imports the rest."""
    target = _at(python, environ) if python is not None else _found(environ, folder, proc)
    if not target.is_own and _runs(target.executable):
        begin_to_ask(target.executable)


def _found(environ: Mapping[str, str], folder: Path | None, proc: Path) -> Target:
    kernel = kernel_above(proc, os.getppid())
    if kernel is not None and not kernel.overruled_by(environ):
        return Target(executable=kernel.executable, chosen_by=f"{NOTEBOOK} (pid {kernel.pid})")
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        executable = _python_in(Path(environ[variable])) if environ.get(variable) else None
        if executable is not None:
            return Target(executable=executable, chosen_by=variable)
    local = _python_in((folder or Path.cwd()) / ".venv")
    if local is not None:
        return Target(executable=local, chosen_by="./.venv")
    for executable in _on_path(environ):
        if has_tensorflow(executable):
            return Target(executable=executable, chosen_by="first on PATH with TensorFlow")
    return Target(executable=Path(sys.executable), chosen_by="own; none with TensorFlow found")


def _at(python: str, environ: Mapping[str, str]) -> Target:
    """Return the place that --python names; it may not exist."""
    path = Path(python).expanduser()
    if os.sep not in python and not path.exists():
        path = next((each for each in _commands(python, environ) if _runs(each)), path)
    executable = _python_in(path) or path if path.is_dir() else path
    return Target(executable=Path(os.path.abspath(executable)), chosen_by="--python")  # noqa: PTH100  # keep symlinks


def _named(python: str, environ: Mapping[str, str]) -> Target:
    target = _at(python, environ)
    executable = target.executable
    if not executable.exists():
        raise UsageError(f"--python {python}: no such file or command; {CURE}")
    if executable.is_dir():
        raise UsageError(f"--python {python}: a folder without bin/python in it; {CURE}")
    if not _runs(executable):
        raise UsageError(f"--python {python}: not executable (chmod +x, or another file); {CURE}")
    try:
        return replace(target, interpreter=target.ask())
    except NotPythonError as error:
        raise UsageError(f"--python {python}: {error}; {CURE}") from error


def same_environment(one: Path, other: Path) -> bool:
    """Return whether two interpreters share their packages. A venv's python links to its base, which is not the same."""
    return _environment_of(one) == _environment_of(other)


def _environment_of(executable: Path) -> str:
    for folder in (executable.parent, executable.parent.parent):
        if (folder / "pyvenv.cfg").is_file():
            return os.path.realpath(folder)
    return os.path.realpath(executable)


def elsewhere(
    chosen: Path, *, environ: Mapping[str, str] | None = None, folder: Path | None = None
) -> tuple[Path, ...]:
    """Return other interpreters near by that have TensorFlow, by looking at folders only: active, in the folder, on PATH."""
    environ = os.environ if environ is None else environ
    here = folder or Path.cwd()
    active = [Path(environ[name]) for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if environ.get(name)]
    local = [each for each in (_python_in(prefix) for prefix in (*active, *(here / name for name in LOCAL))) if each]
    found: dict[str, Path] = {}
    for executable in (*local, *_on_path(environ)):
        found.setdefault(_environment_of(executable), executable)
    found.pop(_environment_of(chosen), None)
    return tuple(each for each in found.values() if has_tensorflow(each))


def _python_in(prefix: Path) -> Path | None:
    places = (prefix / folder / name for folder in FOLDERS for name in NAMES)
    return next((each for each in places if _runs(each)), None)


def _on_path(environ: Mapping[str, str]) -> Iterator[Path]:
    seen: set[str] = set()
    for path in (each for name in NAMES for each in _commands(name, environ)):
        executable = _behind_shim(path, environ) or path
        if _runs(executable) and (key := _environment_of(executable)) not in seen:
            seen.add(key)
            yield executable


def _commands(name: str, environ: Mapping[str, str]) -> Iterator[Path]:
    for folder in environ.get("PATH", "").split(os.pathsep):
        if folder:
            yield Path(folder) / name


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _behind_shim(path: Path, environ: Mapping[str, str]) -> Path | None:
    """Return the Python that a pyenv shim would start: PYENV_VERSION, else .python-version upwards, else the global."""
    versions = path.parent.parent / "versions"
    if path.parent.name != "shims" or not versions.is_dir():
        return None
    here = Path.cwd()
    files = [*(each / ".python-version" for each in (here, *here.parents)), path.parent.parent / "version"]
    wanted = environ.get("PYENV_VERSION") or next((text for each in files if (text := word_of(each))), "")
    return next((each for name in wanted.replace(":", " ").split() if (each := _python_in(versions / name))), None)


def has_tensorflow(executable: Path) -> bool:
    """Return whether a tensorflow package lies in the interpreter's site-packages, by looking at folders only."""
    return any((site / "tensorflow" / "__init__.py").is_file() for site in _likely_sites(executable))


def _likely_sites(executable: Path) -> Iterator[Path]:
    """Yield where the interpreter's packages lie by convention; a venv's are its own, else the user's count as well."""
    prefix, base = executable.parent.parent, Path(os.path.realpath(executable))
    places = [prefix / "lib"]
    if not any((folder / "pyvenv.cfg").is_file() for folder in (executable.parent, prefix)):
        system = base.parent.parent
        user = Path(os.path.expanduser("~/.local"))  # noqa: PTH111  # never raises
        places += [system / "lib", system / "local" / "lib", user / "lib"]
    version = base.name if "." in base.name else ""
    for library in dict.fromkeys(places):
        for folder in _listed(library, "python3"):
            if not version or folder.name in {version, "python3"}:
                yield folder / "site-packages"
                yield folder / "dist-packages"
    yield prefix / "Lib" / "site-packages"


def _listed(folder: Path, prefix: str) -> list[Path]:
    try:
        return sorted(folder / name for name in os.listdir(folder) if name.startswith(prefix))  # noqa: PTH208  # names only
    except OSError:
        return []
