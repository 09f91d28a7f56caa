"""Facts are matched to needs by type; every way a check can end is an outcome."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from gpudoctor.diagnose.engine import diagnose, plan_trials
from gpudoctor.diagnose.summary import of_a_part
from gpudoctor.model.machine import Cuda, CudaDevice, Nvml
from gpudoctor.model.observed import Probe, Trial
from gpudoctor.model.report import Outcome, Plugin, Status
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.sdk import (
    Check,
    Driver,
    Finding,
    Gpus,
    Inconclusive,
    NotApplicable,
    Severity,
    Skip,
    check,
)
from gpudoctor.sdk import (
    Trial as SdkTrial,
)
from gpudoctor.testing import judge

GPU_MACHINE = Snapshot(
    nvml=Nvml(status="ok", driver_version="580.95.05"),
    cuda=Cuda(status="ok", cu_init=0, devices=(CudaDevice(name="T4", compute_capability="7.5"),)),
)


def declared(judge_: Any, **changes: Any) -> Check[Any]:
    options: dict[str, Any] = {
        "code": "AC101",
        "slug": "test",
        "title": "A test",
        "family": "test",
        "cause": "throttle",
        "trials": ("baseline",),
    }
    return check(**{**options, **changes})(judge_)


def finding(confidence: float = 0.9, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(summary="it fired", severity=severity, confidence=confidence, basis="test")


def fires(driver: Driver, baseline: SdkTrial | None) -> Iterator[Finding]:
    yield finding(0.9 if baseline else 0.6)


def quiet(driver: Driver) -> Iterator[Finding]:
    yield from ()


def needs_trial(baseline: SdkTrial) -> Iterator[Finding]:
    yield from ()


def test_a_missing_group_skips_with_its_reason() -> None:
    def wants_gpus(gpus: Gpus) -> Iterator[Finding]:
        yield finding()

    verdict = judge(declared(wants_gpus), Snapshot(missing={"gpus": "timeout after 3 s"}))
    assert (verdict.status, verdict.reason) == (Outcome.SKIPPED, "gpus: timeout after 3 s")


def test_a_trial_that_did_not_run_skips_only_where_it_is_required() -> None:
    assert judge(declared(needs_trial), GPU_MACHINE).status is Outcome.SKIPPED
    verdict = judge(declared(fires), GPU_MACHINE)
    assert (verdict.status, verdict.trials) == (Outcome.FOUND, ())


def test_a_trial_is_handed_over_by_its_name() -> None:
    machine = Snapshot(nvml=GPU_MACHINE.nvml, probe=Probe(trials={"baseline": Trial(name="baseline")}))
    verdict = judge(declared(fires), machine)
    assert verdict.trials == ("baseline",)
    assert verdict.findings[0].confidence == 0.9


@pytest.mark.parametrize(
    ("raised", "outcome"),
    [
        (Skip("no clock"), Outcome.SKIPPED),
        (Inconclusive("7 steps"), Outcome.INCONCLUSIVE),
        (NotApplicable("no container"), Outcome.PASSED),
        (ZeroDivisionError("oops"), Outcome.CRASHED),
    ],
)
def test_whatever_a_check_raises_is_an_outcome(raised: Exception, outcome: Outcome) -> None:
    def raises(driver: Driver) -> Iterator[Finding]:
        raise raised
        yield

    verdict = judge(declared(raises), GPU_MACHINE)
    assert verdict.status is outcome
    assert str(raised) in verdict.reason


@pytest.mark.parametrize("yielded", [{"summary": "a dict"}, None, replace(finding(), severity="error")])  # type: ignore[arg-type]
def test_a_check_that_yields_no_finding_crashed_and_the_scan_goes_on(yielded: Any) -> None:
    def wrong(driver: Driver) -> Iterator[Any]:
        yield yielded

    assert judge(declared(wrong), GPU_MACHINE).status is Outcome.CRASHED


def test_the_engine_fills_in_code_slug_and_cause() -> None:
    done = judge(declared(fires), GPU_MACHINE).findings[0]
    assert (done.code, done.slug, done.title, done.cause) == ("AC101", "test", "A test", "throttle")


@pytest.mark.parametrize(
    ("confidence", "severity"), [(0.5, Severity.ERROR), (0.49, Severity.WARNING), (0.29, Severity.INFO)]
)
def test_doubt_caps_the_severity(confidence: float, severity: Severity) -> None:
    def doubts(driver: Driver) -> Iterator[Finding]:
        yield finding(confidence)

    assert judge(declared(doubts), GPU_MACHINE).findings[0].severity is severity


def test_a_configured_severity_overrules_the_check() -> None:
    report = diagnose(GPU_MACHINE, [declared(fires)], severities={"AC101": Severity.INFO})
    assert report.findings[0].severity is Severity.INFO


def test_healthy_needs_a_usable_gpu_and_every_promised_check() -> None:
    assert diagnose(GPU_MACHINE, [declared(quiet)], level="quick").summary.status is Status.HEALTHY
    assert (
        diagnose(GPU_MACHINE, [declared(quiet), declared(needs_trial, code="AC102")], level="quick").summary.status
        is Status.HEALTHY
    )
    unjudged = diagnose(GPU_MACHINE, [declared(quiet), declared(needs_trial, code="AC102")], level="standard")
    assert unjudged.summary.status is Status.UNKNOWN
    assert diagnose(Snapshot(nvml=Nvml(status="ok")), [declared(quiet)], level="quick").summary.status is Status.UNKNOWN


def test_a_crashed_core_check_is_not_health() -> None:
    def crashes(driver: Driver) -> Iterator[Finding]:
        raise RuntimeError
        yield

    assert diagnose(GPU_MACHINE, [declared(crashes)], level="quick").summary.status is Status.UNKNOWN


def test_trials_are_planned_once_for_all_checks() -> None:
    first = declared(fires, trials=("baseline", "gradcheck"))
    second = declared(fires, code="AC102", trials=("baseline", "made_up"))
    assert plan_trials([first, second], frozenset({"baseline", "gradcheck"})) == ("baseline", "gradcheck")


def test_a_check_whose_parameter_is_no_fact_is_refused_at_declaration() -> None:
    def untyped(driver) -> Iterator[Finding]:  # type: ignore[no-untyped-def]  # noqa: ANN001
        yield finding()

    def undeclared(precision: SdkTrial) -> Iterator[Finding]:
        yield finding()

    with pytest.raises(TypeError, match="fact type"):
        declared(untyped)
    with pytest.raises(TypeError, match="not declared"):
        declared(undeclared)


def test_a_machine_that_nothing_important_judged_is_not_healthy() -> None:
    assert diagnose(GPU_MACHINE, [declared(quiet)]).summary.status is Status.HEALTHY
    assert diagnose(GPU_MACHINE, []).summary.status is Status.UNKNOWN
    assert diagnose(GPU_MACHINE, [declared(quiet, core=False)]).summary.status is Status.UNKNOWN


def test_without_the_built_in_checks_no_machine_is_healthy() -> None:
    broken = Plugin(name="builtin", module="gpudoctor_checks", error="ImportError: no module")
    report = diagnose(GPU_MACHINE, [declared(quiet)], plugins=(broken,))
    assert (report.summary.status, report.summary.headline) == (Status.UNKNOWN, "No important check could judge")


def test_what_was_left_out_of_the_judgement_is_not_called_healthy() -> None:
    every = [declared(quiet), declared(quiet, code="AC102"), declared(quiet, code="AC103", core=False)]
    healthy = diagnose(GPU_MACHINE, every, level="quick").summary
    assert of_a_part(healthy, every, every).status is Status.HEALTHY
    assert of_a_part(healthy, every[:2], every).status is Status.HEALTHY
    partly = of_a_part(healthy, every[:1], every)
    assert (partly.status, partly.headline) == (Status.UNKNOWN, "No issues found; checks left out: 1")


def test_a_check_that_does_not_apply_has_passed_and_is_not_counted_as_having_judged() -> None:
    def elsewhere(driver: Driver) -> Iterator[Finding]:
        raise NotApplicable("no container")
        yield

    report = diagnose(GPU_MACHINE, [declared(elsewhere), declared(quiet, code="AC102", slug="two")])
    coverage = report.summary.coverage
    assert [(each.status, each.applies) for each in report.checks] == [(Outcome.PASSED, False), (Outcome.PASSED, True)]
    assert (coverage.ran, coverage.applicable, coverage.not_applicable, coverage.total) == (1, 1, 1, 2)


def test_a_note_is_never_the_primary_finding() -> None:
    def notes(driver: Driver) -> Iterator[Finding]:
        yield finding(severity=Severity.INFO)

    report = diagnose(GPU_MACHINE, [declared(notes)])
    assert (len(report.findings), report.summary.primary) == (1, None)
    assert diagnose(GPU_MACHINE, [declared(fires), declared(notes, code="AC102")]).summary.primary == "AC101"


def test_a_gpu_that_nobody_looked_for_is_not_called_absent() -> None:
    assert diagnose(Snapshot(), ()).summary.headline == "Whether there is an NVIDIA GPU is not known"
    none = Snapshot(nvml=Nvml(status="library_not_found"), cuda=Cuda(status="library_not_found"))
    assert diagnose(none, ()).summary.headline == "No usable NVIDIA GPU on this machine"
