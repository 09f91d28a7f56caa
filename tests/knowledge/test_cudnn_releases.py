"""Which cuDNN has code for which GPU, and which one TensorFlow accepts."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gpudoctor.knowledge import cudnn_releases as cudnn
from gpudoctor.knowledge import tensorflow_releases, versions


def test_9_11_drops_maxwell_pascal_and_volta() -> None:
    for cc in ("5.2", "6.0", "6.1", "7.0"):
        assert cudnn.has_code_for("9.10.2.21", cc) is True
        assert cudnn.has_code_for("9.11.0.98", cc) is False
        assert cudnn.has_code_for("9.28.0.42", cc) is False
        assert cudnn.last_with(cc) == "9.10"
    assert cudnn.next_after("9.10") == "<9.11"


@pytest.mark.parametrize(
    ("version", "cc", "expected"),
    [
        ("8.7.0.84", "3.5", True),
        ("8.8.0", "3.5", False),
        ("9.3.0.75", "8.9", True),
        ("9.3.0.75", "12.0", False),
        ("9.7.0", "12.0", True),
        ("9.28.0.42", "7.5", True),
        ("9.20.1", "8.6", True),  # not opened, but both neighbours and the range agree
        ("9.20.1", "7.0", False),
        ("9.5.1", "12.0", None),  # the range says no, the next wheel that was opened says yes
        ("8.2.4", "8.9", None),
        ("9.29.0", "8.6", None),
        ("10.0.0", "8.6", None),
        ("unknown", "8.6", None),
    ],
)
def test_code_is_claimed_only_where_it_was_read_or_is_beyond_doubt(
    version: str, cc: str, *, expected: bool | None
) -> None:
    assert cudnn.has_code_for(version, cc) is expected


@pytest.mark.parametrize(
    ("cc", "expected"), [("3.5", "8.7"), ("7.5", "9.28"), ("9.0", "9.28"), ("12.0", "9.28"), ("1.0", None)]
)
def test_the_last_release_with_code_for_a_gpu(cc: str, expected: str | None) -> None:
    assert cudnn.last_with(cc) == expected


@pytest.mark.parametrize(
    ("number", "text"), [(7605, "7.6.5"), (8907, "8.9.7"), (90300, "9.3.0"), (91002, "9.10.2"), (92800, "9.28.0")]
)
def test_version_numbers_are_decoded_in_both_forms(number: int, text: str) -> None:
    assert cudnn.decode(number) == text


def test_tensorflow_accepts_the_same_major_with_the_same_or_a_newer_minor() -> None:
    assert cudnn.accepts("9.3", "9.3.0.75")
    assert cudnn.accepts("9.3", "9.28.0")
    assert not cudnn.accepts("9.3", "9.1.0")
    assert not cudnn.accepts("9.3", "8.9.7")
    assert not cudnn.accepts("8.9", "9.3.0")
    assert cudnn.accepts("9", "9.0.0"), "a build that names only its major is judged by that"
    with pytest.raises(ValueError, match="not a cuDNN version"):
        cudnn.accepts("9.3", "none")


def test_every_tensorflow_release_accepts_the_cudnn_that_its_extra_pins() -> None:
    for each in tensorflow_releases.RELEASES:
        assert each.cudnn_version is not None
        assert cudnn.release_of(each.cudnn_version) is not None
        if each.cudnn_exact is not None:
            assert cudnn.accepts(each.cudnn_version, each.cudnn_exact)


def test_rows_are_in_order_without_holes_between_their_spans() -> None:
    rows = [each for each in cudnn.RELEASES if each.major == 9]
    assert all(second.first_minor == first.last_minor + 1 for first, second in pairwise(rows))


def test_every_row_has_a_source_and_a_read_wheel_where_it_is_verified() -> None:
    for each in cudnn.RELEASES:
        assert each.source
        assert (each.wheel is not None) == each.verified == bool(each.sass)
        if each.wheel is not None:
            assert versions.parse(each.wheel)[:2] == (each.major, each.first_minor)
