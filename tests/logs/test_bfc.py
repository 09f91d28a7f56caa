"""The allocator's dump, as TensorFlow printed it, becomes figures that can be computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.logs.bfc import BfcDump, parse_dump
from gpudoctor.logs.reader import read_events
from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import LogEvent

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
MIB = 1 << 20
# The script of the three texts: a region of 60 MiB and TensorFlow's first, small one (1 or 2 MiB); blocks of 4 MiB, every
# second freed, 24 MiB asked. (bytes of the whole pool: the limit)
FRAGMENTED = ("tf-2.4-oom-fragmentation", "tf-2.20-oom-fragmentation", "tf-2.21-oom-fragmentation")
FULL = ("tf-1.13-oom-full", "tf-1.15-oom-full", "tf-2.21-oom-full")


def lines_of(name: str) -> list[str]:
    return (LOGS / f"{name}.log").read_text(encoding="utf-8").splitlines(keepends=True)


def the_oom(lines: list[str]) -> LogEvent:
    (event,) = [event for event in read_events(lines) if event.kind == "oom"]
    return event


@pytest.mark.parametrize("name", [*FRAGMENTED, *FULL])
def test_a_whole_dump_of_every_release_is_counted_to_the_byte(name: str) -> None:
    dump = parse_dump(lines_of(name))

    assert dump.complete
    assert not isinstance(dump.total_bytes, Missing)
    assert not isinstance(dump.in_use_bytes, Missing)
    assert not isinstance(dump.free_bytes, Missing)
    assert dump.total_bytes == dump.in_use_bytes + dump.free_bytes
    assert isinstance(dump.fragmentation_share, float)


@pytest.mark.parametrize("name", FRAGMENTED)
def test_an_oom_with_more_free_than_asked_is_a_fragmentation_oom(name: str) -> None:
    event = the_oom(lines_of(name))

    assert event.values["shortage"] == "fragmentation"
    assert int(event.values["asked_bytes"]) == 24 * MIB < int(event.values["free_bytes"])
    assert int(event.values["largest_free_bytes"]) == 4 * MIB


@pytest.mark.parametrize("name", FRAGMENTED)
def test_the_share_is_counted_from_chunks_and_not_from_largest_free_block(name: str) -> None:
    event = the_oom(lines_of(name))
    free = int(event.values["free_bytes"])

    assert any("LargestFreeBlock" in line and line.split()[-1] in {"0", "0B"} for line in lines_of(name))
    assert abs(float(event.values["fragmentation_share"]) - (1 - 4 * MIB / free)) < 1e-4


@pytest.mark.parametrize("name", FULL)
def test_an_oom_for_more_than_is_free_is_no_fragmentation(name: str) -> None:
    assert the_oom(lines_of(name)).values["shortage"] in {"full", "split_pool"}


def test_the_pool_that_could_grow_but_not_enough_is_told_apart() -> None:
    dump = BfcDump(asked_bytes=150, total_bytes=100, in_use_bytes=0, free_bytes=100, limit_bytes=200)

    assert dump.shortage == "split_pool"


def test_who_holds_most_is_listed_first() -> None:
    assert the_oom(lines_of("tf-2.21-oom-fragmentation")).values["holders"].startswith("7x4194304 1x6291456")


def test_the_last_thirty_lines_still_tell_a_fragmentation_oom() -> None:
    lines = lines_of("tf-2.21-oom-fragmentation")
    asked = next(index for index, line in enumerate(lines) if "ran out of memory" in line)

    event = the_oom([lines[asked], *lines[-30:]])

    assert event.values["dump"] == "partial"
    assert event.values["shortage"] == "fragmentation"
    assert "largest_free_bytes" not in event.values
    assert "fragmentation_share" not in event.values


def test_a_dump_without_its_head_gives_sums_and_no_verdict() -> None:
    event = the_oom(lines_of("tf-2.20-oom-fragmentation")[-25:])

    assert event.values["dump"] == "partial"
    assert event.values["limit_bytes"] == str(64 * MIB)
    assert "shortage" not in event.values


def test_a_dump_with_lines_missing_in_the_middle_is_not_taken_for_whole() -> None:
    lines = lines_of("tf-2.21-oom-fragmentation")
    first = next(index for index, line in enumerate(lines) if "Free  at" in line)

    assert not parse_dump(lines[:first] + lines[first + 1 :]).complete


def test_other_lines_between_do_not_disturb_a_dump() -> None:
    plain = lines_of("tf-2.21-oom-fragmentation")
    mixed = [each for line in plain for each in (line, "469/469 - 1s - loss: 0.31\n")]

    assert the_oom(mixed).values == the_oom(plain).values


def test_two_dumps_in_one_text_stay_apart() -> None:
    events = read_events([*lines_of("tf-2.21-oom-fragmentation"), *lines_of("tf-2.21-oom-full")])

    assert [event.values["shortage"] for event in events if event.kind == "oom"] == ["fragmentation", "full"]


@pytest.mark.parametrize(
    "chunks",
    [
        ("InUse at 0x7f1c4f000200 next 3 of size 2048", "Free  at 0x7f1c4f000a00 next 4 of size 256"),
        (
            "InUse at 00000007EDB34500 next 867 of size 2048",
            "Free  at 00000007EDB34D00 next 18446744073709551615 of size 256",
        ),
        (
            "InUse at 7f61 of size 2048 by op Fill action_count 4 step 0 next 1",
            "Free  at 7f62 of size 256 by op UNUSED next 2",
        ),
        ("InUse at 7f61 of size 2048 tag lower next 1", "Free  at 7f62 of size 256 tag central_gap next 2"),
    ],
    ids=["TF 1.14", "Windows", "memory debug build", "2026"],
)
def test_each_form_of_a_chunk_is_read(chunks: tuple[str, str]) -> None:
    dump = parse_dump(
        [
            "Bin for 1.0MiB was 1.0MiB, Chunk State: ",
            "Next region of size 2304",
            *chunks,
            "Sum Total of in-use chunks: 2.0KiB",
        ]
    )

    assert dump.complete
    assert (dump.in_use_bytes, dump.free_bytes) == (2048, 256)


def test_a_full_pool_has_no_fragmentation() -> None:
    assert BfcDump(free_bytes=0, largest_free_bytes=0).fragmentation_share == 0.0


STATS_ALONE = (
    "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.30GiB.  Current allocation summary follows.\n",
    "1 Chunks of size 2468347904 totalling 2.30GiB\n",
    "Sum Total of in-use chunks: 4.47GiB\n",
    "Stats: \n",
    "Limit:                  8847717172\n",
    "InUse:                  4797028096\n",
)


def test_what_was_once_in_use_shows_pieces_where_the_chunks_are_cut_off() -> None:
    once = the_oom([*STATS_ALONE, "MaxInUse:               7450003456\n"])
    assert once.values["shortage"] == "fragmentation"
    never = the_oom([*STATS_ALONE, "MaxInUse:               4897028096\n"])
    assert "shortage" not in never.values
