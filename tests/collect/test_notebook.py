"""The interpreter behind a notebook's cell: the kernel's, unless an environment was activated in between."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gpudoctor.collect.notebook import is_kernel, kernel_above
from gpudoctor.collect.processes import Processes
from gpudoctor.collect.target import choose_target

LAUNCH = ("-m", "ipykernel_launcher", "-f", "/run/kernel-1.json")


def process(proc: Path, pid: int, parent: int, words: Sequence[str], *, exe: str = "", environ: str = "") -> None:
    folder = proc / str(pid)
    folder.mkdir(parents=True)
    (folder / "stat").write_text(f"{pid} (a name) with (brackets)) S {parent} 1 1 0", encoding="utf-8")
    (folder / "cmdline").write_bytes("\0".join(words).encode() + b"\0")
    (folder / "environ").write_bytes(environ.encode())
    if exe:
        (folder / "exe").symlink_to(exe)


def python_in(folder: Path) -> Path:
    """Make an interpreter like a venv's: a link to the real one."""
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text("home = /usr/bin\n", encoding="utf-8")
    (folder / "bin/python").symlink_to(os.path.realpath(sys.executable))
    return folder / "bin/python"


def notebook(tmp_path: Path, python: str, *, environ: str = "", words: Sequence[str] = LAUNCH) -> Path:
    """Return a /proc in which this process is a shell's child, and the shell a kernel's."""
    proc = tmp_path / "proc"
    process(proc, os.getppid(), 4001, ["/bin/sh", "-c", "gpudoctor scan"])
    process(proc, 4001, 4002, ["bash"])
    process(proc, 4002, 1, [python, *words], exe=os.path.realpath(sys.executable), environ=environ)
    return proc


@pytest.mark.parametrize(
    ("words", "kernel"),
    [
        (["python", "-m", "ipykernel_launcher", "-f", "k.json"], True),
        (["python", "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "--f=k.json"], True),
        (["python", "-m", "ipykernel", "-f", "k.json"], True),
        (["/usr/bin/python3", "-m", "colab_kernel_launcher", "-f", "k.json"], True),
        (["python", "/venv/lib/python3.11/site-packages/ipykernel_launcher.py", "-f", "k.json"], True),
        (["python", "-m", "jupyterlab"], False),
        (["/usr/bin/jupyter-lab"], False),
        (["python", "train.py", "ipykernel_launcher"], False),
        (["python", "train.py", "--name=ipykernel"], False),
        (["grep", "ipykernel"], False),
        (["-m"], False),
        ([""], False),
        ([], False),
    ],
)
def test_a_kernel_is_known_by_how_it_was_started(words: list[str], kernel: bool) -> None:
    assert is_kernel(words) is kernel


def test_the_kernels_interpreter_is_the_one_of_its_venv_not_the_python_below_it(tmp_path: Path) -> None:
    python = python_in(tmp_path / "venv")
    chosen = choose_target(environ={"PATH": ""}, folder=tmp_path, proc=notebook(tmp_path, str(python)))
    assert (chosen.executable, chosen.chosen_by) == (python, "notebook kernel (pid 4002)")


def test_a_bare_name_is_looked_up_where_the_kernel_would_find_it(tmp_path: Path) -> None:
    python = python_in(tmp_path / "venv")
    proc = notebook(tmp_path, "python", environ=f"HOME=/x\0PATH=/nowhere:{python.parent}\0")
    found = kernel_above(proc, os.getppid())
    assert found is not None
    assert found.executable == python


def test_a_name_that_leads_elsewhere_gives_way_to_what_really_runs(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\n", encoding="utf-8")
    other.chmod(0o755)
    found = kernel_above(notebook(tmp_path, str(other)), os.getppid())
    assert found is not None
    assert found.executable == Path(os.path.realpath(sys.executable))


def test_an_environment_that_the_kernel_inherited_says_nothing_about_it(tmp_path: Path) -> None:
    python, servers = python_in(tmp_path / "venv"), python_in(tmp_path / "server").parent.parent
    proc = notebook(tmp_path, str(python), environ=f"VIRTUAL_ENV={servers}\0PATH=/bin\0")
    chosen = choose_target(environ={"PATH": "", "VIRTUAL_ENV": str(servers)}, folder=tmp_path, proc=proc)
    assert chosen.executable == python


def test_an_environment_that_was_activated_in_the_cell_wins(tmp_path: Path) -> None:
    python, active = python_in(tmp_path / "venv"), python_in(tmp_path / "active").parent.parent
    proc = notebook(tmp_path, str(python), environ="PATH=/bin\0")
    chosen = choose_target(environ={"PATH": "", "VIRTUAL_ENV": str(active)}, folder=tmp_path, proc=proc)
    assert (chosen.executable, chosen.chosen_by) == (active / "bin/python", "VIRTUAL_ENV")


def test_what_is_named_wins_over_the_kernel(tmp_path: Path) -> None:
    proc = notebook(tmp_path, str(python_in(tmp_path / "venv")))
    assert choose_target(sys.executable, environ={"PATH": ""}, folder=tmp_path, proc=proc).chosen_by == "--python"


@pytest.mark.parametrize("words", [("-m", "jupyterlab"), ("train.py",)])
def test_a_terminal_of_jupyter_is_no_notebook(tmp_path: Path, words: Sequence[str]) -> None:
    proc = notebook(tmp_path, str(python_in(tmp_path / "venv")), words=words)
    assert kernel_above(proc, os.getppid()) is None


def test_a_circle_or_a_hole_in_the_line_of_parents_ends_it(tmp_path: Path) -> None:
    process(tmp_path / "proc", 5, 6, ["sh"])
    process(tmp_path / "proc", 6, 5, ["sh"])
    assert kernel_above(tmp_path / "proc", 5) is None
    assert kernel_above(tmp_path / "proc", 7) is None
    assert kernel_above(tmp_path / "nowhere", 5) is None


def test_a_real_cell_finds_its_kernel(tmp_path: Path) -> None:
    """A process started as a kernel is: the launcher of that name runs a shell, which runs the question."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("no /proc here")
    (tmp_path / "ipykernel_launcher.py").write_text(
        "import subprocess, sys\nsubprocess.run(['/bin/sh', '-c', sys.argv[1] + '; true'], check=True)\n",
        encoding="utf-8",
    )
    ask = "from gpudoctor.collect.target import choose_target as c; t = c(environ={}); print(t.executable, t.chosen_by)"
    cell = f'"{sys.executable}" -c "{ask}"'
    done = subprocess.run(
        [sys.executable, "-m", "ipykernel_launcher", cell], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"{sys.executable} notebook kernel (pid ")


def test_the_kernel_is_known_as_the_holder_of_a_gpu(tmp_path: Path) -> None:
    proc = notebook(tmp_path, sys.executable)
    (proc / "4002/comm").write_text("python3.11\n", encoding="utf-8")
    held = Processes(tmp_path).describe(4002, "compute", 5)
    assert (held.own, held.notebook) == (True, True)
