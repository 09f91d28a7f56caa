"""The predicted search of the dynamic loader, step by step, and against the real one."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from gpudoctor.collect.loader import Found, Loader
from gpudoctor.collect.loader_cache import LoaderCache
from tests.collect.shared_objects import AARCH64, compile_library, write_elf

WANTED = "libgpudoctor_wanted.so.1"  # a name that no system has
# Opens a library by name, as TensorFlow does, and tells which file came.
OPENER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
const char *open_it(const char *name) {
    struct link_map *map;
    void *handle = dlopen(name, RTLD_NOW);
    return handle && !dlinfo(handle, RTLD_DI_LINKMAP, &map) ? map->l_name : "";
}
"""
ASK = """
import ctypes, os, sys
opener = ctypes.CDLL(sys.argv[1])
opener.open_it.restype = ctypes.c_char_p
print(os.path.normpath(os.fsdecode(opener.open_it(sys.argv[2].encode())) or 'none'))
"""


def _loader(root: Path = Path("/"), library_path: str = "") -> Loader:
    return Loader(root=root, library_path=library_path, executable=Path(sys.executable))


def _found(found: tuple[Found, ...]) -> list[tuple[str, str]]:
    return [(each.by, each.shown) for each in found]


def test_the_order_is_library_path_then_runpath_then_cache_then_default(tmp_path: Path) -> None:
    root = tmp_path / "root"
    caller = write_elf(tmp_path / "app/libcaller.so", runpath="$ORIGIN/../near")
    for folder in (tmp_path / "mine", tmp_path / "near", root / "opt/cuda/lib64", root / "usr/lib"):
        write_elf(folder / WANTED)
    (root / "etc").mkdir()
    (root / "etc/ld.so.conf").write_text("/opt/cuda/lib64\n", encoding="utf-8")
    found = _loader(root, f"/nowhere:{tmp_path}/mine").find(WANTED, (caller,))
    assert _found(found) == [
        ("ld_library_path", f"{tmp_path}/mine/{WANTED}"),
        ("runpath", f"{tmp_path}/near/{WANTED}"),
        ("cache", f"/opt/cuda/lib64/{WANTED}"),
        ("default", f"/usr/lib/{WANTED}"),
    ]


def test_an_rpath_comes_before_the_library_path(tmp_path: Path) -> None:
    caller = write_elf(tmp_path / "app/libcaller.so", rpath="$ORIGIN/../near")
    write_elf(tmp_path / "near" / WANTED)
    write_elf(tmp_path / "mine" / WANTED)
    found = _loader(library_path=f"{tmp_path}/mine").find(WANTED, (caller,))
    assert [each.by for each in found] == ["rpath", "ld_library_path"]


def test_a_runpath_switches_the_rpath_off(tmp_path: Path) -> None:
    caller = write_elf(tmp_path / "libcaller.so", rpath=f"{tmp_path}/old", runpath=f"{tmp_path}/new")
    write_elf(tmp_path / "old" / WANTED)
    assert _loader().find(WANTED, (caller,)) == ()


def test_the_rpath_of_those_that_loaded_the_caller_counts_too(tmp_path: Path) -> None:
    caller = write_elf(tmp_path / "libcaller.so")
    above = write_elf(tmp_path / "libabove.so", rpath=f"{tmp_path}/old")
    write_elf(tmp_path / "old" / WANTED)
    assert [each.by for each in _loader().find(WANTED, (caller, above))] == ["rpath"]


def test_a_library_for_another_processor_is_passed_over(tmp_path: Path) -> None:
    caller = write_elf(tmp_path / "libcaller.so", runpath=f"{tmp_path}/a:{tmp_path}/b:{tmp_path}/c")
    write_elf(tmp_path / "a" / WANTED, machine=AARCH64)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / WANTED).write_bytes(b"\x7fELF\x01\x01" + b"\0" * 100)
    write_elf(tmp_path / "c" / WANTED)
    assert _found(_loader().find(WANTED, (caller,))) == [("runpath", f"{tmp_path}/c/{WANTED}")]


def test_a_damaged_library_is_taken_because_the_loader_stops_at_it(tmp_path: Path) -> None:
    caller = write_elf(tmp_path / "libcaller.so", runpath=f"{tmp_path}/a")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / WANTED).write_text("not a library", encoding="utf-8")
    assert len(_loader().find(WANTED, (caller,))) == 1


def test_a_link_to_the_same_file_is_no_rival(tmp_path: Path) -> None:
    caller = write_elf(tmp_path / "libcaller.so", runpath=f"{tmp_path}/a:{tmp_path}/b")
    write_elf(tmp_path / "a" / WANTED)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert len(_loader().find(WANTED, (caller,))) == 1


def test_a_dangling_link_is_not_found(tmp_path: Path) -> None:
    caller = write_elf(tmp_path / "libcaller.so", runpath=f"{tmp_path}")
    (tmp_path / WANTED).symlink_to(tmp_path / "gone")
    assert _loader().find(WANTED, (caller,)) == ()


def test_under_a_root_the_folders_of_this_machine_do_not_count(tmp_path: Path) -> None:
    caller = write_elf(tmp_path / "libcaller.so")
    assert _loader(tmp_path / "root").find("libc.so.6", (caller,)) == ()
    assert _loader().find("libc.so.6", (caller,)) != ()


def _cache_file(entries: dict[str, str]) -> bytes:
    strings, rows, start = b"", b"", 48 + 24 * len(entries)
    for name, path in entries.items():
        key = start + len(strings)
        strings += name.encode() + b"\0" + path.encode() + b"\0"
        rows += struct.pack("<iIIIQ", 0x0303, key, key + len(name) + 1, 0, 0)
    return b"glibc-ld.so.cache1.1" + struct.pack("<IIB3x4I", len(entries), len(strings), 2, 0, 0, 0, 0) + rows + strings


def test_the_cache_of_a_root_is_read(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    entries = {"libother.so.1": "/usr/lib/libother.so.1", WANTED: f"/opt/cuda/{WANTED}"}
    (tmp_path / "etc/ld.so.cache").write_bytes(b"ld.so-1.7.0" + b"\0" * 37 + _cache_file(entries))
    assert LoaderCache(tmp_path).paths(WANTED) == [f"/opt/cuda/{WANTED}"]
    assert LoaderCache(tmp_path).paths("libabsent.so.1") == []


@pytest.mark.parametrize("length", [10, 30, 60, 90])
def test_a_cache_cut_short_finds_nothing(tmp_path: Path, length: int) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/ld.so.cache").write_bytes(_cache_file({WANTED: f"/opt/{WANTED}"})[:length])
    assert LoaderCache(tmp_path).paths(WANTED) == []


def test_without_a_cache_the_configured_folders_stand_in_and_a_loop_of_includes_ends(tmp_path: Path) -> None:
    folder = tmp_path / "etc/ld.so.conf.d"
    folder.mkdir(parents=True)
    (tmp_path / "etc/ld.so.conf").write_text("include ld.so.conf.d/*.conf\n/opt/last # late\n", encoding="utf-8")
    (folder / "cuda.conf").write_text("/usr/local/cuda/lib64\ninclude /etc/ld.so.conf\n", encoding="utf-8")
    assert LoaderCache(tmp_path).paths("x") == ["/opt/last/x", "/usr/local/cuda/lib64/x"]


@pytest.mark.skipif(shutil.which("ldconfig", path="/sbin:/usr/sbin") is None, reason="needs ldconfig")
def test_this_machines_cache_says_what_ldconfig_says() -> None:
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    told: dict[str, list[str]] = {}
    for line in listing.splitlines()[1:]:
        name, _, path = line.strip().partition(" => ")
        if path:
            told.setdefault(name.split(" ", 1)[0], []).append(path)
    cache = LoaderCache(Path("/"))
    assert {name: cache.paths(name) for name in told} == told


# What is compared with the real loader: where the caller points to, where the file lies, LD_LIBRARY_PATH.
CASES = {
    "runpath": (("--enable-new-dtags", "-rpath,$ORIGIN/near"), ("app/near",), ""),
    "second folder of the runpath": (("--enable-new-dtags", "-rpath,$ORIGIN/far:$ORIGIN/near"), ("app/near",), ""),
    "library path before runpath": (("--enable-new-dtags", "-rpath,$ORIGIN/near"), ("app/near", "mine"), "{0}/mine"),
    "rpath before library path": (("--disable-new-dtags", "-rpath,$ORIGIN/near"), ("app/near", "mine"), "{0}/mine"),
    "semicolon in the library path": ((), ("mine",), "/none;{0}/mine"),
    "two folders in the library path": ((), ("one", "two"), "{0}/two:{0}/one"),
    "nowhere": (("--enable-new-dtags", "-rpath,$ORIGIN/near"), ("elsewhere",), ""),
    "braces": (("--enable-new-dtags", "-rpath,${ORIGIN}/../near"), ("near",), ""),
}


def _really_opened(caller: Path, name: str, library_path: str, folder: Path) -> str:
    variables = {**os.environ, "LD_LIBRARY_PATH": library_path}
    command = [sys.executable, "-c", ASK, str(caller), name]
    return subprocess.run(command, env=variables, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("case", CASES)
def test_the_prediction_is_what_the_real_loader_opens(case: str, tmp_path: Path) -> None:
    linker, places, template = CASES[case]
    caller = compile_library(tmp_path / "app/libcaller.so", OPENER, linker=linker)
    for place in places:
        compile_library(tmp_path / place / WANTED)
    library_path = template.format(tmp_path)
    found = _loader(library_path=library_path).find(WANTED, (caller,))
    predicted = found[0].shown if found else "none"
    assert _really_opened(caller, WANTED, library_path, tmp_path) == predicted


def test_a_library_of_another_kind_in_front_is_passed_over_by_the_real_loader_as_well(tmp_path: Path) -> None:
    linker = ("--enable-new-dtags", "-rpath,$ORIGIN/foreign:$ORIGIN/near")
    caller = compile_library(tmp_path / "app/libcaller.so", OPENER, linker=linker)
    write_elf(tmp_path / "app/foreign" / WANTED, machine=AARCH64)
    near = compile_library(tmp_path / "app/near" / WANTED)
    assert _loader().find(WANTED, (caller,))[0].path == near
    assert _really_opened(caller, WANTED, "", tmp_path) == str(near)
