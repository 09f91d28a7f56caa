"""Counting of GPU code objects in a library."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.collect.elf import ElfError
from gpudoctor.collect.fatbin import count_code_objects
from tests.collect.real_environments import gpu_tensorflow
from tests.collect.shared_objects import fat_binary, write_elf

PTX, SASS = 1, 2


def test_code_is_counted_by_kind_and_architecture_in_both_sections(tmp_path: Path) -> None:
    full = fat_binary((SASS, 80), (SASS, 90), (PTX, 90))
    partial = fat_binary((SASS, 80), (PTX, 90))
    library = write_elf(
        tmp_path / "x.so", sections={".rodata": b"text" + partial * 3 + b"\0" * 7 + partial, ".nv_fatbin": full * 2}
    )
    assert count_code_objects(library) == {"sm_80": 6, "sm_90": 2, "compute_90": 6}


def test_a_library_without_gpu_code_has_none(tmp_path: Path) -> None:
    assert count_code_objects(write_elf(tmp_path / "x.so", sections={".rodata": b"nothing"})) == {}
    assert count_code_objects(write_elf(tmp_path / "y.so")) == {}


def test_the_magic_number_by_chance_is_passed_over(tmp_path: Path) -> None:
    body = b"\x50\xed\x55\xba" * 5 + fat_binary((SASS, 75))
    assert count_code_objects(write_elf(tmp_path / "x.so", sections={".nv_fatbin": body})) == {"sm_75": 1}


@pytest.mark.parametrize("content", [b"x" * 100, b"\x7fELF\x02\x01" + b"\xff" * 100])
def test_what_is_no_library_is_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.so").write_bytes(content)
    with pytest.raises(ElfError):
        count_code_objects(tmp_path / "x.so")


def test_the_official_wheel_has_the_counts_that_were_read_before() -> None:
    package, version = gpu_tensorflow()
    if version != "2.20.0":
        pytest.skip(f"counts are known for 2.20.0, here is {version}")
    assert count_code_objects(package / "libtensorflow_cc.so.2") == {
        "sm_60": 1397, "sm_70": 1397, "sm_80": 1397, "sm_89": 1397, "sm_90": 248, "compute_90": 1397,
    }  # fmt: skip
