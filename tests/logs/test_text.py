"""Sizes, escapes and the sieve of words that spares most lines the patterns."""

from __future__ import annotations

import pytest

from gpudoctor.logs.sieve import Sieve, trie_expression
from gpudoctor.logs.text import printable, size_bytes, without_escapes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0B", 0),
        ("268435456", 268435456),
        ("4.5KiB", 4608),
        ("34.10MiB", 35756442),
        ("1.00GiB", 1 << 30),
        ("3.30G", 3543348019),
    ],
)
def test_a_size_becomes_bytes(text: str, size: int) -> None:
    assert size_bytes(text) == size


@pytest.mark.parametrize("text", ["", "MiB", "1.0 parsec", "-5"])
def test_what_is_no_size_is_none(text: str) -> None:
    assert size_bytes(text) is None


@pytest.mark.parametrize(
    "text", ["\x1b[1;31mred\x1b[0m", "\x1b]8;;http://x\x1b\\red", "\x1b(Bred", "\x1b[?25lred\x1b[K"]
)
def test_terminal_escapes_go_and_the_text_stays(text: str) -> None:
    assert without_escapes(text) == "red"


def test_control_and_direction_characters_become_spaces() -> None:
    assert printable("a\x07b\x9bc\u202ed") == "a b c d"


def test_the_sieve_passes_lines_with_an_anchor_and_drops_the_rest() -> None:
    block = "one\nthe Anchor is here\ntwo\nA Key and an Anchor\n"

    lines = list(Sieve(("Anchor", "Key")).lines(block))

    assert [(line.text, line.anchor) for line in lines] == [
        ("the Anchor is here", "Anchor"),
        ("A Key and an Anchor", "Key"),
    ]


def test_of_two_anchors_where_one_begins_the_other_the_shorter_is_searched() -> None:
    assert trie_expression(["CUDA_ERROR_", "CUDA_ERROR_OUT"]) == trie_expression(["CUDA_ERROR_"])


def test_an_anchor_with_the_rare_word_is_found_where_the_block_holds_it() -> None:
    sieve = Sieve((": nan", "Key"))
    assert [each.text for each in sieve.lines("loss: 0.3\nKey 1\n")] == ["Key 1"]
    assert [each.text for each in sieve.lines("loss: nan\nKey 1\n")] == ["loss: nan", "Key 1"]


def test_where_all_anchors_have_the_rare_word_a_block_without_it_holds_none() -> None:
    assert list(Sieve((": nan",)).lines("loss: 0.3\n")) == []
