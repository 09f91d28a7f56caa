"""GD208: information, unless the cache cannot work or the probe did not get through."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.libraries.ptx_jit import compiled_at_first_use
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_h100, healthy_t4, make_gpu, make_machine, with_env
from tests.checks.trials import broken

H100 = healthy_h100()
CASE = Case(
    check_code="GD208",
    fires=H100,
    near_miss=healthy_t4(),
    lacking=changed(H100, tensorflow={"origin": "source", "compute_capabilities": Missing("unreadable")}),
    trial_variants=(None, broken(status="timeout", reason="no step within 60 s")),
)


def test_an_h100_is_served_in_part() -> None:
    (finding,) = judge(compiled_at_first_use, H100).findings
    assert finding.severity is Severity.INFO
    assert finding.summary.startswith("NVIDIA H100 80GB HBM3 (9.0): most kernels are compiled")
    assert finding.evidence[0].value == "248 of 1397"


def test_a_probe_that_did_not_get_through_makes_it_a_warning() -> None:
    machine = changed(H100, probe=None)
    assert judge(compiled_at_first_use, machine).findings[0].severity is Severity.INFO
    assert CASE.trial_variants[1] is not None


@pytest.mark.parametrize(
    ("name", "value", "severity"),
    [
        ("CUDA_CACHE_DISABLE", "1", Severity.WARNING),
        ("CUDA_CACHE_DISABLE", "0", Severity.INFO),
        ("CUDA_CACHE_MAXSIZE", "268435456", Severity.WARNING),
        ("CUDA_CACHE_MAXSIZE", "1073741824", Severity.INFO),
    ],
)
def test_a_cache_that_cannot_hold_it_costs_at_every_start(name: str, value: str, severity: Severity) -> None:
    (finding,) = judge(compiled_at_first_use, with_env(H100, **{name: value})).findings
    assert finding.severity is severity


def test_in_a_container_the_cache_is_mounted() -> None:
    (finding,) = judge(compiled_at_first_use, changed(H100, host={"container": "docker"})).findings
    assert [fix.id for fix in finding.fixes] == ["enlarge-cuda-cache", "mount-cuda-cache"]


@pytest.mark.parametrize(("cc", "version"), [("8.6", "2.20.0"), ("8.9", "2.17.1"), ("7.5", "2.16.2")])
def test_gpus_with_all_their_binary_code_start_at_once(cc: str, version: str) -> None:
    machine = changed(make_machine((make_gpu(name="some GPU", cc=cc),)), tensorflow={"version": version})
    assert judge(compiled_at_first_use, machine).status is Outcome.PASSED


def test_an_ada_gpu_is_compiled_for_under_2_15() -> None:
    machine = changed(make_machine((make_gpu(name="some GPU", cc="8.9"),)), tensorflow={"version": "2.15.1"})
    assert judge(compiled_at_first_use, machine).status is Outcome.FOUND


def test_a_size_that_is_not_set_has_no_unit() -> None:
    (unset,) = judge(compiled_at_first_use, H100).findings
    assert (unset.evidence[2].value, unset.evidence[2].unit) == ("not set", "")
    (given,) = judge(compiled_at_first_use, with_env(H100, CUDA_CACHE_MAXSIZE="268435456")).findings
    assert given.evidence[2].unit == "bytes"
