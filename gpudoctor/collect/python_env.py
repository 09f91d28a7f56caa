"""The examined environment: its Python and its packages, from the names of folders in its site-packages.

`importlib.metadata` reads a file for each package, hundreds of milliseconds in a grown environment; the folder names of
the packages' metadata hold name and version, and only the few that lack the version are opened.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gpudoctor.collect.ask_target import plain
from gpudoctor.collect.interpreter import Interpreter
from gpudoctor.collect.local_modules import shadowing
from gpudoctor.collect.text_file import text_of
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.record import dataclass
from gpudoctor.model.software import Python

SEPARATORS = re.compile(r"[-_.]+")
LEGACY = re.compile(r"(?P<name>.+?)-(?P<version>\d[^-]*)(?:-py\d.*)?\.egg-info")
NOT_LOOKED = Missing("not looked for")
METADATA_HEAD_BYTES = 8192  # name and version stand in the first lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """One installed distribution: normalised name, version, and its metadata folder or file."""

    name: str
    version: str
    metadata: Path


def normalise(name: str) -> str:
    """Return the name as packaging compares it: lower case, runs of . _ - as one dash (PyPA, name normalization)."""
    return SEPARATORS.sub("-", name).lower()


def list_distributions(folders: Sequence[Path]) -> tuple[Distribution, ...]:
    """Return what lies in the folders, in their order: the first of a name is what Python would report. Never raises."""
    return tuple(each for folder in dict.fromkeys(folders) for each in _in_folder(folder))


def _in_folder(folder: Path) -> Iterator[Distribution]:
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208  # names only, and hot
    except OSError:
        return
    for name in names:
        if name.endswith(".dist-info"):
            stem, _, version = name.removesuffix(".dist-info").rpartition("-")
            if stem and version[:1].isdigit():
                yield _distribution(stem, version, folder / name)
            else:
                yield from _opened(folder / name / "METADATA")
        elif name.endswith(".egg-info"):
            match = LEGACY.fullmatch(name)
            if match:
                yield _distribution(match["name"], match["version"], folder / name)
            else:
                yield from _opened(folder / name / "PKG-INFO")


def _distribution(name: str, version: str, metadata: Path) -> Distribution:
    return Distribution(name=normalise(plain(name)), version=plain(version), metadata=metadata)


def _opened(path: Path) -> Iterator[Distribution]:
    try:
        with path.open("rb") as file:
            lines = file.read(METADATA_HEAD_BYTES).decode(errors="replace").splitlines()
    except OSError:
        return
    fields = dict(line.split(": ", 1) for line in lines if ": " in line)
    if "Name" in fields and "Version" in fields:
        yield _distribution(fields["Name"], fields["Version"], path.parent)


def versions(distributions: Sequence[Distribution]) -> dict[str, str]:
    """Return the version by name; of several, the one that Python would report."""
    found: dict[str, str] = {}
    for each in distributions:
        found.setdefault(each.name, each.version)
    return dict(sorted(found.items()))


def duplicates(distributions: Sequence[Distribution]) -> tuple[str, ...]:
    """Return the names that are installed more than once, each with its versions in search order."""
    found: dict[str, list[str]] = {}
    for each in distributions:
        found.setdefault(each.name, []).append(each.version)
    return tuple(f"{name} {' over '.join(several)}" for name, several in sorted(found.items()) if len(several) > 1)


def describe_python(
    interpreter: Interpreter,
    *,
    chosen_by: str,
    distributions: Sequence[Distribution] = (),
    elsewhere: Maybe[tuple[Path, ...]] = NOT_LOOKED,
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Python:
    """Return the facts about the interpreter; `folder` is where a training would be started. Never raises."""
    return Python(
        version=interpreter.version,
        executable=plain(str(interpreter.executable)),
        prefix=plain(str(interpreter.prefix)),
        manager=_manager(interpreter, os.environ if environ is None else environ),
        chosen_by=chosen_by,
        site_packages=tuple(plain(str(folder)) for folder in package_folders(interpreter)),
        duplicates=duplicates(distributions),
        elsewhere=elsewhere if isinstance(elsewhere, Missing) else tuple(plain(str(each)) for each in elsewhere),
        shadowing=NOT_LOOKED if folder is None else shadowing(folder),
    )


def package_folders(interpreter: Interpreter) -> tuple[Path, ...]:
    """Return the folders of the search path that may hold packages: not the standard library and not archives."""
    return tuple(
        folder
        for folder in interpreter.path
        if folder.suffix != ".zip" and folder.name != "lib-dynload" and not (folder / "encodings").is_dir()
    )


def _manager(interpreter: Interpreter, environ: Mapping[str, str]) -> str:
    """Return who made the environment, the nearest first: a venv on top of a conda Python is a venv."""
    settings = text_of(interpreter.prefix / "pyvenv.cfg")
    if settings:
        return "uv" if re.search(r"^uv\s*=", settings, re.MULTILINE) else "venv"
    if (interpreter.prefix / "conda-meta").is_dir():
        return "conda"
    parts = interpreter.base_prefix.parts
    pyenv = environ.get("PYENV_ROOT")
    if ".pyenv" in parts or (pyenv and interpreter.base_prefix.is_relative_to(pyenv)):
        return "pyenv"
    return "uv" if "uv" in parts and "python" in parts else "system"
