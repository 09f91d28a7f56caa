"""GD204: TensorFlow's own rule (same major, minor not older), and both paths where one shadows the other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.libraries.cudnn_version import unaccepted
from tests.checks.case import Case
from tests.checks.healthy import no_gpu_machine
from tests.checks.machines import changed, healthy_h100, make_gpu, make_machine, with_env, with_library, without
from tests.checks.software import cudnn
from tests.checks.trials import broken

HEALTHY = healthy_h100()
WHEEL = cudnn()
SHADOWING = replace(
    cudnn("9.1.0"),
    path="/opt/cudnn/lib/libcudnn.so.9",
    origin="ld_library_path",
    shadows=(str(WHEEL.path),),
    loaded_path="/opt/cudnn/lib/libcudnn.so.9",
)
SHADOWED = with_library(HEALTHY, SHADOWING)
CASE = Case(
    check_code="GD204",
    fires=SHADOWED,
    near_miss=HEALTHY,
    lacking=with_library(SHADOWED, replace(SHADOWING, version=Missing("no version found"))),
    trial_variants=(None, broken()),
)


def test_both_paths_are_named_and_the_path_is_taken_off() -> None:
    (finding,) = judge(unaccepted, SHADOWED).findings
    assert finding.severity is Severity.ERROR
    values = [str(each.value) for each in finding.evidence]
    assert any("/opt/cudnn/lib/libcudnn.so.9" in value for value in values)
    assert str(WHEEL.path) in values
    assert finding.fixes[0].text == "unset LD_LIBRARY_PATH"


@pytest.mark.parametrize(
    ("version", "outcome"),
    [
        ("9.2.1", Outcome.FOUND),
        ("9.3.0", Outcome.PASSED),
        ("9.10.2.21", Outcome.PASSED),
        ("8.9.7", Outcome.FOUND),
        ("10.0.0", Outcome.FOUND),
    ],
)
def test_the_minor_may_be_newer_never_older(version: str, outcome: Outcome) -> None:
    assert judge(unaccepted, with_library(HEALTHY, cudnn(version))).status is outcome


def test_a_wheel_that_another_package_pinned_lower_is_raised() -> None:
    (finding,) = judge(unaccepted, with_library(HEALTHY, cudnn("9.1.0.70"))).findings
    assert finding.fixes[0].text == "pip install 'nvidia-cudnn-cu12>=9.3,<10'"


def test_for_an_older_gpu_it_is_not_raised_too_far() -> None:
    v100 = make_machine((make_gpu(name="Tesla V100-SXM2-16GB", cc="7.0"),))
    (finding,) = judge(unaccepted, with_library(v100, cudnn("9.1.0.70"))).findings
    assert finding.fixes[0].text == "pip install 'nvidia-cudnn-cu12>=9.3,<9.11'"


def test_another_build_is_judged_by_its_own_cudnn() -> None:
    ngc = changed(HEALTHY, tensorflow={"origin": "ngc", "cudnn_version": "9.7"})
    (finding,) = judge(unaccepted, with_library(ngc, cudnn("9.5.1"))).findings
    assert finding.fixes[0].action == "manual"
    assert judge(unaccepted, with_library(ngc, cudnn("9.7.1"))).status is Outcome.PASSED


def test_a_dense_network_on_the_gpu_does_not_acquit_cudnn() -> None:
    assert judge(unaccepted, SHADOWED).findings[0].confidence > 0.8


def test_without_a_gpu_nobody_needs_cudnn() -> None:
    assert judge(unaccepted, no_gpu_machine()).status is Outcome.PASSED
    assert judge(unaccepted, without(HEALTHY, "libraries")).status is Outcome.SKIPPED


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/usr/lib/wsl/lib:/opt/cudnn/lib:/opt/my libs", "export LD_LIBRARY_PATH=/usr/lib/wsl/lib:'/opt/my libs'"),
        ("/opt/cudnn/lib:~/my libs:~:/lib/x", "export LD_LIBRARY_PATH=~/'my libs':~:/lib/x"),
        ("/opt/cudnn/lib/:/opt/other/lib", "export LD_LIBRARY_PATH=/opt/other/lib"),
        ("/opt/cudnn/lib", "unset LD_LIBRARY_PATH"),
        ("/opt/cudnn/lib::", "unset LD_LIBRARY_PATH"),
    ],
)
def test_only_the_folder_at_fault_is_taken_off_the_path(path: str, text: str) -> None:
    (finding,) = judge(unaccepted, with_env(SHADOWED, LD_LIBRARY_PATH=path)).findings
    assert finding.fixes[0].text == text
