"""GD701: models that differ, equal models that differ in memory, and equal ones."""

from __future__ import annotations

from gpudoctor.model.finding import Severity
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.distribution.unequal_gpus import unequal
from tests.checks.case import Case
from tests.checks.healthy import healthy_8gpu
from tests.checks.machines import healthy_h100, make_gpu, make_machine, on_cpu, without

OTHER = make_gpu(2, name="NVIDIA A100-SXM4-80GB", cc="8.0", memory_mib=81920)
PAIR = make_machine((make_gpu(0), make_gpu(1), OTHER))
CASE = Case(
    check_code="GD701",
    fires=PAIR,
    near_miss=healthy_8gpu(),
    lacking=without(PAIR, "cuda", "gpus"),
    trial_variants=(None, on_cpu()),
)


def test_the_equal_ones_are_named_for_a_common_training() -> None:
    (finding,) = judge(unequal, PAIR).findings
    assert finding.severity is Severity.INFO
    assert finding.fixes[0].text == "export CUDA_VISIBLE_DEVICES=0,1"


def test_memory_that_differs_bounds_the_batch_and_slows_nothing() -> None:
    small, large = (
        make_gpu(index, name="Tesla V100-SXM2-32GB", cc="7.0", memory_mib=memory)
        for index, memory in enumerate((16384, 32768))
    )
    (finding,) = judge(unequal, make_machine((small, large))).findings
    assert finding.summary == "The visible GPUs differ in memory: the batch is bound by 16 GiB."


def test_one_gpu_has_no_unequal() -> None:
    assert judge(unequal, healthy_h100()).status is Outcome.PASSED
