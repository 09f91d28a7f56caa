"""GD122: a driver whose calls never return."""

from __future__ import annotations

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.model.finding import Severity
from gpudoctor.model.machine import Cuda, Nvml, XidEvent
from gpudoctor.model.missing import Missing
from gpudoctor.testing import judge
from gpudoctor_checks.driver.driver_hangs import hangs
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_t4, with_trial, without
from tests.checks.trials import broken, trained

HUNG = with_trial(
    changed(
        without(healthy_t4(), "gpus"),
        cuda=Cuda(status="timeout", cu_init=Missing("no answer")),
        nvml=Nvml(status="timeout"),
    ),
    None,
)
CASE = Case(
    check_code="GD122",
    fires=HUNG,
    near_miss=with_trial(healthy_t4(), None),
    lacking=changed(HUNG, cuda={"status": Missing("not asked")}),
    trial_variants=(broken(), trained()),
)


def test_one_looks_first_and_then_restarts() -> None:
    (finding,) = judge(hangs, HUNG).findings
    assert (finding.severity, finding.confidence) == (Severity.ERROR, 0.95)
    assert finding.summary == "The driver does not answer: cuInit and NVML hang."
    assert [each.id for each in finding.fixes] == ["read-driver-hang", "restart-hung-driver"]


def test_the_kernels_reason_is_shown() -> None:
    machine = changed(HUNG, kernel={"xids": (XidEvent(code=119, count=3),)})
    (finding,) = judge(hangs, machine).findings
    assert any("Xid 119" in str(each.value) for each in finding.evidence)


def test_in_a_container_and_on_wsl_the_restart_is_elsewhere() -> None:
    inside, wsl = (changed(HUNG, host=each) for each in ({"container": "docker"}, {"wsl": True}))
    assert judge(hangs, inside).findings[0].fixes[1].text == "sudo reboot  # on the host"
    assert judge(hangs, wsl).findings[0].fixes[1].text.startswith("wsl --shutdown")


def test_nvml_alone_hanging_is_no_hung_driver() -> None:
    assert not judge(hangs, changed(healthy_t4(), nvml={"status": "timeout"})).findings


def test_on_the_whole_machine_it_is_the_primary_finding() -> None:
    report = diagnose(HUNG, registry.load().checks, level="quick")
    assert (report.summary.primary, report.summary.status.value) == ("GD122", "broken")
