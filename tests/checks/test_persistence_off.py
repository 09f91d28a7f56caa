"""GD117: persistence mode matters where nothing else keeps the driver initialised."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.gpu import Gpu, GpuProcess
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.driver.persistence_off import off
from tests.checks.case import Case
from tests.checks.healthy import healthy_wsl2
from tests.checks.machines import changed, make_gpu, make_machine, on_cpu

DOWN = make_machine((replace(make_gpu(), persistence=False),))
CASE = Case(
    check_code="GD117",
    fires=DOWN,
    near_miss=make_machine(),
    lacking=make_machine((replace(make_gpu(), persistence=Missing("no_permission")),)),
    trial_variants=(None, on_cpu()),
)


def test_it_is_a_note_with_the_daemon_as_its_cure() -> None:
    (finding,) = judge(off, DOWN).findings
    assert finding.severity is Severity.INFO
    assert finding.fixes[0].text == "sudo systemctl enable --now nvidia-persistenced"


def test_in_a_container_the_cure_is_the_hosts() -> None:
    (finding,) = judge(off, changed(DOWN, host={"container": "docker"})).findings
    assert (finding.fixes[0].action, finding.fixes[0].text.split(",")[0]) == ("manual", "on the host")


@pytest.mark.parametrize(
    "gpu",
    [
        replace(make_gpu(), persistence=False, display_active=True),
        replace(make_gpu(), persistence=False, processes=(GpuProcess(pid=9, kind="compute"),)),
    ],
)
def test_a_gpu_that_somebody_holds_stays_up_anyway(gpu: Gpu) -> None:
    assert judge(off, make_machine((gpu,))).status is Outcome.PASSED


def test_windows_has_no_such_mode() -> None:
    assert judge(off, healthy_wsl2()).reason == "does not apply: persistence mode exists on Linux only"
