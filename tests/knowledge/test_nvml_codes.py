"""Clock events, NVML return codes and Xids: bits, words and lines."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from gpudoctor.knowledge import clock_events, nvml_returns, xids


def test_a_mask_is_decoded_bit_by_bit() -> None:
    assert clock_events.decode(0) == ()
    assert clock_events.decode(0x1) == ("GpuIdle",)
    assert clock_events.decode(0x4 | 0x40 | 0x8) == ("SwPowerCap", "HwSlowdown", "HwThermalSlowdown")


def test_an_unknown_bit_is_shown_and_not_swallowed() -> None:
    assert clock_events.decode(0x4 | 0x8000) == ("SwPowerCap", "Unknown0x8000")
    assert clock_events.severity("Unknown0x8000") is None


@pytest.mark.parametrize("name", ["GpuIdle", "ApplicationsClocksSetting", "SyncBoost", "DisplayClockSetting"])
def test_idle_clocks_and_clocks_that_somebody_set_are_no_throttling(name: str) -> None:
    assert clock_events.severity(name) in {"idle", "config"}


@pytest.mark.parametrize(
    "name", ["SwPowerCap", "HwSlowdown", "SwThermalSlowdown", "HwThermalSlowdown", "HwPowerBrakeSlowdown"]
)
def test_power_heat_and_brakes_are_throttling(name: str) -> None:
    assert clock_events.severity(name) in {"power", "thermal", "critical"}


def test_bits_and_constants_are_those_of_the_official_bindings() -> None:
    pynvml = import_module("pynvml")
    for each in clock_events.CLOCK_EVENTS:
        if hasattr(pynvml, each.constant):
            assert getattr(pynvml, each.constant) == each.bit


def test_return_codes_are_those_of_the_official_bindings() -> None:
    pynvml = import_module("pynvml")
    for each in nvml_returns.NVML_RETURNS:
        assert getattr(pynvml, each.name, each.code) == each.code


@pytest.mark.parametrize(
    ("code", "word"),
    [
        (0, "ok"), (3, "not_supported"), (4, "no_permission"), (9, "driver_not_loaded"), (10, "timeout"), (12, "library_not_found"),
        (15, "gpu_lost"), (16, "reset_required"), (18, "version_mismatch"), (999, "unknown_error"), (4711, "unknown_error"),
    ],
)  # fmt: skip
def test_return_codes_have_the_words_of_the_snapshot(code: int, word: str) -> None:
    assert nvml_returns.word(code) == word


def test_words_are_unique_and_made_of_lower_case() -> None:
    words = [each.status for each in nvml_returns.NVML_RETURNS]
    assert len(words) == len(set(words))
    assert all(re.fullmatch(r"[a-z_]+", word) for word in words)


def test_an_unknown_code_is_not_explained() -> None:
    assert nvml_returns.word(4711) == nvml_returns.UNKNOWN_STATUS
    assert xids.xid(4711) is None


def test_xid_79_is_hardware_and_xid_13_the_application() -> None:
    lost, exception = xids.xid(79), xids.xid(13)
    assert lost is not None
    assert exception is not None
    assert (lost.category, exception.category) == ("hardware", "app")


def test_actions_are_explained_or_plain_words() -> None:
    explained = set(xids.BUCKETS)
    plain = {
        "INVESTIGATE_SW",
        "INVESTIGATE_LINK_SI",
        "WORKFLOW_NVLINK_ERR",
        "WORKFLOW_NVLINK5_ERR",
        "XID_137_FLOW",
        "XID_154",
    }
    for each in xids.XIDS:
        action = each.immediate_action
        if action is not None and action.isupper():
            assert action in explained | plain, each.code


def test_every_row_has_a_source() -> None:
    assert all(each.source for each in clock_events.CLOCK_EVENTS)
    assert all(each.source for each in nvml_returns.NVML_RETURNS)
    assert all(each.source for each in xids.XIDS)
