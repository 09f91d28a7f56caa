"""Which interpreter is examined: the order of choice, what is passed over, and what is refused with a cure."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gpudoctor.collect.target import Target, choose_target, elsewhere, has_tensorflow, same_environment
from gpudoctor.errors import UsageError


def _environment(prefix: Path, *, tensorflow: bool = False) -> Path:
    """Make a venv by hand: what the choice looks at, without the cost of a real one."""
    (prefix / "bin").mkdir(parents=True)
    (prefix / "pyvenv.cfg").write_text("home = /usr/bin\n", encoding="utf-8")
    executable = prefix / "bin/python"
    executable.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    executable.chmod(0o755)
    site = prefix / "lib/python3.11/site-packages"
    site.mkdir(parents=True)
    if tensorflow:
        (site / "tensorflow").mkdir()
        (site / "tensorflow" / "__init__.py").touch()
    return executable


def _choose(tmp_path: Path, **environ: str) -> Target:
    folder = tmp_path / "project"
    folder.mkdir(exist_ok=True)
    return choose_target(environ={"PATH": "", **environ}, folder=folder)


def test_the_order_of_choice(tmp_path: Path) -> None:
    venv, conda = _environment(tmp_path / "venv"), _environment(tmp_path / "conda")
    local, on_path = _environment(tmp_path / "project/.venv"), _environment(tmp_path / "other", tensorflow=True)
    path, active = str(on_path.parent), str(venv.parent.parent)
    chosen = choose_target(
        sys.executable, environ={"PATH": path, "VIRTUAL_ENV": active, "CONDA_PREFIX": str(conda.parent.parent)}
    )
    assert (chosen.executable, chosen.chosen_by) == (Path(sys.executable), "--python")
    chosen = _choose(tmp_path, PATH=path, VIRTUAL_ENV=active, CONDA_PREFIX=str(conda.parent.parent))
    assert (chosen.executable, chosen.chosen_by) == (venv, "VIRTUAL_ENV")
    chosen = _choose(tmp_path, PATH=path, CONDA_PREFIX=str(conda.parent.parent))
    assert (chosen.executable, chosen.chosen_by) == (conda, "CONDA_PREFIX")
    chosen = _choose(tmp_path, PATH=path)
    assert (chosen.executable, chosen.chosen_by) == (local, "./.venv")


def test_the_first_python_on_the_path_that_has_tensorflow(tmp_path: Path) -> None:
    without, with_it = _environment(tmp_path / "a"), _environment(tmp_path / "b", tensorflow=True)
    chosen = _choose(tmp_path, PATH=f"{without.parent}:/nowhere::{with_it.parent}")
    assert (chosen.executable, chosen.chosen_by) == (with_it, "first on PATH with TensorFlow")


def test_gpudoctors_own_comes_last_and_says_why(tmp_path: Path) -> None:
    chosen = _choose(tmp_path, PATH=str(_environment(tmp_path / "a").parent))
    assert chosen.executable == Path(sys.executable)
    assert chosen.chosen_by == "own; none with TensorFlow found"
    assert chosen.is_own


def test_a_stale_variable_is_passed_over(tmp_path: Path) -> None:
    local = _environment(tmp_path / "project/.venv")
    assert _choose(tmp_path, VIRTUAL_ENV=f"{tmp_path}/deleted").executable == local
    assert _choose(tmp_path, VIRTUAL_ENV="").executable == local


def test_a_venv_that_was_moved_without_its_python_is_passed_over(tmp_path: Path) -> None:
    broken = tmp_path / "venv/bin"
    broken.mkdir(parents=True)
    (broken / "python").symlink_to(tmp_path / "gone")
    assert _choose(tmp_path, VIRTUAL_ENV=f"{tmp_path}/venv").is_own


def test_an_environments_folder_and_a_commands_name_are_understood(tmp_path: Path) -> None:
    real = Path(sys.executable)
    (tmp_path / "env/bin").mkdir(parents=True)
    (tmp_path / "env/bin/python").symlink_to(real)
    named = tmp_path / "bin/mypython"
    named.parent.mkdir()
    named.symlink_to(real)
    assert choose_target(f"{tmp_path}/env", environ={}).executable == tmp_path / "env/bin/python"
    assert choose_target("mypython", environ={"PATH": str(named.parent)}).executable == named


@pytest.mark.parametrize(
    ("name", "text", "mode", "message"),
    [
        ("absent", None, 0, "no such file or command"),
        ("plain", "#!/bin/sh\n", 0o644, "not executable"),
        ("shell", "#!/bin/sh\necho hello\n", 0o755, "is not a working Python"),
        ("folder/", None, 0, "a folder without bin/python"),
    ],
)
def test_what_cannot_be_examined_is_refused_with_the_cure(
    name: str, text: str | None, mode: int, message: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    if name.endswith("/"):
        path.mkdir()
    elif text is not None:
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
    with pytest.raises(UsageError, match=message) as refused:
        choose_target(str(path), environ={})
    assert "--python .venv/bin/python" in str(refused.value)
    assert refused.value.exit_code == 2


def test_a_venv_is_not_the_python_that_it_was_made_with(tmp_path: Path) -> None:
    base = tmp_path / "usr/bin/python3.11"
    base.parent.mkdir(parents=True)
    base.write_text("", encoding="utf-8")
    (tmp_path / "usr/bin/python3").symlink_to(base)
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin/python").symlink_to(base)
    (venv / "bin/python3").symlink_to("python")
    (venv / "pyvenv.cfg").write_text("", encoding="utf-8")
    assert same_environment(tmp_path / "usr/bin/python3", base)
    assert same_environment(venv / "bin/python3", venv / "bin/python")
    assert not same_environment(venv / "bin/python", base)


def test_what_was_asked_for_the_choice_is_not_asked_again() -> None:
    chosen = choose_target(sys.executable, environ={})
    assert chosen.interpreter is not None
    assert chosen.ask() is chosen.interpreter


def test_tensorflow_of_a_system_python_is_looked_for_where_its_version_keeps_packages(tmp_path: Path) -> None:
    base = tmp_path / "usr/bin/python3.11"
    base.parent.mkdir(parents=True)
    base.write_text("", encoding="utf-8")
    (tmp_path / "usr/lib/python3.9/dist-packages/tensorflow").mkdir(parents=True)
    assert not has_tensorflow(base)
    (tmp_path / "usr/local/lib/python3.11/dist-packages/tensorflow").mkdir(parents=True)
    (tmp_path / "usr/local/lib/python3.11/dist-packages/tensorflow/__init__.py").touch()
    assert has_tensorflow(base)


def test_a_pyenv_shim_stands_for_the_version_that_it_would_start(tmp_path: Path) -> None:
    root = tmp_path / "pyenv"
    (root / "shims").mkdir(parents=True)
    shim = root / "shims/python"
    shim.write_text("#!/bin/sh\n", encoding="utf-8")
    shim.chmod(0o755)
    wanted = _environment(root / "versions/3.11.7", tensorflow=True)
    _environment(root / "versions/3.9.1")
    (root / "version").write_text("3.9.1\n", encoding="utf-8")
    chosen = _choose(tmp_path, PATH=str(shim.parent), PYENV_VERSION="3.11.7")
    assert chosen.executable == wanted
    assert _choose(tmp_path, PATH=str(shim.parent)).is_own


def test_other_environments_with_tensorflow_are_listed_the_active_one_first(tmp_path: Path) -> None:
    project = tmp_path / "project"
    chosen = _environment(tmp_path / "bare")
    active = _environment(tmp_path / "active", tensorflow=True)
    local = _environment(project / ".venv", tensorflow=True)
    on_path = _environment(tmp_path / "onpath", tensorflow=True)
    environ = {"VIRTUAL_ENV": str(active.parents[1]), "PATH": f"{on_path.parent}:{local.parent}:{chosen.parent}"}
    assert elsewhere(chosen, environ=environ, folder=project) == (active, local, on_path)


def test_the_chosen_environment_is_not_its_own_alternative(tmp_path: Path) -> None:
    chosen = _environment(tmp_path / "own", tensorflow=True)
    assert elsewhere(chosen, environ={"PATH": str(chosen.parent)}, folder=tmp_path) == ()
