"""GD206: too old for the build, or too small beside a bigger GPU."""

from __future__ import annotations

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.libraries.gpu_filtered import filtered
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_h100, make_gpu, make_machine, with_env, with_trial
from tests.checks.trials import on_cpu, trained

GTX_980 = make_gpu(name="NVIDIA GeForce GTX 980", cc="5.2", memory_mib=4096)
GTX_1080 = make_gpu(name="NVIDIA GeForce GTX 1080", cc="6.1", memory_mib=8192)
MAXWELL = with_trial(make_machine((GTX_980,)), on_cpu())
CASE = Case(
    check_code="GD206",
    fires=MAXWELL,
    near_miss=make_machine((GTX_1080,)),
    lacking=changed(MAXWELL, tensorflow={"compute_capabilities": Missing("unreadable")}),
    trial_variants=(None, trained()),
)


def test_the_last_release_with_its_code_is_named() -> None:
    (finding,) = judge(filtered, MAXWELL).findings
    assert finding.severity is Severity.ERROR
    assert finding.summary == "This TensorFlow leaves out NVIDIA GeForce GTX 980 (5.2): it starts at 6.0."
    assert finding.fixes[0].text == "pip install 'tensorflow[and-cuda]==2.16.2'"


def test_kepler_goes_back_further_and_to_another_python() -> None:
    k80 = make_gpu(name="Tesla K80", cc="3.7", memory_mib=11441)
    (finding,) = judge(filtered, with_trial(make_machine((k80,), driver="470.256.02"), on_cpu())).findings
    environment = "uv venv --python 3.10 ~/tf && uv pip install --python ~/tf "
    assert finding.fixes[0].text == f"{environment}'tensorflow[and-cuda]==2.14.1'", "complete by itself"
    assert "Python 3.10" in finding.fixes[0].title


def test_another_build_gets_no_pip_advice() -> None:
    machine = changed(MAXWELL, tensorflow={"origin": "ngc", "compute_capabilities": ("sm_75", "compute_90")})
    (finding,) = judge(filtered, machine).findings
    assert [fix.id for fix in finding.fixes] == ["other-build"]


def test_beside_a_gpu_that_is_used_it_is_a_warning() -> None:
    machine = make_machine((make_gpu(), make_gpu(1, name="NVIDIA GeForce GTX 980", cc="5.2")))
    assert judge(filtered, machine).findings[0].severity is Severity.WARNING


def test_a_small_gpu_is_left_out_beside_a_big_one_only() -> None:
    small = make_gpu(1, name="NVIDIA GeForce GTX 1050", cc="6.1", memory_mib=2048)
    assert judge(filtered, make_machine((small,))).status is Outcome.PASSED
    (finding,) = judge(filtered, make_machine((GTX_1080, small))).findings
    assert finding.severity is Severity.INFO
    assert finding.fixes[0].text == "export TF_MIN_GPU_MULTIPROCESSOR_COUNT=5"


def test_a_minimum_that_somebody_set_can_hide_the_only_gpu() -> None:
    machine = with_env(with_trial(healthy_h100(), on_cpu()), TF_MIN_GPU_MULTIPROCESSOR_COUNT="200")
    (finding,) = judge(filtered, machine).findings
    assert finding.severity is Severity.ERROR
    assert finding.fixes[0].text == "unset TF_MIN_GPU_MULTIPROCESSOR_COUNT"


def test_a_compute_capability_is_told_with_both_its_numbers() -> None:
    (finding,) = judge(filtered, MAXWELL).findings
    assert [each.value for each in finding.evidence[:2]] == ["5.2", "6.0"]
