"""Facts of a TensorFlow build, read from fabricated and real packages that are never imported."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from gpudoctor.collect.build_facts import read_build_info, read_cuda_config
from gpudoctor.collect.interpreter import Interpreter
from gpudoctor.collect.python_env import list_distributions, package_folders
from gpudoctor.collect.tensorflow_build import collect_tensorflow
from gpudoctor.model.missing import Missing
from gpudoctor.model.software import TensorFlow
from tests.collect.builds import Build, Kind, make_build
from tests.collect.real_environments import CPU, GPU, interpreter_of
from tests.collect.shared_objects import fat_binary, write_elf

PTX, SASS = 1, 2


def _tensorflow(build: Build, environ: Mapping[str, str] | None = None, *, count_code: bool = False) -> TensorFlow:
    distributions = list_distributions(build.interpreter.path)
    return collect_tensorflow(
        build.interpreter, distributions, environ=environ or {}, root=build.root, count_code=count_code
    )


def test_a_build_of_cuda_says_what_it_was_built_for(tmp_path: Path) -> None:
    tensorflow = _tensorflow(make_build(tmp_path))
    assert (tensorflow.installed, tensorflow.version, tensorflow.distribution) == (True, "2.20.0", "tensorflow")
    assert (tensorflow.is_cuda_build, tensorflow.is_rocm_build) == (True, False)
    assert (tensorflow.cuda_version, tensorflow.cudnn_version) == ("12.5.1", "9")
    assert tensorflow.compute_capabilities == ("sm_60", "sm_70", "sm_80", "sm_89", "compute_90")
    assert tensorflow.build_info_from == "build_info"
    assert isinstance(tensorflow.runpath, tuple)
    assert "$ORIGIN/../nvidia/cudnn/lib" in tensorflow.runpath
    assert isinstance(tensorflow.visible_gpus, Missing)


def test_a_build_whose_info_says_no_more_of_cuda_is_read_from_its_header(tmp_path: Path) -> None:
    """As in 2.22."""
    tensorflow = _tensorflow(make_build(tmp_path, version="2.22.0rc0", cuda_keys=False))
    assert (tensorflow.is_cuda_build, tensorflow.cuda_version, tensorflow.cudnn_version) == (True, "12.5.1", "9")
    assert tensorflow.compute_capabilities == ("sm_60", "sm_70", "sm_80", "sm_89", "compute_90")
    assert tensorflow.build_info_from == "cuda_config"


def test_a_local_build_may_hold_both_kinds_of_code_for_its_last_architecture(tmp_path: Path) -> None:
    tensorflow = _tensorflow(make_build(tmp_path, kind="source", cuda_keys=False))
    assert tensorflow.compute_capabilities == ("sm_60", "sm_70", "sm_80", "sm_89", "sm_90", "compute_90")


def test_a_local_build_is_asked_for_its_code_from_the_standard_level_on(tmp_path: Path) -> None:
    build = make_build(tmp_path, kind="source", cuda_keys=False)
    code = fat_binary((SASS, 75), (PTX, 86)) * 9 + fat_binary((SASS, 75), (SASS, 86), (PTX, 86))
    write_elf(build.site / "tensorflow/libtensorflow_cc.so.2", sections={".nv_fatbin": code})
    tensorflow = _tensorflow(build, count_code=True)
    assert tensorflow.code_objects == {"sm_75": 10, "sm_86": 1, "compute_86": 10}
    assert tensorflow.compute_capabilities == ("sm_75", "compute_86")
    assert tensorflow.build_info_from == "fat_binaries"


def test_an_official_wheel_is_not_counted(tmp_path: Path) -> None:
    assert _tensorflow(make_build(tmp_path), count_code=True).code_objects == {}


def test_a_build_without_info_and_header_leaves_its_facts_missing(tmp_path: Path) -> None:
    build = make_build(tmp_path, config=False)
    (build.site / "tensorflow/python/platform/build_info.py").write_text("def broken(:\n", encoding="utf-8")
    tensorflow = _tensorflow(build)
    assert tensorflow.installed is True
    for fact in (tensorflow.is_cuda_build, tensorflow.cuda_version, tensorflow.build_info_from):
        assert isinstance(fact, Missing)


def test_a_cpu_build_has_no_cuda(tmp_path: Path) -> None:
    tensorflow = _tensorflow(make_build(tmp_path, name="tensorflow-cpu", cuda=False))
    assert (tensorflow.is_cuda_build, tensorflow.distribution) == (False, "tensorflow-cpu")
    assert tensorflow.cuda_version == Missing("not a CUDA build")
    assert tensorflow.compute_capabilities == Missing("not a CUDA build")


@pytest.mark.parametrize(
    ("kind", "name", "version", "environ", "origin"),
    [
        ("official", "tensorflow", "2.20.0", {}, "official_wheel"),
        ("official", "tf-nightly", "2.23.0.dev20261026", {}, "official_wheel"),
        ("official", "tensorflow", "2.20.0", {"NVIDIA_TENSORFLOW_VERSION": "25.02-tf2"}, "official_wheel"),
        ("source", "tensorflow", "2.20.0", {}, "source"),
        ("official", "tensorflow", "2.20.0+cu128", {}, "source"),
        ("official", "intel-tensorflow", "2.14.0", {}, "source"),
        ("source", "tensorflow", "2.17.0", {"NVIDIA_TENSORFLOW_VERSION": "25.02-tf2"}, "ngc"),
        ("ngc", "tensorflow", "2.17.0+nv25.2", {}, "ngc"),
        ("ngc", "nvidia-tensorflow", "1.15.5+nv23.3", {}, "ngc"),
        ("conda", "tensorflow", "2.18.0", {}, "conda"),
    ],
)
def test_who_made_the_build(  # noqa: PLR0917  # a row of the table above
    kind: Kind, name: str, version: str, environ: dict[str, str], origin: str, tmp_path: Path
) -> None:
    tensorflow = _tensorflow(make_build(tmp_path, kind=kind, name=name, version=version), environ)
    assert (tensorflow.origin, tensorflow.version, tensorflow.distribution) == (origin, version, name)


def test_nvidias_container_is_known_by_its_source_folder(tmp_path: Path) -> None:
    build = make_build(tmp_path, kind="source")
    (build.root / "opt/tensorflow").mkdir(parents=True)
    assert _tensorflow(build).origin == "ngc"


def test_a_conda_build_without_python_metadata_is_known_by_condas_records(tmp_path: Path) -> None:
    build = make_build(tmp_path, kind="conda", version="2.18.0")
    for info in build.site.glob("tensorflow-*.dist-info"):
        info.rename(info.with_suffix(".gone"))
    tensorflow = _tensorflow(build)
    assert (tensorflow.origin, tensorflow.version) == ("conda", "2.18.0")


def test_of_two_distributions_in_one_folder_the_one_installed_last_is_told(tmp_path: Path) -> None:
    build = make_build(tmp_path, name="tensorflow")
    make_build(tmp_path, name="tensorflow-cpu", version="2.19.1", cuda=False)
    older, newer = build.site / "tensorflow-2.20.0.dist-info", build.site / "tensorflow_cpu-2.19.1.dist-info"
    for info, when in ((older, 1_000), (newer, 2_000)):
        os.utime(info, (when, when))
    assert _tensorflow(build).distribution == "tensorflow-cpu"
    os.utime(older, (3_000, 3_000))
    assert _tensorflow(build).distribution == "tensorflow"


def test_the_package_that_only_points_to_another_is_not_the_one(tmp_path: Path) -> None:
    """As tensorflow does on Windows: the files are those of tensorflow-intel."""
    build = make_build(tmp_path, name="tensorflow-intel")
    make_build(tmp_path, name="tensorflow")
    (build.site / "tensorflow-2.20.0.dist-info/RECORD").write_text("", encoding="utf-8")
    assert _tensorflow(build).distribution == "tensorflow-intel"


def test_what_an_uninstall_left_is_no_tensorflow(tmp_path: Path) -> None:
    build = make_build(tmp_path)
    (build.site / "tensorflow/__init__.py").unlink()
    tensorflow = _tensorflow(build)
    assert (tensorflow.installed, isinstance(tensorflow.version, Missing)) == (False, True)


def test_keras_is_the_one_that_the_build_would_use(tmp_path: Path) -> None:
    build = make_build(tmp_path)
    assert _tensorflow(build).keras_version == Missing("no package keras")
    (build.site / "keras-3.11.0.dist-info").mkdir()
    (build.site / "tf_keras-2.20.0.dist-info").mkdir()
    assert _tensorflow(build).keras_version == "3.11.0"
    assert _tensorflow(build, {"TF_USE_LEGACY_KERAS": "1"}).keras_version == "2.20.0"


@pytest.mark.parametrize(
    "text",
    [
        "build_info = {'is_cuda_build': True, 'cudnn_version': '8'}",
        "import collections\nbuild_info = collections.OrderedDict([('is_cuda_build', True), ('cudnn_version', '8')])",
        "build_info = dict(is_cuda_build=True, cudnn_version='8')",
        "is_cuda_build = True\ncudnn_version = '8'\nhelper = sum([1])",
    ],
)
def test_build_info_in_any_of_its_forms(text: str, tmp_path: Path) -> None:
    (tmp_path / "python/platform").mkdir(parents=True)
    (tmp_path / "python/platform/build_info.py").write_text(text, encoding="utf-8")
    assert read_build_info(tmp_path) == {"is_cuda_build": True, "cudnn_version": "8"}


def test_build_info_is_never_run(tmp_path: Path) -> None:
    (tmp_path / "python/platform").mkdir(parents=True)
    (tmp_path / "python/platform/build_info.py").write_text(
        "raise SystemExit\nbuild_info = print('x')\n", encoding="utf-8"
    )
    assert read_build_info(tmp_path) == {}


def test_without_files_there_are_no_facts(tmp_path: Path) -> None:
    assert (read_build_info(tmp_path), read_cuda_config(tmp_path)) == ({}, {})


def _real(interpreter: Interpreter) -> TensorFlow:
    return collect_tensorflow(interpreter, list_distributions(package_folders(interpreter)))


def test_the_real_gpu_wheel() -> None:
    tensorflow = _real(interpreter_of(GPU))
    assert (tensorflow.origin, tensorflow.distribution) == ("official_wheel", "tensorflow")
    assert (tensorflow.is_cuda_build, tensorflow.cudnn_version) == (True, "9")
    assert isinstance(tensorflow.runpath, tuple)
    assert any("nvidia/cudnn/lib" in folder for folder in tensorflow.runpath)
    assert isinstance(tensorflow.keras_version, str)


def test_the_real_cpu_wheel() -> None:
    tensorflow = _real(interpreter_of(CPU))
    assert (tensorflow.origin, tensorflow.distribution) == ("official_wheel", "tensorflow-cpu")
    assert tensorflow.is_cuda_build is False


def test_what_it_asks_for_is_read_from_its_metadata_and_from_that_of_its_keras(tmp_path: Path) -> None:
    build = make_build(tmp_path)
    site = Path(str(_tensorflow(build).path)).parent
    (metadata,) = site.glob("tensorflow-*.dist-info")
    with (metadata / "METADATA").open("a", encoding="utf-8") as file:
        file.write("Requires-Dist: wrapt>=1.11.0\nRequires-Dist: x ; sys_platform == 'plan9'\n")
    (site / "keras-3.12.0.dist-info").mkdir()
    (site / "keras-3.12.0.dist-info/METADATA").write_text("Name: keras\nRequires-Dist: optree\n", encoding="utf-8")
    assert _tensorflow(build).requires == ("wrapt >=1.11.0", "optree")


def test_the_folder_that_an_uninstall_left_is_told(tmp_path: Path) -> None:
    build = make_build(tmp_path)
    package = Path(str(_tensorflow(build).path))
    (package / "__init__.py").unlink()
    told = _tensorflow(build)
    assert (told.installed, told.remains) == (False, str(package))
