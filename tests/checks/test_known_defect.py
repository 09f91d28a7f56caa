"""GD304: a defect counts where its condition is met, not where its version is installed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.software import Library
from gpudoctor.testing import judge
from gpudoctor_checks.tensorflow.known_defect import struck
from tests.checks.case import Case
from tests.checks.healthy import no_gpu_machine
from tests.checks.machines import (
    changed,
    healthy_t4,
    make_machine,
    with_library,
    with_packages,
    with_trial,
    without,
)
from tests.checks.software import cudnn, wheel_library
from tests.checks.trials import broken, on_cpu, trained

RUNPATH_2_16_1 = ("$ORIGIN/../nvidia/cuda_runtime/lib", "$ORIGIN/../tensorrt")
CUDNN_8 = replace(wheel_library("libcudnn.so.8", "8.9.7.29", "nvidia-cudnn-cu12", "cudnn"), path=Missing("not found"))
LOST = with_trial(
    with_library(
        changed(healthy_t4(), tensorflow={"version": "2.16.1", "runpath": RUNPATH_2_16_1, "visible_gpus": 0}), CUDNN_8
    ),
    on_cpu(),
)
CASE = Case(
    check_code="GD304",
    fires=LOST,
    near_miss=healthy_t4(),
    lacking=without(LOST, "libraries"),
    trial_variants=(None, trained()),
)


def test_2_16_1_does_not_look_into_its_wheels() -> None:
    (finding,) = judge(struck, LOST).findings
    assert (finding.severity, finding.cause) == (Severity.ERROR, "and-cuda-wheels")
    assert finding.fixes[0].text == "pip install 'tensorflow[and-cuda]==2.16.2'"


def test_a_wheel_outside_the_search_path_is_as_good_as_missing() -> None:
    there = replace(CUDNN_8, path="~/venv/lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn.so.8")
    assert judge(struck, with_library(LOST, there)).status is Outcome.FOUND


def test_2_16_1_whose_libraries_come_another_way_is_fine() -> None:
    found = tuple(
        replace(each, origin="ld_library_path", path=f"/opt/cuda/{each.soname}") for each in LOST.libraries or ()
    )
    assert judge(struck, changed(LOST, libraries=found)).status is Outcome.PASSED


@pytest.mark.parametrize("version", ["2.16.2", "2.20.0"])
def test_the_neighbours_are_not_accused(version: str) -> None:
    assert judge(struck, changed(LOST, tensorflow={"version": version})).status is Outcome.PASSED


def test_2_21_does_not_find_cusolver() -> None:
    gone = Library(soname="libcusolver.so.11", path=Missing("not found"))
    machine = with_trial(with_library(changed(healthy_t4(), tensorflow={"version": "2.21.0"}), gone), on_cpu())
    (finding,) = judge(struck, machine).findings
    assert finding.fixes[0].id == "mend-runpath"


@pytest.mark.parametrize(("version", "outcome"), [("9.5.1", Outcome.FOUND), ("9.24.0", Outcome.PASSED)])
def test_2_21_convolutions_fail_with_one_cudnn(version: str, outcome: Outcome) -> None:
    machine = with_library(changed(healthy_t4(), tensorflow={"version": "2.21.0"}), cudnn(version))
    assert judge(struck, machine).status is outcome


@pytest.mark.parametrize(("protobuf", "outcome"), [("7.36.2", Outcome.FOUND), ("3.19.6", Outcome.PASSED)])
def test_old_releases_take_a_protobuf_that_is_too_new(protobuf: str, outcome: Outcome) -> None:
    machine = with_packages(changed(healthy_t4(), tensorflow={"version": "2.5.3"}), {"protobuf": protobuf})
    assert judge(struck, with_trial(machine, None)).status is outcome


def test_a_missing_libdevice_is_named_where_training_says_so() -> None:
    machine = changed(make_machine(), tensorflow={"version": "2.12.1"})
    assert judge(struck, with_trial(machine, broken(reason="out of memory"))).status is Outcome.PASSED
    failed = with_trial(machine, broken(status="failed", reason="INTERNAL: libdevice not found at ./libdevice.10.bc"))
    (finding,) = judge(struck, failed).findings
    assert finding.cause == "xla-libdevice-ptxas"


@pytest.mark.parametrize("origin", ["ngc", "conda", "source"])
def test_other_builds_are_not_judged_by_this_list(origin: str) -> None:
    assert judge(struck, changed(LOST, tensorflow={"origin": origin})).status is Outcome.PASSED


def test_a_machine_without_a_gpu_has_no_use_for_it() -> None:
    assert judge(struck, no_gpu_machine()).status is Outcome.PASSED
