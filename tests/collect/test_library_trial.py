"""Loading of libraries in a process of the examined interpreter: what loads, what says why not, what kills or hangs it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gpudoctor.collect.interpreter import Interpreter, own_interpreter
from gpudoctor.collect.library_trial import try_libraries
from gpudoctor.model.missing import Missing
from gpudoctor.model.software import Library
from tests.collect.builds import CUDNN_9_PARTS
from tests.collect.shared_objects import compile_library
from tests.slow_machines import at_most

DEADLINE_S = 60.0  # the machine that runs the tests may be busy
CUDNN = "#include <stddef.h>\nsize_t cudnnGetVersion(void) {{ return {number}; }}"
KILLS = "#include <signal.h>\n__attribute__((constructor)) static void fall(void) { raise(SIGSEGV); }"
HANGS = "#include <unistd.h>\n__attribute__((constructor)) static void sleep_on(void) { for (;;) pause(); }"


def _try(paths: list[Path], *, deadline_s: float = DEADLINE_S, root: Path = Path("/")) -> list[Library]:
    libraries = [Library(soname=path.name, path=str(path)) for path in paths]
    return list(try_libraries(libraries, own_interpreter(), root=root, deadline_s=deadline_s))


@pytest.mark.parametrize(
    ("name", "source", "version"),
    [
        ("libcudnn.so.9", CUDNN.format(number=91002), "9.10.2"),
        ("libcudnn.so.9", CUDNN.format(number=90300), "9.3.0"),
        ("libcudnn.so.8", CUDNN.format(number=8907), "8.9.7"),
        ("libcudart.so.12", "int cudaRuntimeGetVersion(int *out) { return *out = 12090, 0; }", "12.9"),
        ("libcudart.so.11.0", "int cudaRuntimeGetVersion(int *out) { return *out = 11080, 0; }", "11.8"),
        ("libnccl.so.2", "int ncclGetVersion(int *out) { return *out = 23203, 0; }", "2.32.3"),
        ("libnccl.so.2", "int ncclGetVersion(int *out) { return *out = 2804, 0; }", "2.8.4"),
        ("libcufft.so.11", "int cufftGetProperty(int what, int *out) { return *out = 11 - what, 0; }", "11.10.9"),
        ("libnvJitLink.so.12", "int nvJitLinkVersion(unsigned *a, unsigned *b) { return *a = 12, *b = 9, 0; }", "12.9"),
    ],
)
def test_the_librarys_own_call_tells_its_version(tmp_path: Path, name: str, source: str, version: str) -> None:
    [library] = _try([compile_library(tmp_path / name, source)])
    assert (library.version, library.version_from) == (version, "call")
    assert (library.loadable, library.error) == (True, Missing("none"))


def test_the_version_of_the_file_stays_where_it_says_the_same_and_more(tmp_path: Path) -> None:
    path = compile_library(
        tmp_path / "libcudart.so.12", "int cudaRuntimeGetVersion(int *out) { return *out = 12090, 0; }"
    )
    for told, kept in (("12.9.79", "12.9.79"), ("12.90.1", "12.9"), ("12.5.82", "12.9")):
        library = Library(soname=path.name, path=str(path), version=told)
        assert try_libraries([library], own_interpreter())[0].version == kept


def test_a_library_without_a_version_call_is_loadable_and_keeps_what_was_read(tmp_path: Path) -> None:
    path = compile_library(tmp_path / "libcudnn.so.9")
    library = Library(soname=path.name, path=str(path), version="9.3.0", version_from="header")
    [tried] = try_libraries([library], own_interpreter(), deadline_s=DEADLINE_S)
    assert (tried.loadable, tried.version, tried.version_from) == (True, "9.3.0", "header")


def test_the_loaders_own_words_say_what_is_wrong(tmp_path: Path) -> None:
    absent = compile_library(tmp_path / "libgpudoctor_absent.so.1")
    compile_library(tmp_path / "libcublas.so.12", linker=("--no-as-needed", str(absent)))
    absent.unlink()
    (tmp_path / "libcufft.so.11").write_text("not a library", encoding="utf-8")
    blas, fft = _try([tmp_path / "libcublas.so.12", tmp_path / "libcufft.so.11"])
    assert (blas.loadable, fft.loadable) == (False, False)
    assert "libgpudoctor_absent.so.1" in str(blas.error)
    assert "libcufft.so.11" in str(fft.error)


def test_a_library_that_kills_the_process_is_named_and_the_rest_is_still_tried(tmp_path: Path) -> None:
    killer = compile_library(tmp_path / "libcufft.so.11", KILLS)
    sound = compile_library(tmp_path / "libcudnn.so.9", CUDNN.format(number=90300))
    first, second, third = _try([sound, killer, compile_library(tmp_path / "libcusparse.so.12")])
    assert second.error == "loading it killed the process (signal 11)"
    assert (first.loadable, second.loadable, third.loadable) == (True, False, True)


def test_a_library_whose_load_does_not_end_is_given_up_at_the_deadline(tmp_path: Path) -> None:
    sound, hanging = compile_library(tmp_path / "libcudnn.so.9"), compile_library(tmp_path / "libcufft.so.11", HANGS)
    with at_most(2, after_s=3):
        first, second, third = _try([sound, hanging, sound], deadline_s=3)
    assert (first.loadable, second.loadable, third.loadable) == (True, False, True)
    assert second.error == "loading it did not end within 3 s"


def test_what_comes_after_a_hang_is_not_called_broken(tmp_path: Path) -> None:
    hanging = compile_library(tmp_path / "libcufft.so.11", HANGS)
    _, after = _try([hanging, compile_library(tmp_path / "libcusparse.so.12")], deadline_s=2)
    assert after.loadable == Missing("not tried: time ran out")


def test_cudnn_is_loadable_only_with_the_parts_that_it_opens_later(tmp_path: Path) -> None:
    main = compile_library(tmp_path / "libcudnn.so.9", CUDNN.format(number=91002))
    for part in CUDNN_9_PARTS:
        compile_library(tmp_path / f"libcudnn_{part}.so.9")
    assert _try([main])[0].loadable is True
    (tmp_path / "libcudnn_cnn.so.9").write_bytes(b"\x7fELF")
    [cudnn] = _try([main])
    assert (cudnn.loadable, cudnn.version) == (False, "9.10.2")
    assert "libcudnn_cnn.so.9" in str(cudnn.error)


def test_a_library_known_to_lack_a_part_stays_unloadable(tmp_path: Path) -> None:
    path = compile_library(tmp_path / "libcudnn.so.9")
    library = Library(
        soname=path.name, path=str(path), loadable=False, error="libcudnn_ops.so.9 not found, which it needs"
    )
    [tried] = try_libraries([library], own_interpreter())
    assert (tried.loadable, tried.error) == (False, "libcudnn_ops.so.9 not found, which it needs")


def test_a_library_that_was_not_found_is_not_tried() -> None:
    library = Library(soname="libcudnn.so.9", path=Missing("not found"), loadable=False, error="not found")
    assert try_libraries([library], own_interpreter()) == (library,)


def test_a_path_of_the_machine_root_is_loaded_from_there(tmp_path: Path) -> None:
    compile_library(tmp_path / "usr/lib/libcudnn.so.9", CUDNN.format(number=90300))
    [library] = _try([Path("/usr/lib/libcudnn.so.9")], root=tmp_path)
    assert (library.path, library.version) == ("/usr/lib/libcudnn.so.9", "9.3.0")


def test_an_interpreter_that_cannot_be_started_is_an_os_error(tmp_path: Path) -> None:
    absent = Interpreter(
        version="3.11.7", executable=tmp_path / "python", prefix=tmp_path, base_prefix=tmp_path, path=()
    )
    with pytest.raises(FileNotFoundError):
        try_libraries([Library(soname="libx.so", path=sys.executable)], absent)
