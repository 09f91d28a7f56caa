"""GD205: what a fresh and-cuda install brings today has no code for Pascal and Volta."""

from __future__ import annotations

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.model.finding import Severity
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.libraries.cudnn_dropped_gpu import dropped
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_h100, healthy_t4, make_gpu, make_machine, with_library, without
from tests.checks.software import cudnn
from tests.checks.trials import broken

V100 = make_gpu(name="Tesla V100-SXM2-16GB", cc="7.0", memory_mib=16160)
FRESH = make_machine((V100,))
CASE = Case(
    check_code="GD205",
    fires=FRESH,
    near_miss=with_library(FRESH, cudnn("9.10.2.21")),
    lacking=without(FRESH, "libraries"),
    trial_variants=(None, broken()),
)


def command(machine: Snapshot) -> str:
    return judge(dropped, machine).findings[0].fixes[0].text


def test_the_last_cudnn_with_the_code_is_kept() -> None:
    (finding,) = judge(dropped, FRESH).findings
    assert finding.severity is Severity.ERROR
    assert "9.10 is the last with" in finding.summary
    assert command(FRESH) == "pip install 'nvidia-cudnn-cu12<9.11'"


@pytest.mark.parametrize(("cc", "outcome"), [("6.1", Outcome.FOUND), ("7.0", Outcome.FOUND), ("7.5", Outcome.PASSED)])
def test_turing_is_the_first_that_stays(cc: str, outcome: Outcome) -> None:
    assert judge(dropped, make_machine((make_gpu(name="some GPU", cc=cc),))).status is outcome


def test_2_21_goes_back_to_2_20_with_it() -> None:
    machine = changed(FRESH, tensorflow={"version": "2.21.0"})
    assert command(machine) == "pip install 'tensorflow[and-cuda]==2.20.0' 'nvidia-cudnn-cu12<9.11'"


def test_conda_takes_it_from_conda() -> None:
    assert command(changed(FRESH, tensorflow={"origin": "conda"})) == "conda install -c conda-forge 'cudnn<9.11'"


def test_beside_a_newer_gpu_it_is_a_warning() -> None:
    machine = make_machine((make_gpu(), make_gpu(1, name="Tesla V100-SXM2-16GB", cc="7.0")))
    assert judge(dropped, machine).findings[0].severity is Severity.WARNING


def test_newer_gpus_are_served() -> None:
    assert judge(dropped, healthy_t4()).status is Outcome.PASSED
    assert judge(dropped, healthy_h100()).status is Outcome.PASSED


def test_a_cudnn_of_no_known_release_is_not_a_pass() -> None:
    assert judge(dropped, with_library(FRESH, cudnn("12.0.0"))).status is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("name", "cc"), [("GeForce GTX 980", "5.2"), ("Tesla K80", "3.7"), ("GeForce GTX 680", "3.0"), ("Fermi", "2.0")]
)
def test_a_gpu_below_the_builds_minimum_is_no_matter_of_cudnn(name: str, cc: str) -> None:
    """No cuDNN helps a GPU that the build leaves out, so its pin must not be advised."""
    machine = without(make_machine((make_gpu(name=name, cc=cc),)), "probe")
    report = diagnose(machine, registry.load().checks, level="quick")
    assert report.findings[0].code == "GD206"
    assert not any("nvidia-cudnn" in fix.text for fix in report.fixes)
