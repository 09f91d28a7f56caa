"""GD115: only a libcuda from elsewhere whose cuInit fails is a fault in WSL."""

from __future__ import annotations

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.driver.wsl_libcuda import shadowed
from tests.checks.case import Case
from tests.checks.healthy import healthy_wsl2
from tests.checks.machines import changed, healthy_h100, with_trial
from tests.checks.trials import on_cpu, trained


def with_libcuda(path: str, *, origin: str = "driver", cu_init: int = 100) -> Snapshot:
    cuda = {
        "libcuda_path": path,
        "origin": origin,
        "cu_init": cu_init,
        "cu_init_name": "CUDA_ERROR_NO_DEVICE",
        "devices": Missing("cuInit failed"),
    }
    return with_trial(changed(healthy_wsl2(), cuda=cuda), on_cpu())


LINUX = with_libcuda("/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05")
CASE = Case(
    check_code="GD115",
    fires=LINUX,
    near_miss=healthy_wsl2(),
    lacking=changed(LINUX, cuda={"cu_init": Missing("timeout")}),
    trial_variants=(None, trained()),
)


def test_the_windows_library_comes_first_then_the_linux_driver_goes() -> None:
    (finding,) = judge(shadowed, LINUX).findings
    assert finding.severity is Severity.ERROR
    assert [fix.id for fix in finding.fixes] == ["wsl-libcuda-first", "remove-linux-driver-in-wsl"]
    assert "/usr/lib/wsl/lib" in finding.fixes[0].text


def test_a_stub_is_taken_off_the_path() -> None:
    stub = with_libcuda("/usr/local/cuda/lib64/stubs/libcuda.so", origin="stub", cu_init=34)
    (finding,) = judge(shadowed, stub).findings
    assert finding.fixes[1].id == "drop-cuda-stubs"


def test_a_library_from_elsewhere_that_works_is_left_alone() -> None:
    assert judge(shadowed, with_libcuda("/opt/wsl/libcuda.so.1", cu_init=0)).status is Outcome.PASSED


def test_the_windows_library_that_fails_has_another_reason() -> None:
    sick = with_libcuda("/usr/lib/wsl/lib/libcuda.so.1", origin="wsl")
    assert judge(shadowed, sick).status is Outcome.PASSED


def test_outside_of_wsl_it_does_not_apply() -> None:
    machine = changed(LINUX, host={"wsl": False})
    assert judge(shadowed, machine).status is Outcome.PASSED
    assert judge(shadowed, changed(healthy_h100(), host={"wsl": Missing("unreadable")})).status is Outcome.SKIPPED
