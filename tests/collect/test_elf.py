"""Reading of shared libraries: what the loader reads, from sound, foreign and damaged files."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from gpudoctor.collect.elf import ElfError, OtherWordSizeError, read_dynamic, read_machine
from tests.collect.shared_objects import AARCH64, compile_library, write_elf

DAMAGES = 2000


def test_name_needs_and_search_path_are_read(tmp_path: Path) -> None:
    library = write_elf(
        tmp_path / "libx.so", soname="libx.so.1", needed=("liba.so.1", "libb.so.2"), runpath="$ORIGIN/../lib:/opt/b"
    )
    dynamic = read_dynamic(library)
    assert (dynamic.soname, dynamic.needed) == ("libx.so.1", ("liba.so.1", "libb.so.2"))
    assert (dynamic.runpath, dynamic.rpath) == (("$ORIGIN/../lib", "/opt/b"), ())


def test_doubles_and_empty_parts_of_a_search_path_are_left_out(tmp_path: Path) -> None:
    assert read_dynamic(write_elf(tmp_path / "x.so", rpath="/a:/b::/a:")).rpath == ("/a", "/b")


def test_a_search_path_longer_than_one_read_is_whole(tmp_path: Path) -> None:
    folders = tuple(f"$ORIGIN/../../nvidia/number_{index}/lib" for index in range(5000))
    assert read_dynamic(write_elf(tmp_path / "x.so", runpath=":".join(folders))).runpath == folders


def test_a_library_made_by_a_real_linker(tmp_path: Path) -> None:
    linker = ("--enable-new-dtags", "-rpath,$ORIGIN/one:$ORIGIN/two")
    source = '#include <stdio.h>\nvoid speak(void) { puts("here"); }'
    dynamic = read_dynamic(compile_library(tmp_path / "libreal.so", source, linker=linker, soname="libreal.so.7"))
    assert (dynamic.soname, dynamic.runpath, dynamic.rpath) == ("libreal.so.7", ("$ORIGIN/one", "$ORIGIN/two"), ())
    assert "libc.so.6" in dynamic.needed


def test_the_processor_is_told(tmp_path: Path) -> None:
    assert read_machine(write_elf(tmp_path / "x.so", machine=AARCH64)) == AARCH64


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an ELF executable")
def test_this_interpreter_can_be_read() -> None:
    assert read_dynamic(Path(sys.executable)).machine


def test_an_elf_file_of_32_bits_is_another_word_size(tmp_path: Path) -> None:
    library = tmp_path / "x.so"
    library.write_bytes(b"\x7fELF\x01\x01" + b"\0" * 100)
    with pytest.raises(OtherWordSizeError):
        read_machine(library)


@pytest.mark.parametrize("content", [b"", b"/* GNU ld script */ INPUT(libx.so.1)", b"\x7fELF\x02\x01"])
def test_what_is_no_elf_file_is_an_error(tmp_path: Path, content: bytes) -> None:
    library = tmp_path / "x.so"
    library.write_bytes(content)
    with pytest.raises(ElfError):
        read_dynamic(library)


def test_a_file_cut_short_anywhere_is_an_error(tmp_path: Path) -> None:
    whole = write_elf(tmp_path / "x.so", soname="libx.so.1", needed=("liba.so.1",), runpath="/opt/lib").read_bytes()
    for length in range(len(whole)):
        (tmp_path / "cut.so").write_bytes(whole[:length])
        with pytest.raises(ElfError):
            read_dynamic(tmp_path / "cut.so")


def test_a_damaged_file_is_never_worse_than_an_error(tmp_path: Path) -> None:
    whole = write_elf(tmp_path / "x.so", soname="libx.so.1", needed=("liba.so.1",), runpath="/opt/lib").read_bytes()
    chance = random.Random(20)  # noqa: S311  # the same damages in every run
    refused = 0
    for _ in range(DAMAGES):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            damaged[chance.randrange(16, len(damaged))] = chance.choice((0, 0x7F, 0xFF, chance.randrange(256)))
        (tmp_path / "damaged.so").write_bytes(damaged)
        try:
            read_dynamic(tmp_path / "damaged.so")
        except ElfError:
            refused += 1
    assert 0 < refused < DAMAGES, "both ends were tried"


def test_an_absent_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_dynamic(tmp_path / "none.so")
