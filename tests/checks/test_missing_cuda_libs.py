"""GD203: which library is missing, and the cure that fits how TensorFlow was installed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import NOT_COLLECTED, Missing
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.software import Library
from gpudoctor.testing import judge
from gpudoctor_checks.libraries.missing_cuda_libs import missing
from tests.checks.case import Case
from tests.checks.healthy import no_gpu_machine
from tests.checks.machines import (
    changed,
    healthy_h100,
    make_gpu,
    make_machine,
    with_library,
    with_packages,
    with_trial,
    without,
)
from tests.checks.software import cudnn
from tests.checks.trials import on_cpu, trained

HEALTHY = healthy_h100()
GONE = Library(
    soname="libcudnn.so.9", path=Missing("not found"), loadable=False, error="cannot open shared object file"
)
NO_CUDNN = with_trial(with_packages(with_library(HEALTHY, GONE), {"nvidia-cudnn-cu12": None}), on_cpu())
CASE = Case(
    check_code="GD203",
    fires=NO_CUDNN,
    near_miss=HEALTHY,
    lacking=without(NO_CUDNN, "libraries"),
    trial_variants=(None, trained()),
)


def command(machine: Snapshot) -> str:
    return judge(missing, machine).findings[0].fixes[0].text


def test_one_missing_library_is_named() -> None:
    (finding,) = judge(missing, NO_CUDNN).findings
    assert finding.summary == "This TensorFlow cannot load cuDNN 9."
    assert finding.evidence[0].label == "libcudnn.so.9"
    assert finding.evidence[-1].value == "fine: cuInit 0, 1 device"
    assert command(NO_CUDNN) == "pip install 'tensorflow[and-cuda]==2.20.0'"


def test_an_older_gpu_gets_a_cudnn_that_still_knows_it() -> None:
    v100 = make_machine((make_gpu(name="Tesla V100-SXM2-16GB", cc="7.0"),))
    machine = with_packages(with_library(v100, GONE), {"nvidia-cudnn-cu12": None})
    assert command(machine) == "pip install 'tensorflow[and-cuda]==2.20.0' 'nvidia-cudnn-cu12<9.11'"
    newer = changed(machine, tensorflow={"version": "2.21.0"})
    assert command(newer) == "pip install 'tensorflow[and-cuda]==2.20.0' 'nvidia-cudnn-cu12<9.11'"


@pytest.mark.parametrize(
    ("origin", "version", "expected"),
    [
        ("conda", "2.18.0", "conda install -c conda-forge --force-reinstall 'tensorflow=2.18.0=cuda*'"),
        ("official_wheel", "2.15.0", "pip install 'tensorflow[and-cuda]==2.15.1'"),
        ("official_wheel", "2.17.1", "pip install 'tensorflow[and-cuda]==2.17.1'"),
    ],
)
def test_the_cure_fits_the_installation(origin: str, version: str, expected: str) -> None:
    assert command(changed(NO_CUDNN, tensorflow={"origin": origin, "version": version})) == expected


@pytest.mark.parametrize("origin", ["conda", "ngc", "source", "unknown"])
def test_pips_extra_is_never_advised_for_another_build(origin: str) -> None:
    for fix in judge(missing, changed(NO_CUDNN, tensorflow={"origin": origin})).findings[0].fixes:
        assert "and-cuda" not in fix.text


def test_release_2_14_is_completed_without_its_unresolvable_tensorrt() -> None:
    text = command(changed(NO_CUDNN, tensorflow={"version": "2.14.1", "cuda_version": "11.8"}))
    assert "nvidia-cudnn-cu11==8.7.0.84" in text
    assert "tensorrt" not in text


def test_before_2_14_cuda_comes_by_hand() -> None:
    machine = changed(NO_CUDNN, tensorflow={"version": "2.11.1", "cuda_version": "11.2", "cudnn_version": "8"})
    assert command(machine).startswith("Install CUDA 11.2 and cuDNN 8 ")


def test_a_wheel_that_is_installed_and_damaged_is_installed_again() -> None:
    machine = with_library(HEALTHY, GONE)
    assert command(machine) == "pip install --force-reinstall --no-deps nvidia-cudnn-cu12==9.28.0.42"


def test_a_release_that_does_not_look_into_its_wheels_is_shown_them() -> None:
    cusolver = replace(GONE, soname="libcusolver.so.11")
    machine = changed(with_library(HEALTHY, cusolver), tensorflow={"version": "2.21.0"})
    assert command(machine).startswith("export LD_LIBRARY_PATH=")


def test_a_library_that_is_there_and_does_not_load_is_missing_too() -> None:
    damaged = replace(cudnn(), loadable=False, error="file too short")
    (finding,) = judge(missing, with_library(HEALTHY, damaged)).findings
    assert "file too short" in str(finding.evidence[0].value)


def test_nccl_hides_no_gpu() -> None:
    nccl = replace(GONE, soname="libnccl.so.2")
    assert judge(missing, with_library(HEALTHY, nccl)).status is Outcome.PASSED


def test_what_nobody_searched_for_is_not_found_missing() -> None:
    unknown = Library(soname="libcudnn.so.9", path=NOT_COLLECTED)
    assert judge(missing, with_library(HEALTHY, unknown)).status is Outcome.SKIPPED


def test_a_list_of_nothing_is_not_a_pass() -> None:
    assert judge(missing, changed(HEALTHY, libraries=())).status is Outcome.SKIPPED


def test_a_machine_without_a_gpu_misses_nothing() -> None:
    cuda_build = changed(no_gpu_machine(), tensorflow={"is_cuda_build": True}, libraries=(GONE,))
    assert judge(missing, cuda_build).status is Outcome.PASSED


def test_where_the_driver_does_not_work_either_it_is_still_an_error() -> None:
    machine = changed(NO_CUDNN, cuda={"cu_init": 999, "devices": ()})
    (finding,) = judge(missing, machine).findings
    assert finding.severity is Severity.ERROR
    assert finding.evidence[-1].value == "not usable yet"
