"""The examined environment: packages from folder names, and who made it."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

from gpudoctor.collect.interpreter import Interpreter, own_interpreter
from gpudoctor.collect.python_env import (
    describe_python,
    duplicates,
    list_distributions,
    normalise,
    package_folders,
    versions,
)


def _interpreter(prefix: Path, base: Path | None = None, path: tuple[Path, ...] = ()) -> Interpreter:
    return Interpreter(
        version="3.11.7", executable=prefix / "bin/python", prefix=prefix, base_prefix=base or prefix, path=path
    )


def test_names_are_compared_as_packaging_does() -> None:
    assert normalise("Nvidia_cuDNN.cu12") == normalise("nvidia--cudnn-cu12") == "nvidia-cudnn-cu12"


def test_name_and_version_come_from_the_folders_of_metadata(tmp_path: Path) -> None:
    for name in (
        "tensorflow-2.17.0+nv25.2.dist-info",
        "nvidia_cudnn_cu12-9.10.2.21.dist-info",
        "old_style-1.2.egg-info",
        "older-0.9-py3.8.egg-info",
        "tensorflow",
        "__pycache__",
    ):
        (tmp_path / name).mkdir()
    assert versions(list_distributions([tmp_path])) == {
        "nvidia-cudnn-cu12": "9.10.2.21",
        "old-style": "1.2",
        "older": "0.9",
        "tensorflow": "2.17.0+nv25.2",
    }


def test_metadata_without_a_version_in_its_name_is_opened(tmp_path: Path) -> None:
    for name, file in (("thing.dist-info", "METADATA"), ("linked.egg-info", "PKG-INFO")):
        (tmp_path / name).mkdir()
        stem = name.partition(".")[0]
        text = f"Metadata-Version: 2.1\nName: {stem}\nVersion: 4.5\nSummary: x: y\n\nbody\n"
        (tmp_path / name / file).write_text(text, encoding="utf-8")
    (tmp_path / "empty.egg-info").mkdir()
    assert versions(list_distributions([tmp_path])) == {"linked": "4.5", "thing": "4.5"}


def test_the_first_on_the_search_path_wins_and_doubles_are_told(tmp_path: Path) -> None:
    user, site = tmp_path / "user", tmp_path / "site"
    (user / "numpy-2.0.1.dist-info").mkdir(parents=True)
    (site / "numpy-1.26.4.dist-info").mkdir(parents=True)
    (site / "keras-3.11.0.dist-info").mkdir()
    found = list_distributions([user, site, user, tmp_path / "absent"])
    assert versions(found) == {"keras": "3.11.0", "numpy": "2.0.1"}
    assert duplicates(found) == ("numpy 2.0.1 over 1.26.4",)


def test_this_environment_is_listed_as_the_standard_library_lists_it() -> None:
    interpreter = own_interpreter()
    told: dict[str, str] = {}
    for distribution in importlib.metadata.distributions(path=[str(each) for each in interpreter.path]):
        told.setdefault(normalise(distribution.metadata["Name"]), distribution.version)
    assert versions(list_distributions(package_folders(interpreter))) == dict(sorted(told.items()))


def test_the_standard_library_holds_no_packages(tmp_path: Path) -> None:
    library = tmp_path / "lib/python3.11"
    (library / "encodings").mkdir(parents=True)
    site = library / "site-packages"
    path = (tmp_path / "lib/python311.zip", library, library / "lib-dynload", site)
    assert package_folders(_interpreter(tmp_path, path=path)) == (site,)


@pytest.mark.parametrize(
    ("files", "prefix", "base", "manager"),
    [
        ({"pyvenv.cfg": "home = /usr/bin\nversion = 3.11.7\n"}, "project/.venv", "usr", "venv"),
        ({"pyvenv.cfg": "home = /usr/bin\nuv = 0.9.1\n"}, "project/.venv", "usr", "uv"),
        ({"pyvenv.cfg": "home = /opt/conda/bin\n", "conda-meta/history": ""}, "mixed", "opt/conda", "venv"),
        ({"conda-meta/history": ""}, "opt/conda/envs/tf", "opt/conda/envs/tf", "conda"),
        ({}, "home/.pyenv/versions/3.11.7", "home/.pyenv/versions/3.11.7", "pyenv"),
        ({}, "share/uv/python/cpython-3.12", "share/uv/python/cpython-3.12", "uv"),
        ({}, "usr", "usr", "system"),
    ],
)
def test_who_made_the_environment(files: dict[str, str], prefix: str, base: str, manager: str, tmp_path: Path) -> None:
    folder = tmp_path / prefix
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    python = describe_python(_interpreter(folder, tmp_path / base), chosen_by="--python", environ={})
    assert (python.manager, python.chosen_by) == (manager, "--python")


def test_pyenv_in_another_place_is_known_by_its_variable(tmp_path: Path) -> None:
    interpreter = _interpreter(tmp_path / "tools/versions/3.11.7")
    assert describe_python(interpreter, chosen_by="x", environ={"PYENV_ROOT": f"{tmp_path}/tools"}).manager == "pyenv"


def test_paths_that_are_no_utf_8_can_still_be_written_out(tmp_path: Path) -> None:
    python = describe_python(_interpreter(tmp_path / "caf\udce9"), chosen_by="x", environ={})
    assert str(python.prefix).encode()


def test_this_interpreter_is_described() -> None:
    python = describe_python(own_interpreter(), chosen_by="gpudoctor's own")
    assert python.version == ".".join(str(part) for part in sys.version_info[:3])
    assert python.executable == sys.executable
