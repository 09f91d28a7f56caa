"""Texts come as files, packed or not, in several encodings, without end of line, damaged, or not at all."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from pathlib import Path

import pytest

from gpudoctor.errors import UsageError
from gpudoctor.logs.intake import events_in, read_texts

LINE = "E cuda_driver.cc:1] failed call to cuInit: CUDA_ERROR_UNKNOWN\n"


def kinds(path: Path) -> list[str]:
    return [each.kind for each in read_texts([str(path)])]


@pytest.mark.parametrize(
    "data",
    [
        LINE.encode(),
        LINE.rstrip().encode(),
        LINE.replace("\n", "\r\n").encode(),
        LINE.encode("utf-16"),
        gzip.compress(LINE.encode()),
        gzip.compress(LINE.encode()) + gzip.compress(LINE.encode()),
        b"\xff\x00\n" + LINE.encode(),
    ],
    ids=["plain", "no end of line", "CRLF", "UTF-16", "gzip", "gzip in two members", "not UTF-8"],
)
def test_a_text_is_read_however_it_is_stored(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_bytes(data)

    assert kinds(path) == ["cuinit_failed", "text_end"]


def test_lines_count_on_over_several_texts(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\n", encoding="utf-8")
    (tmp_path / "b").write_text(LINE, encoding="utf-8")

    found = read_texts([str(tmp_path / "a"), str(tmp_path / "b")])

    assert next(each.line for each in found if each.kind == "cuinit_failed") == 3


def test_a_damaged_archive_is_an_error_with_its_cure(tmp_path: Path) -> None:
    path = tmp_path / "run.log.gz"
    path.write_bytes(gzip.compress(LINE.encode() * 1000)[:-20])

    with pytest.raises(UsageError, match="damaged gzip"):
        read_texts([str(path)])


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    for name in (tmp_path, tmp_path / "absent"):
        with pytest.raises(UsageError, match=str(name)):
            read_texts([str(name)])


class _Endless(io.RawIOBase):
    """Hands out the same block again and again."""

    def __init__(self, block: bytes, times: int) -> None:
        super().__init__()
        self._block, self._left = block, times

    def read(self, size: int = -1) -> bytes:
        del size  # always the whole block
        self._left -= 1
        return self._block if self._left >= 0 else b""


@pytest.mark.parametrize("block", [b"100/100 - 1s - loss: 0.3\n" * 8000, b"x" * 200_000], ids=["lines", "one line"])
def test_memory_does_not_grow_with_the_text(block: bytes) -> None:
    tracemalloc.start()
    for _ in events_in(_Endless(block, 120)):  # type: ignore[arg-type]  # only `read` is used
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 20 * 1024 * 1024
