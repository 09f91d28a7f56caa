"""What a dump and a line let predict, and in which order the ways out stand."""

from __future__ import annotations

import pytest

from gpudoctor.model.missing import Missing
from gpudoctor.probe.child_ladder import LADDER, fit, largest
from gpudoctor.sdk import LogEvent
from gpudoctor_checks.memory.dump_need import from_dump, sizes
from gpudoctor_checks.memory.ways_out import (
    Need,
    fits,
    from_line,
    mixed,
    parts_needed,
    smaller,
    ways,
)

MIB = 1 << 20
DUMP = LogEvent(
    kind="oom",
    line=812,
    values={
        "asked_bytes": str(800 * MIB),
        "in_use_bytes": str(37_000 * MIB),
        "limit_bytes": str(37_500 * MIB),
        "holders": f"23x{800 * MIB} 4x{100 * MIB}",
    },
)
TENSOR = LogEvent(kind="oom_tensor", values={"shape": "[256,112,112,64]"})
BATCH = 1000


def by_line(batch: int = BATCH, fixed_high: float = 100 * MIB, each_high: float = MIB) -> Need:
    return from_line(
        fixed=100 * MIB,
        each=MIB,
        fixed_high=fixed_high,
        each_high=each_high,
        batch=batch,
        limit=1000 * MIB,
        weights=20 * MIB,
    )


LINE = by_line()


def test_a_dump_bounds_the_need_from_below_only() -> None:
    peak = smaller(from_dump(DUMP, [TENSOR]), 2)
    assert peak.low_bytes == 18_900 * MIB
    assert isinstance(peak.high_bytes, Missing)
    assert "not be the step's last" in peak.high_bytes.reason


def test_a_dump_never_promises_that_a_way_suffices() -> None:
    found = from_dump(DUMP, [TENSOR])
    assert all(fix.gain.grade.value == "unproven" for fix in ways(found))
    assert fits(smaller(found, 2), found.limit) is None


def test_the_batch_is_named_where_a_shape_tells_it() -> None:
    by_id = {fix.id: fix for fix in ways(from_dump(DUMP, [TENSOR]))}
    assert by_id["smaller-batch"].text == "batch_size = 128"
    assert "gradient_accumulation_steps=2" in by_id["gradient-accumulation"].text


def test_the_least_need_the_pool_and_its_holders_are_shown_with_what_grows() -> None:
    shown = {each.label: each.value for each in sizes(DUMP, [TENSOR])}
    assert (shown["needed at least"], shown["pool"]) == (37_800 * MIB, 37_500 * MIB)
    assert shown["held by 23 x 800 MiB"] == 23 * 800 * MIB
    assert shown["grows with batch"] == "the 23 of 800 MiB, like the one asked for, if the batch is 256"


def test_without_a_dump_nothing_is_predicted_and_the_smallest_change_is_first() -> None:
    first, *rest = ways(Need())
    assert first.id == "smaller-batch"
    assert all(fix.peak is not None and isinstance(fix.peak.low_bytes, Missing) for fix in (first, *rest))


def test_by_the_line_what_fits_comes_first_and_what_cannot_comes_last() -> None:
    assert parts_needed(LINE) == 2
    assert [fix.id for fix in ways(LINE)] == [
        "gradient-accumulation",
        "smaller-batch",
        "mixed-precision-memory",
        "part-on-cpu",
    ]
    assert [fix.gain.grade.value for fix in ways(LINE)] == ["unblocks", "unblocks", "unproven", "unproven"]
    assert fits(ways(LINE)[3].peak or smaller(LINE, 2), LINE.limit) is False


def test_float16_saves_between_nothing_and_half_of_what_grows() -> None:
    peak = mixed(LINE)
    assert (peak.low_bytes, peak.high_bytes) == (600 * MIB, 1110 * MIB)


def test_what_no_trial_measures_is_called_a_bound() -> None:
    bounds = {fix.id: fix.peak.bound for fix in ways(LINE) if fix.peak is not None}
    assert bounds == {
        "gradient-accumulation": False,
        "smaller-batch": False,
        "mixed-precision-memory": True,
        "part-on-cpu": True,
    }
    assert "a bound: at best half of what grows" in mixed(LINE).basis
    assert all(fix.peak is not None and fix.peak.bound for fix in ways(from_dump(DUMP, [TENSOR]))[:3])


def test_a_part_of_the_batch_keeps_its_own_part_of_the_excess_only() -> None:
    above = by_line(fixed_high=110 * MIB, each_high=1.1 * MIB)
    assert smaller(above, 4).low_bytes == 350 * MIB
    assert smaller(above, 4).high_bytes == round(350 * 1.1 * MIB)


@pytest.mark.parametrize("rise", [0.0, 0.02, 0.2])
@pytest.mark.parametrize("parts", [1, 2, 8])
def test_what_surely_fits_is_what_the_ladders_largest_batch_promises(rise: float, parts: int) -> None:
    peaks = {size: round(2 * MIB + 6000 * size * (1 + rise * place % 0.4)) for place, size in enumerate(LADDER[:9])}
    line = fit(peaks)
    assert line is not None
    most = largest(line, 256 * MIB)

    def surely_fits(batch: int) -> bool | None:
        need = from_line(
            fixed=line.fixed,
            each=line.each,
            fixed_high=line.fixed_high,
            each_high=line.each_high,
            batch=batch * parts,
            limit=256 * MIB,
            weights=0,
        )
        return fits(smaller(need, parts), need.limit)

    assert surely_fits(most - 1) is True
    assert surely_fits(most + 2) is not True
