"""The 21 machines of the robustness matrix, scanned by the real command with the real NVML bindings."""

from __future__ import annotations

import pytest

from tests.fakes import FURTHER_SCENARIOS, SCENARIOS
from tests.slow_machines import in_time
from tests.system.command import cause_of
from tests.system.scenes import (
    TRIES,
    Scan,
    assert_ends_in_time,
    assert_the_truth_is_told,
    assert_well_behaved,
    scan,
)
from tests.system.schemas import Schema
from tests.system.target import StandIn

SCANS: dict[str, Scan] = {}
FURTHER = ("hang_at_init", "segfault", "segfault_at_init", "no_nvml", "no_libcuda", "compat_on_geforce", "uvm_missing")
ALL = {**SCENARIOS, **FURTHER_SCENARIOS}


@pytest.fixture
def seen(request: pytest.FixtureRequest, stand_in: StandIn, tmp_path_factory: pytest.TempPathFactory) -> Scan:
    """Return the scans of one machine, made once for all tests of this module."""
    name = str(request.param)
    if name not in SCANS:
        SCANS[name] = scan(ALL[name], stand_in.python, tmp_path_factory.mktemp(name))
    return SCANS[name]


matrix = pytest.mark.parametrize("seen", SCENARIOS, indirect=True)
everything = pytest.mark.parametrize("seen", [*SCENARIOS, *FURTHER], indirect=True)


@everything
def test_the_scan_ends_without_a_traceback_and_fits_the_screen(seen: Scan) -> None:
    assert_well_behaved(seen)


@everything
def test_the_scan_ends_within_a_second_of_its_deadline(seen: Scan) -> None:
    assert_ends_in_time(seen.json, seen.again)


@matrix
def test_the_true_reason_is_the_primary_cause_and_nothing_is_called_healthy(seen: Scan) -> None:
    assert_the_truth_is_told(seen)


@everything
def test_report_and_snapshot_hold_to_their_schemas(seen: Scan, report_schema: Schema, snapshot_schema: Schema) -> None:
    report_schema.validate(seen.report)
    snapshot_schema.validate(seen.report["snapshot"])


@everything
def test_the_saved_snapshot_gives_the_same_findings(seen: Scan) -> None:
    live, replayed = seen.report, seen.replay.document
    assert replayed["findings"] == live["findings"]
    assert replayed["fixes"] == live["fixes"]
    assert replayed["summary"] == live["summary"]
    assert seen.replay.code == seen.json.code


@everything
def test_the_exit_code_follows_the_findings_in_both_formats(seen: Scan) -> None:
    broken = any(each["severity"] == "error" for each in seen.report["findings"])
    assert (seen.json.code, seen.text.code) == ((1, 1) if broken else (0, 0))


@everything
def test_no_report_tells_who_uses_which_gpu(seen: Scan) -> None:
    uuids = [str(gpu["uuid"]) for gpu in seen.scenario.gpus]
    for text in (seen.json.out, seen.text.out, seen.snapshot.read_text(encoding="utf-8")):
        assert not [uuid for uuid in uuids if uuid in text]
        assert seen.env["HOME"] not in text


@everything
def test_the_first_line_is_there_within_a_second_however_long_the_rest_takes(seen: Scan) -> None:
    assert seen.text.lines[0].startswith("Target   ")
    times = [seen.text.first_line_s]
    while not in_time(times[-1], 1.0):
        assert len(times) < TRIES, times
        times.append(seen.again().first_line_s)


def test_a_hot_gpu_does_not_hide_that_the_driver_is_too_old(
    stand_in: StandIn, tmp_path_factory: pytest.TempPathFactory
) -> None:
    name = "old_driver"
    both = SCANS.get(name) or scan(SCENARIOS[name], stand_in.python, tmp_path_factory.mktemp(name))
    assert {"driver-too-old", "throttle"} <= {each["cause"] for each in both.report["findings"]}


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        (name, scenario.expected_cause)
        for name, scenario in FURTHER_SCENARIOS.items()
        if scenario.expected_cause is not None and name not in {"falls_off_later", "wide_process_records"}
    ],
)
def test_further_faults_are_named_too(
    name: str, cause: str, stand_in: StandIn, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if name not in SCANS:
        SCANS[name] = scan(FURTHER_SCENARIOS[name], stand_in.python, tmp_path_factory.mktemp(name))
    assert cause_of(SCANS[name].report) == cause, SCANS[name].text.out


@pytest.mark.parametrize("name", [name for name, each in FURTHER_SCENARIOS.items() if each.healthy])
def test_a_healthy_gpu_has_nothing_above_info(
    name: str, stand_in: StandIn, tmp_path_factory: pytest.TempPathFactory
) -> None:
    healthy = scan(FURTHER_SCENARIOS[name], stand_in.python, tmp_path_factory.mktemp(name))
    assert_well_behaved(healthy)
    loud = [each for each in healthy.report["findings"] if each["severity"] != "info"]
    assert not loud
    assert healthy.report["summary"]["status"] == "healthy", healthy.text.out
    assert healthy.json.code == 0
