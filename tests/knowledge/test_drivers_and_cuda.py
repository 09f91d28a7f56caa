"""Which driver a toolkit needs, which branch a number belongs to, and until when it is kept."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest

from gpudoctor.knowledge import cuda_toolkits, drivers, tensorflow_releases, versions

TODAY = date(2026, 11, 30)


def number(branch: drivers.Branch | None) -> str | None:
    return None if branch is None else branch.number


def test_wsl_reports_the_windows_number_so_573_76_is_r570() -> None:
    assert number(drivers.branch_of("573.76", windows=True)) == "570"
    assert drivers.branch_of("573.76") is None, "no Linux branch has that number"


@pytest.mark.parametrize(
    ("version", "expected"),
    [("580.95.05", "580"), ("535.309.01", "535"), ("418.87.00", "418"), ("384.130", None), ("N/A", None)],
)
def test_a_linux_number_starts_with_its_branch(version: str, expected: str | None) -> None:
    assert number(drivers.branch_of(version)) == expected


@pytest.mark.parametrize("branch", drivers.BRANCHES, ids=str)
def test_the_latest_numbers_of_a_branch_are_found_in_it_again(branch: drivers.Branch) -> None:
    if branch.latest_linux is not None:
        assert drivers.branch_of(branch.latest_linux) is branch
    if branch.latest_windows is not None:
        assert drivers.branch_of(branch.latest_windows, windows=True) is branch


def test_windows_ranges_do_not_overlap() -> None:
    spans = sorted(each.windows for each in drivers.BRANCHES if each.windows is not None)
    assert all(first[1] < second[0] for first, second in pairwise(spans))


def test_toolkit_drivers_of_windows_fall_into_the_branch_of_the_linux_driver() -> None:
    for each in cuda_toolkits.TOOLKITS:
        if each.driver_windows is not None and each.driver_linux is not None:
            branch = drivers.branch_of(each.driver_windows, windows=True)
            assert branch is drivers.branch_of(each.driver_linux), each.version


def test_535_is_past_its_end_of_life_and_580_is_not() -> None:
    old, kept = drivers.branch("535"), drivers.branch("580")
    assert old is not None
    assert kept is not None
    assert drivers.end_of_life(old, TODAY) == date(2026, 6, 1)
    assert drivers.end_of_life(old, date(2026, 5, 31)) is None
    assert drivers.end_of_life(kept, TODAY) is None


@pytest.mark.parametrize("branch", drivers.BRANCHES, ids=str)
def test_on_the_day_of_the_facts_the_dates_agree_with_the_state(branch: drivers.Branch) -> None:
    assert (drivers.end_of_life(branch, TODAY) is not None) == (branch.state == "end of life")


@pytest.mark.parametrize(
    ("cc", "recommended", "last"),
    [
        ("2.0", "390", "390"), ("3.7", "470", "470"), ("5.2", "580", "580"), ("6.1", "580", "580"), ("7.0", "580", "580"),
        ("7.5", "580", None), ("8.6", "580", None), ("12.0", "580", None),
    ],
)  # fmt: skip
def test_each_gpu_is_sent_to_a_branch_that_drives_it(cc: str, recommended: str, last: str | None) -> None:
    assert drivers.recommended_branch(cc).number == recommended
    assert number(drivers.last_branch_for(cc)) == last


def test_the_recommended_branch_is_kept_and_knows_blackwell() -> None:
    recommended = drivers.recommended_branch()
    assert drivers.end_of_life(recommended, TODAY) is None
    assert int(recommended.number) >= 570, "the first branch that knows Blackwell"


def test_binary_code_needs_the_minimum_of_its_major_and_ptx_the_driver_of_its_toolkit() -> None:
    assert cuda_toolkits.minimum_driver("12.5.1") == "525.60.13"
    assert cuda_toolkits.toolkit_driver("12.5.1") == "555.42.02"
    assert cuda_toolkits.ptx_driver("12.5.1") == "555.42.02"
    assert cuda_toolkits.minimum_driver("11.2") == "450.80.02"
    assert cuda_toolkits.minimum_driver("13.0") == "580.65.06"
    assert cuda_toolkits.minimum_driver("12.5", windows=True) == "527.41"


def test_cuda_12_6_writes_the_ptx_of_12_5_so_the_older_driver_compiles_it() -> None:
    assert cuda_toolkits.toolkit_driver("12.6") == "560.28.03"
    assert cuda_toolkits.ptx_driver("12.6") == "555.42.02"


def test_before_cuda_11_each_toolkit_needs_its_own_driver() -> None:
    assert cuda_toolkits.minimum_driver("10.1") == "418.39"


@pytest.mark.parametrize("version", ["12.7", "9.0", "14.0", "", "unknown"])
def test_unknown_toolkits_stay_unknown(version: str) -> None:
    assert cuda_toolkits.toolkit(version) is None
    assert cuda_toolkits.toolkit_driver(version) is None
    assert cuda_toolkits.ptx_driver(version) is None


def test_a_major_after_the_table_has_no_minimum() -> None:
    assert cuda_toolkits.minimum_driver("14.0") is None
    assert cuda_toolkits.sonames("14.0") == {}


def test_every_tensorflow_release_has_a_toolkit_row() -> None:
    for each in tensorflow_releases.RELEASES:
        assert each.cuda_version is not None
        assert cuda_toolkits.toolkit(each.cuda_version) is not None


def test_later_toolkits_ship_later_drivers() -> None:
    shipped = [each.driver_linux for each in cuda_toolkits.TOOLKITS if each.driver_linux is not None]
    assert all(versions.at_least(second, first) for first, second in pairwise(shipped))


def test_cuda_13_dropped_volta_and_names_of_architectures_follow_the_matrix() -> None:
    row = cuda_toolkits.toolkit("13.0")
    assert row is not None
    assert 70 in row.sm_dropped
    volta = cuda_toolkits.architecture("7.0")
    assert volta is not None
    assert (volta.name, volta.last_branch) == ("Volta", "580")
    assert cuda_toolkits.architecture("9.9") is None


def test_every_row_has_a_source() -> None:
    assert all(each.source for each in drivers.BRANCHES)
    assert all(each.source for each in cuda_toolkits.TOOLKITS)
    assert all(each.source for each in cuda_toolkits.ARCHITECTURES)
