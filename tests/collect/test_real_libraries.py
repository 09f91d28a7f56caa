"""The real GPU build of TensorFlow with the real nvidia wheels: versions, origins, and the loader's real choice.

TensorFlow's own loading function is called in a child (it needs no driver), so the prediction is held against the very
code that decides in a training.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from gpudoctor.collect.interpreter import Interpreter
from gpudoctor.collect.libraries import collect_libraries
from gpudoctor.collect.library_trial import try_libraries
from gpudoctor.collect.python_env import list_distributions, package_folders
from gpudoctor.collect.tensorflow_build import collect_tensorflow
from gpudoctor.model.missing import Missing
from gpudoctor.model.software import Library
from tests.collect.real_environments import GPU, gpu_tensorflow, interpreter_of
from tests.collect.shared_objects import compile_library

# absl::Status tsl::internal::LoadDynamicLibrary(const char *, void **): what every CUDA library goes through.
ASK_TENSORFLOW = """
import ctypes, sys
framework = ctypes.CDLL(sys.argv[1])
load = framework._ZN3tsl8internal18LoadDynamicLibraryEPKcPPv
load.restype = None
dlinfo = ctypes.CDLL(None).dlinfo
for name in sys.argv[2:]:
    status, handle, link = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    load(ctypes.byref(status), name.encode(), ctypes.byref(handle))
    if handle.value and not dlinfo(handle, 2, ctypes.byref(link)):
        print(name, ctypes.c_char_p.from_address(link.value + 8).value.decode())
    else:
        print(name, 'none')
"""


def _collect(package: Path, variables: Mapping[str, str]) -> tuple[Library, ...]:
    interpreter = _interpreter(package)
    distributions = list_distributions(package_folders(interpreter))
    tensorflow = collect_tensorflow(interpreter, distributions, environ=variables)
    libraries = collect_libraries(tensorflow, interpreter, distributions, environ=variables)
    assert isinstance(libraries, tuple), libraries
    return libraries


def _interpreter(package: Path) -> Interpreter:
    real = interpreter_of(GPU)
    return Interpreter(
        version=real.version,
        executable=real.executable,
        prefix=real.prefix,
        base_prefix=real.base_prefix,
        path=(package.parent, *real.path),
    )


def _opened(package: Path, names: list[str], variables: Mapping[str, str]) -> dict[str, str]:
    command = [str(interpreter_of(GPU).executable), "-c", ASK_TENSORFLOW, str(package / "libtensorflow_framework.so.2")]
    environment = {**os.environ, **variables}
    output = subprocess.run([*command, *names], env=environment, capture_output=True, text=True, check=True).stdout
    pairs = (line.split(" ", 1) for line in output.splitlines() if line.startswith("lib"))
    return {name: path if path == "none" else os.path.realpath(path) for name, path in pairs}


def _agrees(package: Path, variables: Mapping[str, str]) -> dict[str, Library]:
    """Assert that each prediction is what TensorFlow's own loader opens; return the predictions."""
    libraries = {each.soname: each for each in _collect(package, variables)}
    told = {
        name: "none" if isinstance(each.path, Missing) else os.path.realpath(each.path)
        for name, each in libraries.items()
        if not name.startswith(("libcudnn_", "libnvJitLink"))  # opened by others, from elsewhere
    }
    assert _opened(package, list(told), variables) == told
    return libraries


def _copy(package: Path, tmp_path: Path, without: tuple[str, ...] = ()) -> Path:
    """Rebuild the environment's site-packages from links, some of nvidia's folders left out."""
    site = tmp_path / "site-packages"
    (site / "nvidia").mkdir(parents=True)
    for entry in package.parent.iterdir():
        if entry.name not in {"nvidia", "tensorflow"}:
            (site / entry.name).symlink_to(entry)
    for folder in (package.parent / "nvidia").iterdir():
        if folder.name not in without:
            (site / "nvidia" / folder.name).symlink_to(folder)
    (site / "tensorflow").mkdir()
    for entry in package.iterdir():
        (site / "tensorflow" / entry.name).symlink_to(entry)
    return site / "tensorflow"


def test_plain(tmp_path: Path) -> None:
    package, _ = gpu_tensorflow()
    libraries = _agrees(package, {"LD_LIBRARY_PATH": ""})
    assert {each.origin for each in libraries.values() if each.needed} == {"wheel"}
    assert all(str(each.package).startswith("nvidia-") for each in libraries.values())
    assert all(each.path != each.loaded_path for each in libraries.values())
    assert str(tmp_path) not in str(libraries)


def test_versions_by_reading_agree_with_those_of_the_librarys_own_calls() -> None:
    package, _ = gpu_tensorflow()
    read = _collect(package, {"LD_LIBRARY_PATH": ""})
    loaded = try_libraries(read, _interpreter(package), environ={**os.environ, "LD_LIBRARY_PATH": ""})
    for before, after in zip(read, loaded, strict=True):
        assert after.version == before.version, after
        assert after.loadable is (not isinstance(after.path, Missing)), after
    assert sum(after.version_from == "call" for after in loaded) >= 8


def test_an_older_cudnn_first_on_the_library_path(tmp_path: Path) -> None:
    package, _ = gpu_tensorflow()
    source = "#include <stddef.h>\nsize_t cudnnGetVersion(void) { return 90101; }"
    old = compile_library(tmp_path / "old/libcudnn.so.9", source)
    variables = {"LD_LIBRARY_PATH": str(old.parent)}
    cudnn = _agrees(package, variables)["libcudnn.so.9"]
    assert (cudnn.path, cudnn.origin) == (str(old), "ld_library_path")
    assert cudnn.shadows == (str(package.parent / "nvidia/cudnn/lib/libcudnn.so.9"),)
    [tried] = try_libraries([cudnn], _interpreter(package), environ={**os.environ, **variables})
    assert tried.version == "9.1.1"


def test_cudnn_removed(tmp_path: Path) -> None:
    package, _ = gpu_tensorflow()
    cudnn = _agrees(_copy(package, tmp_path, without=("cudnn",)), {"LD_LIBRARY_PATH": ""})["libcudnn.so.9"]
    assert isinstance(cudnn.path, Missing)


def test_one_part_of_cudnn_removed(tmp_path: Path) -> None:
    package, _ = gpu_tensorflow()
    copy = _copy(package, tmp_path, without=("cudnn",))
    real, made = package.parent / "nvidia/cudnn", copy.parent / "nvidia/cudnn"
    (made / "lib").mkdir(parents=True)
    (made / "include").symlink_to(real / "include")
    for file in (real / "lib").iterdir():
        if file.name != "libcudnn_graph.so.9":
            (made / "lib" / file.name).symlink_to(file)
    libraries = _agrees(copy, {"LD_LIBRARY_PATH": ""})
    assert libraries["libcudnn.so.9"].loadable is False
    tried = try_libraries(
        [libraries["libcudnn.so.9"]], _interpreter(copy), environ={**os.environ, "LD_LIBRARY_PATH": ""}
    )
    assert tried[0].loadable is False
    assert "libcudnn_graph.so.9" in str(tried[0].error)


@pytest.mark.parametrize("folder", ["cublas", "nvjitlink", "cuda_runtime", "cusparse"])
def test_another_wheel_removed(folder: str, tmp_path: Path) -> None:
    package, _ = gpu_tensorflow()
    copy = _copy(package, tmp_path, without=(folder,))
    libraries = {each.soname: each for each in _collect(copy, {"LD_LIBRARY_PATH": ""})}
    broken = {name for name, each in libraries.items() if each.needed and each.loadable is False}
    opened = _opened(copy, [name for name in libraries if libraries[name].needed], {"LD_LIBRARY_PATH": ""})
    assert {name for name, path in opened.items() if path == "none"} - {"libnvJitLink.so.12"} == broken - {
        "libnvJitLink.so.12"
    }


def test_the_wheels_libraries_on_the_library_path_are_still_the_wheels() -> None:
    package, _ = gpu_tensorflow()
    path = ":".join(str(each) for each in sorted((package.parent / "nvidia").glob("*/lib")))
    libraries = _agrees(package, {"LD_LIBRARY_PATH": path})
    assert {each.origin for each in libraries.values()} == {"wheel"}
