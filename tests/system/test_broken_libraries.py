"""The real nvidia wheels, sound and broken: versions and origins, and for each fault its cause and the fix to apply first.

The driver is the stand-in that answers well, so that the libraries are the only fault there is.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.fakes import FURTHER_SCENARIOS, environment
from tests.system.command import Json, Run, assert_clean, cause_of, gpudoctor, primary
from tests.system.environments import copy_of, gpu_python, site_of

PROBE_LIMIT_S = 240.0
# Folders made by `pip install --no-deps --target FOLDER nvidia-cudnn-cu12==VERSION`, separated like PATH.
OLDER = "GPUDOCTOR_TEST_OLDER_CUDNN"
NEEDED = {
    "libcudart.so.12", "libcublas.so.12", "libcublasLt.so.12", "libcufft.so.11", "libcusolver.so.11",
    "libcusparse.so.12", "libcudnn.so.9",
}  # fmt: skip

pytestmark = pytest.mark.tensorflow


def older_cudnn(version: str) -> Path:
    """Return a folder with that cuDNN wheel; skip the test where the variable names none."""
    for folder in map(Path, filter(None, os.environ.get(OLDER, "").split(os.pathsep))):
        if (folder / f"nvidia_cudnn_cu12-{version}.dist-info").is_dir():
            return folder
    pytest.skip(f"{OLDER} names no folder with nvidia-cudnn-cu12 {version}")


def scan(python: Path, folder: Path, *options: str, library_path: Path | None = None) -> Run:
    env = environment(FURTHER_SCENARIOS["idle"], folder / "machine")
    if library_path is not None:
        env["LD_LIBRARY_PATH"] = f"{library_path}{os.pathsep}{env['LD_LIBRARY_PATH']}"
    return gpudoctor("scan", "--json", "--python", python, *options, env=env, limit_s=PROBE_LIMIT_S)


def libraries(report: Json) -> dict[str, Json]:
    return {each["soname"]: each for each in report["snapshot"]["libraries"]}


def first_fix(report: Json) -> str:
    assert report["fixes"], report["findings"]
    return str(report["fixes"][0]["text"])


def test_sound_wheels_are_found_with_their_versions_and_nothing_is_wrong(tmp_path: Path) -> None:
    run = scan(gpu_python(), tmp_path, "--level", "quick")
    assert_clean(run)
    report = run.document
    found = libraries(report)
    assert {name for name, each in found.items() if each["needed"]} >= NEEDED
    assert {each["origin"] for each in found.values() if each["needed"]} == {"wheel"}
    for name, package in (("libcudnn.so.9", "nvidia-cudnn-cu12"), ("libcublas.so.12", "nvidia-cublas-cu12")):
        assert found[name]["package"] == package
        assert report["snapshot"]["packages"][package].startswith(found[name]["version"])
    assert not [each for each in report["findings"] if each["severity"] != "info"]


def test_at_standard_the_versions_are_those_that_the_libraries_tell_themselves(tmp_path: Path) -> None:
    report = scan(gpu_python(), tmp_path, "--select", "GD203,GD204").document
    found = libraries(report)
    packages = report["snapshot"]["packages"]
    for name, package in (("libcudnn.so.9", "nvidia-cudnn-cu12"), ("libcublas.so.12", "nvidia-cublas-cu12")):
        assert found[name]["version_from"] in {"call", "loaded"}, found[name]
        assert found[name]["loadable"] is True
        assert packages[package].startswith(found[name]["version"])
    assert found["libcudart.so.12"]["loaded_path"].endswith("site-packages/nvidia/cuda_runtime/lib/libcudart.so.12")
    assert packages["nvidia-cuda-runtime-cu12"] == found["libcudart.so.12"]["version"]


@pytest.mark.parametrize("level", ["quick", "standard"])
def test_a_removed_cudnn_is_missed_by_name_and_brought_back_by_one_command(level: str, tmp_path: Path) -> None:
    python, site = copy_of(gpu_python(), tmp_path)
    shutil.rmtree(site / "nvidia" / "cudnn")
    shutil.rmtree(next(site.glob("nvidia_cudnn_cu12-*.dist-info")))
    run = scan(python, tmp_path, "--level", level, "--select", "GD1,GD2,GD3")
    assert_clean(run)
    report = run.document
    finding = primary(report)
    assert finding is not None
    assert (finding["cause"], finding["severity"], run.code) == ("missing-cuda-libs", "error", 1)
    assert "cuDNN 9" in finding["summary"]
    fix = first_fix(report)
    assert fix.startswith("pip install ") or " -m pip install " in fix
    assert "cudnn" in fix or "and-cuda" in fix
    if level == "standard":
        assert report["probe"]["trials"]["baseline"]["device"] == "CPU"


def test_an_older_cudnn_first_on_the_library_path_is_named_with_what_it_shadows(tmp_path: Path) -> None:
    older = older_cudnn("9.1.0.70") / "nvidia" / "cudnn" / "lib"
    run = scan(gpu_python(), tmp_path, "--level", "quick", library_path=older)
    report = run.document
    cudnn = libraries(report)["libcudnn.so.9"]
    assert (cudnn["origin"], cudnn["version"]) == ("ld_library_path", "9.1.0")
    assert any("site-packages/nvidia/cudnn/lib" in each for each in cudnn["shadows"])
    finding = primary(report)
    assert finding is not None
    assert finding["cause"] == "cudnn-version", report["findings"]
    assert "LD_LIBRARY_PATH" in first_fix(report)


def test_a_cudnn_of_another_major_on_the_library_path_harms_nobody(tmp_path: Path) -> None:
    older = older_cudnn("8.9.7.29") / "nvidia" / "cudnn" / "lib"
    report = scan(gpu_python(), tmp_path, "--level", "quick", library_path=older).document
    assert libraries(report)["libcudnn.so.9"]["origin"] == "wheel"
    assert not [each for each in report["findings"] if each["severity"] != "info"]


@pytest.mark.parametrize("version", ["9.1.0.70", "8.9.7.29"])
def test_a_torch_that_brings_another_cudnn_wheel_clashes(version: str, tmp_path: Path) -> None:
    """Pip installs torch after TensorFlow: its pinned cuDNN wheel takes the place of the one that TensorFlow needs."""
    python, site = copy_of(gpu_python(), tmp_path)
    shutil.rmtree(site / "nvidia" / "cudnn")
    shutil.rmtree(next(site.glob("nvidia_cudnn_cu12-*.dist-info")))
    source = older_cudnn(version)
    shutil.copytree(source / "nvidia" / "cudnn", site / "nvidia" / "cudnn", copy_function=os.symlink)
    shutil.copytree(source / f"nvidia_cudnn_cu12-{version}.dist-info", site / f"nvidia_cudnn_cu12-{version}.dist-info")
    torch = site / "torch-2.5.1.dist-info"
    torch.mkdir()
    (torch / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: torch\nVersion: 2.5.1\nRequires-Dist: nvidia-cudnn-cu12 (=={version})\n",
        encoding="utf-8",
    )
    run = scan(python, tmp_path, "--level", "quick")
    assert_clean(run)
    report = run.document
    # Another major has another soname: TensorFlow does not find its own. An older minor is found, and refused at run time.
    assert cause_of(report) == ("missing-cuda-libs" if version.startswith("8") else "cudnn-version"), report["findings"]
    fix = first_fix(report)
    assert "pip install" in fix
    assert "cudnn" in fix or "and-cuda" in fix


def test_the_original_environment_is_left_as_it_was() -> None:
    site = site_of(gpu_python())
    assert (site / "nvidia" / "cudnn" / "lib" / "libcudnn.so.9").is_file()
