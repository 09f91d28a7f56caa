"""The libraries of fabricated TensorFlow environments: found, shadowed, out of reach, incomplete, of whom."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from gpudoctor.collect.interpreter import Interpreter
from gpudoctor.collect.libraries import collect_libraries, merge_loaded
from gpudoctor.collect.python_env import list_distributions
from gpudoctor.collect.tensorflow_build import collect_tensorflow
from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import LoadedLibrary, Probe, ProbeChild
from gpudoctor.model.software import Library
from tests.collect.builds import CUDNN_9_PARTS, WHEELS, Build, make_build, make_cudnn, wheel
from tests.collect.shared_objects import write_elf

REGISTRATION = (
    "libcudart.so.12",
    "libcublas.so.12",
    "libcublasLt.so.12",
    "libcufft.so.11",
    "libcusolver.so.11",
    "libcusparse.so.12",
    "libcudnn.so.9",
)


def _libraries(build: Build, environ: Mapping[str, str] | None = None, root: Path | None = None) -> dict[str, Library]:
    interpreter = build.interpreter
    distributions = list_distributions(interpreter.path)
    root = root or build.root
    tensorflow = collect_tensorflow(interpreter, distributions, environ=environ or {}, root=root)
    found = collect_libraries(tensorflow, interpreter, distributions, environ=environ or {}, root=root)
    assert isinstance(found, tuple), found
    return {library.soname: library for library in found}


def test_an_official_wheel_finds_all_that_it_needs_in_the_nvidia_wheels(tmp_path: Path) -> None:
    libraries = _libraries(make_build(tmp_path))
    assert tuple(name for name in libraries if name in REGISTRATION) == REGISTRATION
    for soname in REGISTRATION:
        library = libraries[soname]
        assert (library.needed, library.origin, library.shadows) == (True, "wheel", ())
        assert isinstance(library.path, str)
        assert library.path.endswith(f"/lib/{soname}")
        assert ".." not in library.path
    assert libraries["libcublas.so.12"].package == "nvidia-cublas-cu12"
    assert (libraries["libcublas.so.12"].version, libraries["libcublas.so.12"].version_from) == ("12.5.3.2", "package")


def test_what_only_several_gpus_or_profiling_need_is_not_called_needed(tmp_path: Path) -> None:
    libraries = _libraries(make_build(tmp_path))
    assert libraries["libnccl.so.2"].needed is False
    assert libraries["libcupti.so.12"].needed is False


def test_the_version_of_cudnn_is_that_of_its_header_in_three_numbers(tmp_path: Path) -> None:
    build = make_build(tmp_path)
    cudnn = _libraries(build)["libcudnn.so.9"]
    assert (cudnn.version, cudnn.version_from, cudnn.package) == ("9.3.0", "header", "nvidia-cudnn-cu12")
    (build.site / "nvidia/cudnn/include/cudnn_version.h").unlink()
    cudnn = _libraries(build)["libcudnn.so.9"]
    assert (cudnn.version, cudnn.version_from) == ("9.3.0", "package")


def test_a_library_that_a_needed_one_is_linked_to_stands_beside_it(tmp_path: Path) -> None:
    libraries = _libraries(make_build(tmp_path))
    assert libraries["libnvJitLink.so.12"].needed is True
    assert libraries["libnvJitLink.so.12"].package == "nvidia-nvjitlink-cu12"


def test_wheels_that_the_build_does_not_search_are_out_of_reach(tmp_path: Path) -> None:
    """As in 2.16.1: libtensorflow_framework lost all entries but one."""
    libraries = _libraries(make_build(tmp_path, runpath=("cuda_runtime",)))
    assert libraries["libcudart.so.12"].origin == "wheel"
    cudnn = libraries["libcudnn.so.9"]
    assert isinstance(cudnn.path, Missing)
    assert "see shadows" in cudnn.path.reason
    assert [Path(each).name for each in cudnn.shadows] == ["libcudnn.so.9"]
    assert (cudnn.package, cudnn.loadable) == ("nvidia-cudnn-cu12", False)


def test_wheels_out_of_reach_are_found_through_the_library_path(tmp_path: Path) -> None:
    build = make_build(tmp_path, runpath=("cuda_runtime",))
    library_path = ":".join(str(build.site / f"nvidia/{folder}/lib") for folder in WHEELS)
    libraries = _libraries(build, {"LD_LIBRARY_PATH": library_path})
    assert {libraries[soname].origin for soname in REGISTRATION} == {"wheel"}


def test_a_library_that_is_nowhere_is_missing_without_shadows(tmp_path: Path) -> None:
    cudnn = _libraries(make_build(tmp_path, without=("cudnn",)))["libcudnn.so.9"]
    assert (cudnn.path, cudnn.shadows, cudnn.loadable) == (Missing("not found"), (), False)
    assert isinstance(cudnn.error, str)


def test_an_older_cudnn_on_the_library_path_shadows_the_wheels(tmp_path: Path) -> None:
    build = make_build(tmp_path)
    make_cudnn(tmp_path / "old", "9.1.1")
    cudnn = _libraries(build, {"LD_LIBRARY_PATH": f"{tmp_path}/old/lib"})["libcudnn.so.9"]
    assert (cudnn.path, cudnn.origin) == (f"{tmp_path}/old/lib/libcudnn.so.9", "ld_library_path")
    assert (cudnn.version, cudnn.package) == ("9.1.1", Missing("not from a Python package"))
    assert cudnn.shadows == (f"{build.site}/nvidia/cudnn/lib/libcudnn.so.9",)


def test_a_cudnn_without_one_of_its_parts_cannot_be_loaded_in_truth(tmp_path: Path) -> None:
    build = make_build(tmp_path)
    (build.site / "nvidia/cudnn/lib/libcudnn_ops.so.9").unlink()
    libraries = _libraries(build)
    assert libraries["libcudnn.so.9"].loadable is False
    assert libraries["libcudnn.so.9"].error == "libcudnn_ops.so.9 not found, which it needs"
    assert isinstance(libraries["libcudnn_ops.so.9"].path, Missing)
    assert not {f"libcudnn_{part}.so.9" for part in CUDNN_9_PARTS if part != "ops"} & set(libraries)


def test_parts_of_another_cudnn_in_front_are_shown(tmp_path: Path) -> None:
    build = make_build(tmp_path)
    write_elf(tmp_path / "stray/libcudnn_cnn.so.9")
    part = _libraries(build, {"LD_LIBRARY_PATH": f"{tmp_path}/stray"})["libcudnn_cnn.so.9"]
    assert (part.path, part.origin) == (f"{tmp_path}/stray/libcudnn_cnn.so.9", "ld_library_path")


def test_without_nvjitlink_cusparse_cannot_be_loaded(tmp_path: Path) -> None:
    libraries = _libraries(make_build(tmp_path, without=("nvjitlink",)))
    assert libraries["libcusparse.so.12"].error == "libnvJitLink.so.12 not found, which it needs"
    assert isinstance(libraries["libnvJitLink.so.12"].path, Missing)


def test_of_two_wheels_that_wrote_the_same_cudnn_the_header_tells_whose_it_is(tmp_path: Path) -> None:
    """As a torch for CUDA 13 does beside TensorFlow: nvidia-cudnn-cu13 writes over nvidia-cudnn-cu12."""
    build = make_build(tmp_path)
    wheel(build.site, "nvidia-cudnn-cu13", "9.20.1.8", "cudnn", ("libcudnn.so.9",))
    make_cudnn(build.site / "nvidia/cudnn", "9.20.1")
    cudnn = _libraries(build)["libcudnn.so.9"]
    assert (cudnn.package, cudnn.version) == ("nvidia-cudnn-cu13", "9.20.1")


def test_the_toolkit_and_the_system_of_the_machine_root_are_told_apart(tmp_path: Path) -> None:
    build = make_build(tmp_path, without=("cudnn", "cublas"))
    write_elf(build.root / "usr/local/cuda-12.5/lib64/libcublas.so.12.5.3", needed=("libcublasLt.so.12",))
    (build.root / "usr/local/cuda-12.5/lib64/libcublas.so.12").symlink_to("libcublas.so.12.5.3")
    write_elf(build.root / "usr/local/cuda-12.5/lib64/libcublasLt.so.12")
    make_cudnn(build.root / "usr", "9.4.0", folder="lib/x86_64-linux-gnu")
    (build.root / "etc").mkdir()
    (build.root / "etc/ld.so.conf").write_text("/usr/local/cuda-12.5/lib64\n", encoding="utf-8")
    libraries = _libraries(build)
    blas, cudnn = libraries["libcublas.so.12"], libraries["libcudnn.so.9"]
    assert (blas.path, blas.origin) == ("/usr/local/cuda-12.5/lib64/libcublas.so.12", "toolkit")
    assert (blas.version, blas.version_from) == ("12.5.3", "file_name")
    assert (cudnn.path, cudnn.origin) == ("/usr/lib/x86_64-linux-gnu/libcudnn.so.9", "system")
    assert (cudnn.version, cudnn.version_from) == ("9.4.0", "header")


def test_a_toolkit_that_the_loader_does_not_know_is_out_of_reach(tmp_path: Path) -> None:
    build = make_build(tmp_path, without=("cufft",))
    write_elf(build.root / "usr/local/cuda-12.5/lib64/libcufft.so.11")
    fft = _libraries(build)["libcufft.so.11"]
    assert isinstance(fft.path, Missing)
    assert fft.shadows == ("/usr/local/cuda-12.5/lib64/libcufft.so.11",)


def test_a_conda_build_takes_condas_libraries_by_its_rpath(tmp_path: Path) -> None:
    build = make_build(tmp_path, kind="conda")
    library = _libraries(build)["libcudnn.so.9"]
    assert (library.origin, library.package, library.version) == ("conda", "cudnn", "9.3.0")
    assert library.path == f"{build.interpreter.prefix}/lib/libcudnn.so.9"


def test_a_build_without_keys_of_cuda_takes_the_names_from_its_header(tmp_path: Path) -> None:
    """As 2.22 does; as a local build here, so that no table can help."""
    libraries = _libraries(make_build(tmp_path, version="9.9.9", kind="source", cuda_keys=False))
    assert tuple(name for name in libraries if name in REGISTRATION) == REGISTRATION


def test_a_cpu_build_needs_no_library(tmp_path: Path) -> None:
    assert _libraries(make_build(tmp_path, cuda=False)) == {}


def test_without_tensorflow_the_reason_is_given(tmp_path: Path) -> None:
    interpreter = Interpreter(
        version="3.11.7", executable=tmp_path, prefix=tmp_path, base_prefix=tmp_path, path=(tmp_path,)
    )
    tensorflow = collect_tensorflow(interpreter, (), environ={})
    assert collect_libraries(tensorflow, interpreter, (), environ={}) == tensorflow.version


def _probe(*loaded: LoadedLibrary) -> Probe:
    return Probe(children=(ProbeChild(environment="default", loaded=loaded),))


def test_the_file_that_the_probe_mapped_is_noted() -> None:
    library = Library(soname="libcudnn.so.9", path="/wheel/libcudnn.so.9")
    loaded = LoadedLibrary(path="/other/libcudnn.so.9.1.1", version="9.1.1")
    [merged] = merge_loaded([library], _probe(loaded))
    assert (merged.path, merged.loaded_path) == ("/wheel/libcudnn.so.9", "/other/libcudnn.so.9.1.1")
    assert (merged.version, merged.loadable) == ("9.1.1", True)


def test_a_version_that_is_known_in_full_is_not_shortened_by_the_call() -> None:
    library = Library(soname="libcudart.so.12", version="12.9.79", path="/wheel/libcudart.so.12")
    [merged] = merge_loaded([library], _probe(LoadedLibrary(path="/wheel/libcudart.so.12", version="12.9")))
    assert merged.version == "12.9.79"


def test_a_library_mapped_though_the_search_missed_it_counts_as_found() -> None:
    library = Library(soname="libcudnn.so.9", path=Missing("not found"), loadable=False, error="not found")
    [merged] = merge_loaded([library], _probe(LoadedLibrary(path="/x/libcudnn.so.9", soname="libcudnn.so.9")))
    assert (merged.path, merged.loadable, merged.error) == ("/x/libcudnn.so.9", True, Missing("none"))


def test_a_library_that_was_not_mapped_says_so() -> None:
    [merged] = merge_loaded([Library(soname="libcudnn.so.9")], _probe(LoadedLibrary(path="/x/libcudnn_ops.so.9")))
    assert merged.loaded_path == Missing("not loaded by the probe")


@pytest.mark.parametrize("probe", [None, Probe(), _probe()])
def test_without_a_mapping_nothing_changes(probe: Probe | None) -> None:
    library = Library(soname="libcudnn.so.9")
    assert merge_loaded([library], probe) == (library,)


def test_an_official_wheel_without_the_header_is_known_by_its_release(tmp_path: Path) -> None:
    libraries = _libraries(make_build(tmp_path, config=False))
    assert tuple(name for name in libraries if name in REGISTRATION) == REGISTRATION


def test_a_local_build_without_the_header_and_without_links_cannot_be_told(tmp_path: Path) -> None:
    build = make_build(tmp_path, kind="source", config=False)
    distributions = list_distributions(build.interpreter.path)
    tensorflow = collect_tensorflow(build.interpreter, distributions, environ={}, root=build.root)
    found = collect_libraries(tensorflow, build.interpreter, distributions, environ={}, root=build.root)
    assert isinstance(found, Missing)


def test_a_build_that_is_linked_to_its_libraries_needs_them(tmp_path: Path) -> None:
    build = make_build(tmp_path, kind="source", config=False)
    framework = build.site / "tensorflow/libtensorflow_framework.so.2"
    write_elf(
        framework, needed=("libcudart.so.12", "libcuda.so.1", "libc.so.6"), runpath="$ORIGIN/../nvidia/cuda_runtime/lib"
    )
    libraries = _libraries(build)
    assert libraries["libcudart.so.12"].origin == "wheel"
    assert set(libraries) == {"libcudart.so.12", "libnccl.so.2"}
