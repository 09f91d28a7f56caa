"""GD251: the name of the library, and how TensorFlow was installed, choose the cure."""

from __future__ import annotations

import pytest

from gpudoctor_checks.libraries.libraries_remedies import is_there
from gpudoctor_checks.libraries.libraries_said import not_opened
from tests.checks.texts import UNUSABLE, found, text_case

CASE = text_case(
    "GD251",
    "Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory",
    variants=UNUSABLE,
)


def test_another_major_version_is_named() -> None:
    finding = found(
        not_opened,
        "Could not load dynamic library 'libcudnn.so.7'; dlerror: libcudnn.so.7: cannot open shared object file",
        cudnn="8.0.2",
        tf="2.3.0",
    )
    assert (finding.cause, finding.fixes[0].id) == ("missing-cuda-libs", "install-matching-cuda")


def test_in_conda_the_library_comes_from_conda() -> None:
    finding = found(not_opened, "Could not load dynamic library 'libcublas.so.12'", tf="2.17.0 (conda-forge)")
    assert (finding.cause, finding.fixes[0].id) == ("missing-cuda-libs", "install-conda-libraries")


def test_the_release_that_does_not_look_into_its_wheels() -> None:
    finding = found(not_opened, "Cannot dlopen some GPU libraries. Please make sure", tf="2.16.1")
    assert (finding.cause, finding.fixes[0].id) == ("and-cuda-wheels", "mend-runpath")


def test_without_a_name_the_library_is_found_first() -> None:
    finding = found(not_opened, "Cannot dlopen some GPU libraries. Please make sure")
    assert (finding.cause, finding.fixes[0].id) == ("missing-cuda-libs", "restore-library-path")


def test_an_environment_without_the_extra_gets_it() -> None:
    finding = found(not_opened, "Could not find cuda drivers on your machine, GPU will not be used.", tf="2.14.0")
    assert (finding.cause, finding.fixes[0].id) == ("missing-cuda-libs", "install-tensorflow")


def test_libcuda_itself_on_wsl() -> None:
    finding = found(
        not_opened,
        "Could not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open shared object file: No such file or directory",
        os="WSL2",
    )
    assert (finding.cause, finding.fixes[0].id) == ("wsl-libcuda", "wsl-libcuda-first")


def test_on_windows_the_dll_names_its_version_and_no_linux_extra_is_advised() -> None:
    finding = found(
        not_opened,
        "Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found",
        os="windows",
    )
    assert [each.id for each in finding.fixes] == ["install-matching-cuda"]
    assert "CUDA 11.0" in finding.fixes[0].text


def test_what_wsl_brings_itself_is_not_installed_from_elsewhere() -> None:
    finding = found(not_opened, "ImportError: libd3d12.so: cannot open shared object file: No such file or directory")
    assert (finding.cause, finding.fixes[0].id) == ("wsl-libcuda", "wsl-libcuda-first")


@pytest.mark.parametrize(
    ("library", "facts"),
    [
        ("libcublas.so.9.0", {"tf": "1.6", "cuda": "9.0"}),
        ("libcudart.so.11.0", {"tf": "2.8.0", "cuda": "11.2"}),
        ("libcudnn.so.7", {"tf": "1.14.0", "cudnn": "7.6.5"}),
    ],
)
def test_a_library_that_is_said_to_be_installed_is_looked_for_first(library: str, facts: dict[str, str]) -> None:
    line = f"ImportError: {library}: cannot open shared object file: No such file or directory"
    assert found(not_opened, line, **facts).fixes[0].id == "restore-library-path"
    other = {**facts, "cuda": "9.2", "cudnn": "8.0.4"}
    assert found(not_opened, line, **other).fixes[0].id == "install-matching-cuda"


def test_the_zlib_of_cudnn_on_windows_is_named() -> None:
    finding = found(
        not_opened, "Could not locate zlibwapi.dll. Please make sure it is in your library path!", os="windows"
    )
    assert [each.id for each in finding.fixes] == ["install-zlib"]


def test_a_stated_cuda_of_one_number_has_no_library_of_an_exact_name() -> None:
    assert not is_there("libcudart.so.11.0", "0", "")
    assert not is_there("libcudart.so.11.0", "11", "")
