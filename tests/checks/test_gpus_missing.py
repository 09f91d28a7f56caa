"""GD131: the lists of GPUs are compared with one another, and what is given on purpose is no loss."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome, Status
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.driver.gpus_missing import fewer
from tests.checks.case import Case
from tests.checks.healthy import healthy_8gpu, healthy_wsl2
from tests.checks.machines import broken, changed, healthy_t4, on_cpu, with_env, with_trial, without


def with_nvml(count: int) -> Snapshot:
    """Return the node of eight of which NVML, CUDA and TensorFlow list fewer."""
    machine = healthy_8gpu()
    assert machine.gpus is not None
    assert machine.cuda is not None
    assert isinstance(machine.cuda.devices, tuple)
    few = changed(machine, nvml={"device_count": count}, cuda={"devices": machine.cuda.devices[:count]})
    return changed(replace(few, gpus=machine.gpus[:count]), tensorflow={"visible_gpus": count})


def with_cuda(count: int) -> Snapshot:
    machine = healthy_8gpu()
    assert machine.cuda is not None
    assert isinstance(machine.cuda.devices, tuple)
    return changed(machine, cuda={"devices": machine.cuda.devices[:count]}, tensorflow={"visible_gpus": count})


SEVEN = with_nvml(7)
CASE = Case(
    check_code="GD131",
    fires=SEVEN,
    near_miss=healthy_8gpu(),
    lacking=changed(without(SEVEN, "gpus", "cuda", "tensorflow"), nvml={"device_count": Missing("no NVML")}),
    trial_variants=(on_cpu(), broken()),
)


@pytest.mark.parametrize(
    ("machine", "words", "fix"),
    [
        (SEVEN, "the PCI bus shows 8, NVML lists 7", "read-nvidia-kernel-lines"),
        (with_cuda(6), "NVML shows 8, CUDA lists 6", "see-compute-mode"),
        (
            changed(healthy_8gpu(), tensorflow={"visible_gpus": 3}),
            "CUDA shows 8, TensorFlow lists 3",
            "ask-tensorflow-why",
        ),
    ],
    ids=["bus", "NVML", "CUDA"],
)
def test_each_list_is_compared_with_the_next(machine: Snapshot, words: str, fix: str) -> None:
    report = diagnose(machine, registry.load().checks, level="standard")
    assert report.summary.status is Status.WARNING
    assert report.findings[0].code == "GD131"
    assert words in report.findings[0].summary
    assert report.findings[0].fixes[0].id == fix


@pytest.mark.parametrize(
    "machine",
    [
        with_env(with_cuda(2), CUDA_VISIBLE_DEVICES="0,1"),
        changed(with_nvml(2), host={"container": "docker"}),
        changed(with_nvml(2), scheduler={"kind": "slurm", "allocated_gpus": 2}),
        changed(healthy_8gpu(), tensorflow={"visible_gpus": 1}),
        healthy_wsl2(),
        healthy_t4(),
    ],
    ids=["variable", "container", "job", "pinned by the probe", "WSL", "one GPU"],
)
def test_what_is_given_on_purpose_is_no_loss(machine: Snapshot) -> None:
    assert judge(fewer, machine).status is Outcome.PASSED


def test_gpus_in_mig_mode_are_counted_otherwise_by_cuda() -> None:
    machine = with_cuda(1)
    split = tuple(replace(gpu, mig_mode="enabled", mig_instances=7) for gpu in machine.gpus or ())
    assert judge(fewer, with_trial(changed(machine, gpus=split), None)).status is Outcome.PASSED
