"""Which libraries a child has mapped, read from its own memory map."""

from __future__ import annotations

from pathlib import Path

from tests.probe.for_target import modules

PROBE = Path(__file__).parents[2] / "gpudoctor" / "probe"
MAPS = """7f00-7f10 r-xp 00000000 fd:00 1 /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05
7f10-7f20 rw-p 00000000 fd:00 1 /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05
7f20-7f30 r-xp 00000000 fd:00 2 /venv/nvidia/cublas/lib/libcublasLt.so.12
7f30-7f40 r-xp 00000000 fd:00 3 /usr/local/cuda/lib64/libnccl.so.2.25.1
7f40-7f50 rw-p 00000000 00:00 0 [heap]
"""


def test_each_library_is_told_once_by_its_soname_and_the_version_in_its_name(tmp_path: Path) -> None:
    (tmp_path / "maps").write_text(MAPS, encoding="utf-8")
    (child,) = modules(str(PROBE), "child")
    told = child.loaded(str(tmp_path / "maps"))
    assert [(each["soname"], each["version"]) for each in told] == [
        ("libcuda.so.1", "580.95.05"),
        ("libcublasLt.so.12", None),
        ("libnccl.so.2", "2.25.1"),
    ]
