"""GD207: neither binary code nor PTX that works."""

from __future__ import annotations

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.libraries.no_code_for_gpu import no_code
from tests.checks.case import Case
from tests.checks.healthy import NGC_CODE
from tests.checks.machines import changed, healthy_h100, make_gpu, make_machine, with_trial
from tests.checks.trials import broken, trained

RTX_5090 = make_gpu(name="NVIDIA GeForce RTX 5090", cc="12.0", memory_mib=32607)
BLACKWELL = with_trial(make_machine((RTX_5090,)), broken(reason="CUDA_ERROR_INVALID_PTX"))
CASE = Case(
    check_code="GD207",
    fires=BLACKWELL,
    near_miss=healthy_h100(),
    lacking=changed(BLACKWELL, tensorflow={"compute_capabilities": Missing("unreadable")}),
    trial_variants=(None, trained()),
)


def test_no_official_wheel_serves_blackwell() -> None:
    (finding,) = judge(no_code, BLACKWELL).findings
    assert (finding.severity, finding.cause) == (Severity.ERROR, "blackwell")
    assert "nvcr.io/nvidia/tensorflow" in finding.fixes[0].text


def test_nvidias_container_does() -> None:
    ngc = {"origin": "ngc", "compute_capabilities": NGC_CODE, "cuda_version": "12.8"}
    assert judge(no_code, changed(BLACKWELL, tensorflow=ngc)).status is Outcome.PASSED


def test_a_source_build_with_an_old_cuda_cannot_be_compiled_for_blackwell() -> None:
    old = {"origin": "source", "compute_capabilities": ("sm_80", "compute_90"), "cuda_version": "12.4"}
    assert judge(no_code, changed(BLACKWELL, tensorflow=old)).findings[0].cause == "blackwell"
    new = {**old, "cuda_version": "12.9"}
    assert judge(no_code, changed(BLACKWELL, tensorflow=new)).status is Outcome.PASSED


def test_binary_code_of_another_major_is_no_code() -> None:
    volta_and_hopper = {"origin": "source", "compute_capabilities": ("sm_70", "compute_90")}
    a100 = make_machine((make_gpu(name="NVIDIA A100-SXM4-80GB", cc="8.0"),))
    machine = with_trial(changed(a100, tensorflow=volta_and_hopper), broken())
    (finding,) = judge(no_code, machine).findings
    assert finding.cause == "no-kernel"
    assert "TF_CUDA_COMPUTE_CAPABILITIES=sm_80,compute_80" in finding.fixes[0].text


def test_a_gpu_below_the_minimum_is_for_another_check() -> None:
    assert judge(no_code, make_machine((make_gpu(name="GTX 980", cc="5.2"),))).status is Outcome.PASSED


def test_beside_a_gpu_that_works_it_is_a_warning() -> None:
    machine = make_machine((make_gpu(), make_gpu(1, name="NVIDIA GeForce RTX 5090", cc="12.0")))
    assert judge(no_code, with_trial(machine, None)).findings[0].severity is Severity.WARNING
