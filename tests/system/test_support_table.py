"""The README's tables of systems, containers and schedulers say what the code does; and nearly all of it imports anywhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gpudoctor.collect.container import container_kind
from gpudoctor.collect.scheduler import SCHEDULERS, collect_scheduler
from gpudoctor.model.missing import Missing
from gpudoctor_checks.remedies import give_container_gpu

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
SECTION = README.split("## What is supported where\n")[1].split("\n## ")[0]
TABLES = [
    [tuple(cell.strip(" `") for cell in line.strip("|").split("|")) for line in table.splitlines()[2:]]
    for table in re.findall(r"(?:^\|.*\n)+", SECTION, re.MULTILINE)
]
SYSTEMS, CONTAINERS, KNOWN_SCHEDULERS = TABLES
MARKS: dict[str, tuple[str, dict[str, str]]] = {
    "docker": (".dockerenv", {}),
    "podman": ("run/.containerenv", {}),
    "kubernetes": ("", {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}),
    "apptainer": ("", {"APPTAINER_CONTAINER": "/image.sif"}),
    "singularity": ("", {"SINGULARITY_CONTAINER": "/image.sif"}),
}
# The launcher: it starts a user's command as a shell would, on a terminal of its own. Only a running `run` loads it.
POSIX_ONLY = {
    "gpudoctor.profile.launch",
    "gpudoctor.profile.printed",
    "gpudoctor.profile.relay",
    "gpudoctor.profile.terminal",
}
FOR_OTHERS = "gpudoctor.collect.for_target"  # scripts for the examined interpreter: importing one runs it
WITHOUT_POSIX = """
import importlib, os, pkgutil, sys
for name in ("fcntl", "pty", "resource", "termios", "tty"):
    sys.modules[name] = None
import gpudoctor, gpudoctor_checks
failed = []
def walk(paths, prefix):
    for each in pkgutil.iter_modules(paths, prefix):
        if not each.name.startswith(sys.argv[1]):
            yield each.name
            if each.ispkg:
                yield from walk([os.path.join(path, each.name.rpartition(".")[2]) for path in paths], each.name + ".")
for package in (gpudoctor, gpudoctor_checks):
    for name in walk(package.__path__, package.__name__ + "."):
        try:
            importlib.import_module(name)
        except ImportError:
            failed.append(name)
print("\\n".join(failed))
"""


def test_all_modules_but_the_launchers_import_without_fcntl_pty_resource_and_termios(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_POSIX, FOR_OTHERS]
    told = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120)
    assert told.returncode == 0, told.stderr
    assert set(told.stdout.split()) <= POSIX_ONLY


@pytest.mark.parametrize("words", [["run", "--", "python", "x.py"], ["scan", "--level", "quick"], ["log", "x"]])
def test_no_command_loads_a_launcher_while_it_is_parsed(words: list[str], tmp_path: Path) -> None:
    text = (
        "import sys\nfor name in ('fcntl', 'pty', 'resource', 'termios', 'tty'):\n    sys.modules[name] = None\n"
        f"from gpudoctor.cli.parser import parse\nparse({words!r})"
    )
    told = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert told.returncode == 0, told.stderr


@pytest.mark.parametrize(("kind", "fix"), CONTAINERS)
def test_a_container_is_recognised_and_its_fix_is_the_one_of_the_table(kind: str, fix: str, tmp_path: Path) -> None:
    mark, environ = MARKS[kind]
    if mark:
        (tmp_path / mark).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / mark).touch()
    assert container_kind(tmp_path, environ) == kind
    assert give_container_gpu(kind).text == fix


@pytest.mark.parametrize(("kind", "marker", "granted"), KNOWN_SCHEDULERS)
def test_a_scheduler_is_recognised_by_its_variables(kind: str, marker: str, granted: str) -> None:
    value = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}.get(marker, "42")
    told = collect_scheduler({marker: value})
    assert (told.kind, isinstance(told.allocated_gpus, Missing)) == (kind, True)
    if " " not in granted:
        grant = {"kubernetes": "GPU-1,GPU-2", "pbs": "2"}.get(kind, "0,1")
        assert collect_scheduler({marker: value, granted: grant}).allocated_gpus == 2


def test_every_scheduler_that_is_known_stands_in_the_table() -> None:
    assert {kind for kind, _, _ in KNOWN_SCHEDULERS} == {kind for kind, _, _ in SCHEDULERS} | {"kubernetes"}


def test_every_system_of_the_model_stands_in_the_table() -> None:
    told = " ".join(name for name, *_ in SYSTEMS)
    assert all(word in told for word in ("Linux x86_64", "Linux aarch64", "WSL2", "Windows", "macOS"))
