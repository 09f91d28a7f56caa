"""GD801: what a board does by design, or was told to do, is not throttling; hardware that protects itself is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Finding, Grade, Severity
from gpudoctor.model.gpu import Clocks, Gpu, Power
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.hardware.throttle import throttled
from tests.checks.case import Case
from tests.checks.machines import broken, healthy_h100, make_gpu, make_machine, on_cpu, trained, with_trial, without


def a_gpu(*reasons: str, sm_mhz: int = 1980, limit_w: float = 700.0, draw_w: float = 640.0, hot: int = 70) -> Gpu:
    return replace(
        make_gpu(),
        throttle_reasons=reasons,
        clocks=Clocks(sm_mhz=sm_mhz, sm_max_mhz=1980),
        power=Power(draw_w=draw_w, limit_w=limit_w, default_limit_w=700.0),
        temperature_c=hot,
    )


def a_machine(*gpus: Gpu) -> Snapshot:
    return with_trial(make_machine(gpus), None)


def the_finding(machine: Snapshot) -> Finding:
    (finding,) = judge(throttled, machine).findings
    return finding


HOT = a_machine(a_gpu("HwThermalSlowdown", "HwSlowdown", sm_mhz=870, hot=93))
CASE = Case(
    check_code="GD801",
    fires=HOT,
    near_miss=with_trial(a_machine(a_gpu("SwPowerCap", draw_w=699.0)), trained()),
    lacking=without(HOT, "gpus"),
    trial_variants=(trained(), broken()),
)


def test_a_hardware_slowdown_that_halves_the_clock_is_an_error() -> None:
    finding = the_finding(HOT)
    assert finding.severity is Severity.ERROR
    assert {each.label: each.value for each in finding.evidence}.items() >= {
        "core clock": 870,
        "at most": 1980,
        "temperature": 93,
    }.items()


def test_it_stays_a_warning_when_the_probe_trains_all_the_same() -> None:
    finding = the_finding(with_trial(HOT, trained()))
    assert finding.severity is Severity.WARNING
    assert finding.confidence >= 0.5


def test_a_probe_on_the_cpu_says_nothing_about_the_heat() -> None:
    assert the_finding(with_trial(HOT, on_cpu())).severity is Severity.ERROR


def test_a_slowdown_without_a_halved_clock_is_a_warning() -> None:
    assert the_finding(a_machine(a_gpu("HwThermalSlowdown", sm_mhz=1400))).severity is Severity.WARNING


def test_an_unnamed_slowdown_may_be_a_change_of_state() -> None:
    unnamed = the_finding(a_machine(a_gpu("HwSlowdown", sm_mhz=1400)))
    assert unnamed.confidence < the_finding(a_machine(a_gpu("HwThermalSlowdown", sm_mhz=1400))).confidence


def test_a_power_brake_is_named() -> None:
    finding = the_finding(a_machine(a_gpu("HwPowerBrakeSlowdown", sm_mhz=900)))
    assert finding.evidence[0].value == "HwPowerBrakeSlowdown"


def test_software_heat_is_a_warning() -> None:
    assert the_finding(a_machine(a_gpu("SwThermalSlowdown", sm_mhz=900))).severity is Severity.WARNING


@pytest.mark.parametrize("reason", ["GpuIdle", "ApplicationsClocksSetting", "SyncBoost", "DisplayClockSetting", "None"])
def test_an_idle_gpu_and_clocks_that_somebody_set_are_not_throttled(reason: str) -> None:
    assert judge(throttled, a_machine(a_gpu(reason, sm_mhz=345))).status is Outcome.PASSED


@pytest.mark.parametrize("reason", ["BoardLimit", "Reliability"])
def test_a_reason_that_nvidia_does_not_explain_is_no_finding(reason: str) -> None:
    assert judge(throttled, a_machine(a_gpu(reason))).status is Outcome.PASSED


def test_a_reason_newer_than_the_table_is_not_a_pass() -> None:
    assert judge(throttled, a_machine(a_gpu("Unknown0x800"))).status is Outcome.SKIPPED


def test_a_t4_at_its_power_cap_is_not_sick() -> None:
    board = make_gpu(name="Tesla T4", cc="7.5", limit_w=70.0, sm_max_mhz=1590)
    capped = replace(
        board, throttle_reasons=("SwPowerCap",), power=Power(draw_w=69.8, limit_w=70.0, default_limit_w=70.0)
    )
    assert judge(throttled, a_machine(capped)).status is Outcome.PASSED


def test_a_lowered_power_limit_is_a_warning_while_it_caps_and_a_note_otherwise() -> None:
    capped = the_finding(a_machine(a_gpu("SwPowerCap", limit_w=400.0, draw_w=399.0)))
    assert capped.severity is Severity.WARNING
    assert "400 of 700 W" in capped.summary
    assert capped.fixes[0].text == "sudo nvidia-smi -i 0 -pl 700"
    assert the_finding(a_machine(a_gpu("GpuIdle", limit_w=400.0, draw_w=70.0))).severity is Severity.INFO


def test_a_limit_within_rounding_is_the_boards_own() -> None:
    assert judge(throttled, a_machine(a_gpu("SwPowerCap", limit_w=699.5))).status is Outcome.PASSED


def test_a_cap_whose_limits_are_unknown_is_not_a_pass() -> None:
    gpu = replace(a_gpu("SwPowerCap"), power=Power(draw_w=60.0, limit_w=Missing("not_supported")))
    assert judge(throttled, a_machine(gpu)).status is Outcome.SKIPPED


def test_reasons_that_nvml_does_not_tell_are_not_a_pass() -> None:
    gpu = replace(a_gpu(), throttle_reasons=Missing("not_supported"))
    assert judge(throttled, a_machine(gpu)).status is Outcome.SKIPPED
    assert judge(throttled, replace(healthy_h100(), gpus=())).status is Outcome.SKIPPED


def test_each_sick_gpu_of_several_has_its_finding() -> None:
    findings = judge(throttled, a_machine(a_gpu("SwThermalSlowdown"), a_gpu(), a_gpu("HwThermalSlowdown"))).findings
    assert len(findings) == 2


def test_a_board_at_its_slowdown_temperature_is_too_hot_whatever_the_reasons_say() -> None:
    finding = the_finding(a_machine(replace(a_gpu("GpuIdle", hot=105), temperature_slowdown_c=89)))
    assert finding.severity is Severity.WARNING
    assert "105 C" in finding.summary
    cool = replace(a_gpu("GpuIdle", hot=88), temperature_slowdown_c=89)
    assert judge(throttled, a_machine(cool)).status is Outcome.PASSED
    unknown = replace(a_gpu("GpuIdle", hot=105), temperature_slowdown_c=Missing("not_supported"))
    assert judge(throttled, a_machine(unknown)).status is Outcome.PASSED


def test_the_bound_belongs_to_the_cure_and_is_never_rounded_down() -> None:
    cure, look = the_finding(a_machine(a_gpu("SwThermalSlowdown", sm_mhz=1200))).fixes
    assert (cure.gain.grade, cure.gain.speedup) == (Grade.BOUND, 1.7)  # 1980 / 1200 = 1.65
    assert (look.gain.grade, look.gain.speedup) == (Grade.UNPROVEN, None)
    assert cure.action == "manual"


def test_a_command_that_looks_comes_to_its_end() -> None:
    look = the_finding(HOT).fixes[1]
    assert " -l" not in look.text


def test_a_power_brake_is_a_matter_of_the_supply() -> None:
    brake = the_finding(a_machine(a_gpu("HwPowerBrakeSlowdown", sm_mhz=900)))
    assert brake.fixes[0].title == "See to its power supply"


def test_each_finding_names_its_gpu() -> None:
    second = replace(a_gpu("HwThermalSlowdown"), index=1)
    findings = judge(throttled, a_machine(a_gpu("SwThermalSlowdown"), second)).findings
    assert [each.subject for each in findings] == ["GPU 0", "GPU 1"]
