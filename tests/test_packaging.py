"""What is built is what is installed: wheel and source archive, a fresh environment, and checks found from anywhere."""

from __future__ import annotations

import email
import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from gpudoctor import __version__

ROOT = Path(__file__).parents[1]
NEEDED_TO_SCAN = ("msgspec", "psutil", "pynvml")
BASE = {"msgspec", "nvidia-ml-py", "psutil", "rich", "textual", "tomli"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return source archive and wheel, the wheel built from the archive as pip would."""
    for name in ("build", "hatchling"):
        pytest.importorskip(name, reason=f"{name} comes with the dev extra")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.tar.gz")), next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a fresh environment with nothing but the wheel in it."""
    prefix = tmp_path_factory.mktemp("fresh") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(prefix)], check=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(prefix / "bin" / "python")]
    done = subprocess.run(
        [*pip, "install", "--no-index", "--no-deps", "--quiet", str(built[1])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return prefix


@pytest.fixture
def neutral(tmp_path: Path) -> dict[str, str]:
    """Return an environment that shows the fresh one what gpudoctor needs to scan, and no gpudoctor."""
    packages = tmp_path / "packages"
    packages.mkdir()
    for name in NEEDED_TO_SCAN:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        origin = Path(spec.origin)
        source = origin.parent if origin.name == "__init__.py" else origin
        (packages / source.name).symlink_to(source)
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(packages)}


def site_of(prefix: Path) -> Path:
    return next(prefix.glob("lib/python3*/site-packages"))


def test_the_wheel_holds_the_two_packages_and_nothing_else(built: tuple[Path, Path]) -> None:
    _, wheel = built
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {
        "gpudoctor",
        "gpudoctor_checks",
        f"gpudoctor_tf-{__version__}.dist-info",
    }
    assert wheel.name == f"gpudoctor_tf-{__version__}-py3-none-any.whl"
    assert not [name for name in names if name.endswith(".pyc") or "/tests/" in name]
    assert {"gpudoctor/py.typed", "gpudoctor_checks/py.typed"} <= set(names)


def test_every_file_of_the_packages_is_in_the_wheel(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        names = set(archive.namelist())
    product = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("gpudoctor/**/*.py")}
    checks = {path.relative_to(ROOT / "checks").as_posix() for path in ROOT.glob("checks/gpudoctor_checks/**/*.py")}
    assert product | checks <= names


def test_the_metadata_tell_name_licence_and_a_light_base(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as archive:
        text = archive.read(f"gpudoctor_tf-{__version__}.dist-info/METADATA").decode()
        licence = archive.read(f"gpudoctor_tf-{__version__}.dist-info/licenses/LICENSE")
    told = email.message_from_string(text)
    assert (told["Name"], told["Version"], told["License-Expression"]) == ("gpudoctor-tf", __version__, "Apache-2.0")
    assert told["Requires-Python"] == ">=3.10"
    needs = [str(each) for each in told.get_all("Requires-Dist", [])]
    base = {need.partition(">")[0].partition(";")[0].strip() for need in needs if "extra ==" not in need}
    assert base == BASE
    assert b"Apache License" in licence


def test_the_source_archive_holds_what_the_tests_need(built: tuple[Path, Path]) -> None:
    archive, _ = built
    with tarfile.open(archive) as content:
        names = [name.split("/", 1)[1] for name in content.getnames() if "/" in name]
    tops = {name.split("/")[0] for name in names}
    wanted = {"gpudoctor", "checks", "fixtures", "tests", "LICENSE", "README.md", "pyproject.toml"}
    assert tops - {".gitignore"} == {*wanted, "PKG-INFO"}
    assert "tests/fake_nvml/nvml.c" in names
    assert any(name.startswith("fixtures/machines/") for name in names)
    assert not [name for name in names if name.endswith((".pyc", ".so")) or "__pycache__" in name]


def test_the_fresh_environment_holds_the_two_packages_and_nothing_else(installed: Path) -> None:
    names = {path.name for path in site_of(installed).iterdir()}
    assert names == {"gpudoctor", "gpudoctor_checks", f"gpudoctor_tf-{__version__}.dist-info"}


def test_the_installed_command_finds_its_checks_from_a_neutral_folder(installed: Path, neutral: dict[str, str]) -> None:
    command = [str(installed / "bin" / "gpudoctor"), "checks", "--json"]
    done = subprocess.run(command, env=neutral, cwd=neutral["HOME"], capture_output=True, text=True, check=True)
    listed = json.loads(done.stdout)
    assert listed["plugins"] == [
        {"name": "builtin", "module": "gpudoctor_checks", "checks": len(listed["checks"]), "error": ""}
    ]
    files = [
        path for path in ROOT.glob("checks/gpudoctor_checks/*/*.py") if "@check(" in path.read_text(encoding="utf-8")
    ]
    assert len(listed["checks"]) == len(files)


def test_the_installed_command_scans(installed: Path, neutral: dict[str, str]) -> None:
    command = [str(installed / "bin" / "python"), "-m", "gpudoctor", "scan", "--level", "quick", "--json"]
    done = subprocess.run(command, env=neutral, cwd=neutral["HOME"], capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    assert json.loads(done.stdout)["tool"]["version"] == __version__


def test_without_its_packages_the_version_and_the_help_still_answer(installed: Path, tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    for words in (["--version"], ["--help"], ["scan", "--help"]):
        done = subprocess.run(
            [str(installed / "bin" / "gpudoctor"), *words],
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
