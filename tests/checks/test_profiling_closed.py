"""GD118: closed counters are a note, and open where the administrator or the container says so."""

from __future__ import annotations

from gpudoctor.model.finding import Severity
from gpudoctor.testing import judge
from gpudoctor_checks.driver.profiling_closed import closed
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_h100, on_cpu

SHUT = changed(healthy_h100(), kernel={"profiling_open": False})
CASE = Case(
    check_code="GD118",
    fires=SHUT,
    near_miss=changed(healthy_h100(), kernel={"profiling_open": True}),
    lacking=healthy_h100(),
    trial_variants=(None, on_cpu()),
)


def test_it_is_a_note_and_promises_no_speed() -> None:
    (finding,) = judge(closed, SHUT).findings
    assert finding.severity is Severity.INFO
    assert "NVreg_RestrictProfilingToAdminUsers=0" in finding.fixes[0].text
    assert finding.fixes[0].gain.speedup is None


def test_a_container_is_started_with_the_right_to_profile() -> None:
    (finding,) = judge(closed, changed(SHUT, host={"container": "docker"})).findings
    assert "--cap-add=SYS_ADMIN" in finding.fixes[0].text
