"""GD101: two rules, one for binary code and one for PTX; on WSL the Windows numbers."""

from __future__ import annotations

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.driver.driver_too_old import too_old
from tests.checks.case import Case
from tests.checks.healthy import NGC_CODE, healthy_wsl2, no_gpu_machine
from tests.checks.machines import changed, make_gpu, make_machine, with_trial, without
from tests.checks.trials import broken, on_cpu, trained

V100 = make_gpu(name="Tesla V100-SXM2-16GB", cc="7.0", memory_mib=16160)
A100 = make_gpu(name="NVIDIA A100-SXM4-80GB", cc="8.0", memory_mib=81920)
OLD = with_trial(make_machine((V100,), driver="450.248.02"), on_cpu())
CASE = Case(
    check_code="GD101",
    fires=OLD,
    near_miss=make_machine((V100,), driver="525.60.13"),
    lacking=without(OLD, "nvml", "cuda", "kernel"),
    trial_variants=(None, trained()),
)


def test_the_driver_of_the_cuda_major_is_named() -> None:
    (finding,) = judge(too_old, OLD).findings
    assert finding.severity is Severity.ERROR
    assert finding.summary == "Driver 450.248.02 is too old for CUDA 12.5.1: 525.60.13 or newer is needed."
    assert finding.fixes[0].text == "sudo apt install nvidia-driver-580 && sudo reboot"


@pytest.mark.parametrize(
    ("driver", "outcome"), [("525.60.12", Outcome.FOUND), ("525.60.13", Outcome.PASSED), ("525.147.05", Outcome.PASSED)]
)
def test_one_patch_below_the_bound_is_too_old(driver: str, outcome: Outcome) -> None:
    assert judge(too_old, make_machine((A100,), driver=driver)).status is outcome


def test_a_driver_that_serves_an_a100_may_not_compile_for_an_h100() -> None:
    assert judge(too_old, make_machine((A100,), driver="535.183.01")).status is Outcome.PASSED
    h100 = with_trial(make_machine(driver="535.183.01"), broken())
    (finding,) = judge(too_old, h100).findings
    assert "cannot compile the PTX that NVIDIA H100 80GB HBM3 needs: 555.42.02" in finding.summary
    assert judge(too_old, make_machine(driver="555.42.02")).status is Outcome.PASSED


def test_an_h100_that_trains_refutes_the_rule_of_ptx() -> None:
    machine = make_machine(driver="535.183.01")
    assert judge(too_old, machine).findings[0].severity is Severity.INFO


def test_a_build_with_all_its_code_needs_no_ptx() -> None:
    ngc = {"origin": "ngc", "compute_capabilities": NGC_CODE, "cuda_version": "12.8"}
    assert judge(too_old, changed(make_machine(driver="535.183.01"), tensorflow=ngc)).status is Outcome.PASSED


def test_wsl_is_judged_by_windows_numbers() -> None:
    old = {"driver_version": "516.94", "cuda_driver_version": "11.7"}
    (finding,) = judge(too_old, with_trial(changed(healthy_wsl2(), nvml=old), on_cpu())).findings
    assert "527.41" in finding.summary
    assert "on Windows, not inside WSL" in finding.fixes[0].text
    assert judge(too_old, healthy_wsl2()).status is Outcome.PASSED


def test_who_cannot_change_the_driver_is_given_a_release_that_it_runs() -> None:
    (finding,) = judge(too_old, OLD).findings
    environment = "uv venv --python 3.10 ~/tf && uv pip install --python ~/tf "
    assert finding.fixes[1].text == f"{environment}'tensorflow[and-cuda]==2.14.1'"
    assert "Python 3.10" in finding.fixes[1].title
    h100 = judge(too_old, with_trial(make_machine(driver="535.183.01"), broken())).findings[0]
    assert h100.fixes[1].text == "pip install 'tensorflow[and-cuda]==2.15.1'"


def test_cuda_compat_that_works_makes_the_driver_new_enough() -> None:
    machine = changed(OLD, cuda={"origin": "compat", "cu_init": 0})
    assert judge(too_old, machine).status is Outcome.PASSED


def test_an_unknown_cuda_version_is_not_a_pass() -> None:
    assert judge(too_old, changed(OLD, tensorflow={"cuda_version": Missing("key gone")})).status is Outcome.SKIPPED
    assert judge(too_old, changed(OLD, tensorflow={"cuda_version": "64_112"})).status is Outcome.INCONCLUSIVE


def test_without_a_driver_its_age_is_unknown() -> None:
    cuda_build = {"is_cuda_build": True, "cuda_version": "12.5.1"}
    assert judge(too_old, changed(no_gpu_machine(), tensorflow=cuda_build)).status is Outcome.SKIPPED


CPU_WHEEL = {"is_cuda_build": False, "distribution": "tensorflow-cpu", "cuda_version": Missing("CPU build")}


def test_the_driver_is_judged_for_the_build_that_should_replace_a_cpu_wheel() -> None:
    (finding,) = judge(too_old, changed(OLD, tensorflow=CPU_WHEEL)).findings
    assert (finding.severity, finding.confidence) == (Severity.ERROR, 0.8)
    assert "CUDA 12.5.1" in finding.summary


@pytest.mark.parametrize(
    ("host", "origin"), [({}, "conda"), ({"arch": "aarch64"}, "official_wheel"), ({"os": "darwin"}, "official_wheel")]
)
def test_where_no_such_wheel_exists_a_cpu_build_asks_for_no_driver(host: dict[str, str], origin: str) -> None:
    machine = changed(OLD, host=host, tensorflow={**CPU_WHEEL, "origin": origin})
    assert judge(too_old, machine).status is Outcome.PASSED


def test_a_cpu_wheel_without_any_driver_asks_for_none() -> None:
    assert judge(too_old, no_gpu_machine()).status is Outcome.PASSED


@pytest.mark.parametrize(
    ("gpu", "cc", "driver", "fixes", "cause"),
    [
        ("Tesla K80", "3.7", "470.256.02", ["install-older-tensorflow"], "gpu-filtered"),
        ("Tesla K80", "3.7", "450.80.02", ["install-older-tensorflow"], "gpu-filtered"),
        ("Tesla K80", "3.7", "440.100", ["install-older-tensorflow", "install-driver"], "driver-too-old"),
        ("GeForce GTX 580", "2.0", "390.157", ["other-gpu"], "gpu-filtered"),
        ("Tesla V100-SXM2-16GB", "7.0", "450.248.02", ["install-driver", "install-older-tensorflow"], "driver-too-old"),
    ],
)
def test_no_driver_is_advised_that_does_not_reach_what_is_needed(
    gpu: str, cc: str, driver: str, fixes: list[str], cause: str
) -> None:
    machine = make_machine((make_gpu(name=gpu, cc=cc, memory_mib=8192),), driver=driver)
    (finding,) = judge(too_old, machine).findings
    assert [each.id for each in finding.fixes] == fixes
    assert finding.cause == cause


@pytest.mark.parametrize("driver", ["440.100", "450.80.02", "470.256.02"])
def test_where_no_driver_of_the_gpu_is_new_enough_the_gpu_is_named_and_not_the_driver(driver: str) -> None:
    machine = make_machine((make_gpu(name="Tesla K80", cc="3.7", memory_mib=11441),), driver=driver)
    (finding,) = judge(too_old, machine).findings
    assert finding.summary == "No driver for Tesla K80 (3.7) is new enough for CUDA 12.5.1: 525.60.13 is needed."
    report = diagnose(with_trial(machine, on_cpu()), registry.load().checks)
    assert "Tesla K80" in report.summary.headline
    assert "Driver" not in report.summary.headline


def test_a_gpu_whose_drivers_go_on_is_never_called_the_cause() -> None:
    newer = changed(make_machine((A100,), driver="580.95.05"), tensorflow={"cuda_version": "13.2"})
    assert all("No driver for" not in each.summary for each in judge(too_old, newer).findings)
