"""GD402: the allocator's dump decides; the probe's own pieces are never the user's fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Finding, Severity
from gpudoctor.model.observed import LogEvent, Trial
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import TrialStatus
from gpudoctor.testing import judge
from gpudoctor_checks.memory.fragmentation import FEWER_SHAPES, fragmented
from tests.checks.case import Case
from tests.checks.machines import MIB, broken, healthy_h100, with_env, with_events, with_trial, without


def an_oom(shortage: str = "fragmentation", *, dump: str = "complete", allocator: str = "GPU_0_bfc") -> LogEvent:
    figures = {"asked_bytes": 512 * MIB, "free_bytes": 3072 * MIB, "largest_free_bytes": 300 * MIB}
    if dump == "partial":
        del figures["largest_free_bytes"]
    texts = {name: str(value) for name, value in figures.items()}
    share = {} if dump == "partial" else {"fragmentation_share": "0.9023"}
    return LogEvent(
        kind="oom", line=88, values={"allocator": allocator, "shortage": shortage, "dump": dump, **texts, **share}
    )


def the_trial(status: TrialStatus = "ok", reason: str = "") -> Trial:
    figures = {"fragmentation_share": 0.61, "total_free_bytes": 2e8, "largest_free_bytes": 7.8e7, "methods_agree": 1.0}
    return Trial(name="fragmentation", status=status, reason=reason, device="GPU", values=figures)


def a_machine(trial: Trial | None, *events: LogEvent) -> Snapshot:
    machine = with_trial(healthy_h100(), trial, name="fragmentation")
    return with_events(machine, *events) if events else machine


def the_finding(machine: Snapshot) -> Finding:
    (finding,) = judge(fragmented, machine).findings
    return finding


IN_PIECES = a_machine(the_trial(), an_oom())
FAULTY = the_trial("failed", "the allocator lists a free block of 80000000 bytes and does not give it")
CASE = Case(
    check_code="GD402",
    fires=IN_PIECES,
    near_miss=a_machine(the_trial(), an_oom("full")),
    lacking=a_machine(None),
    trial="fragmentation",
    trial_variants=(None, FAULTY),
)


def test_an_oom_with_more_free_than_asked_is_an_error_with_its_figures() -> None:
    finding = the_finding(IN_PIECES)
    assert finding.severity is Severity.ERROR
    assert "3072 MiB free" in finding.summary
    assert "512 MiB" in finding.summary
    assert finding.fixes[0].text == "export TF_GPU_ALLOCATOR=cuda_malloc_async"


def test_growth_is_never_advised_against_fragmentation() -> None:
    for machine in (IN_PIECES, a_machine(FAULTY)):
        for finding in judge(fragmented, machine).findings:
            assert not any("growth" in f"{fix.title} {fix.text}".lower() for fix in finding.fixes)
    assert "Memory growth does not help" in fragmented.page


def test_a_cut_dump_is_less_sure() -> None:
    assert the_finding(a_machine(None, an_oom(dump="partial"))).confidence < the_finding(IN_PIECES).confidence


def test_an_allocator_that_is_already_chosen_is_not_advised_again() -> None:
    finding = the_finding(with_env(IN_PIECES, TF_GPU_ALLOCATOR="cuda_malloc_async"))
    assert [fix.id for fix in finding.fixes] == ["fewer-shapes"]


def test_the_async_allocator_is_not_advised_for_host_memory() -> None:
    assert "async-allocator" not in {fix.id for fix in the_finding(a_machine(None, an_oom(allocator="cpu"))).fixes}


def test_the_pieces_that_the_probe_makes_are_no_finding() -> None:
    verdict = judge(fragmented, a_machine(the_trial()))
    assert verdict.status is Outcome.PASSED


def test_an_allocator_that_keeps_back_a_free_block_is_a_finding() -> None:
    finding = the_finding(a_machine(FAULTY))
    assert finding.severity is Severity.WARNING
    assert "does not give it" in finding.summary


@pytest.mark.parametrize("status", ["inconclusive", "crashed", "refused", "unsupported"])
def test_a_trial_that_did_not_answer_is_not_a_pass(status: TrialStatus) -> None:
    trial = broken("fragmentation", status=status)
    assert judge(fragmented, a_machine(trial)).status is Outcome.INCONCLUSIVE


def test_a_log_without_an_oom_says_nothing_about_the_allocator() -> None:
    machine = without(a_machine(None, LogEvent(kind="cudnn_loaded")), "probe")
    assert judge(fragmented, machine).status is Outcome.INCONCLUSIVE


def test_the_worst_of_several_is_shown_with_their_number() -> None:
    worse = replace(an_oom(), line=99, values={**an_oom().values, "fragmentation_share": "0.97"})
    finding = the_finding(a_machine(None, an_oom(), worse))
    assert {each.label: each.value for each in finding.evidence}.items() >= {"fragmentation": 0.97, "times": 2}.items()


def test_batches_of_few_shapes_need_lengths_that_are_fixed() -> None:
    """padded_batch alone pads each batch to its own longest, which gives as many shapes as before."""
    assert "bucket_by_sequence_length" in FEWER_SHAPES.text
    assert "pad_to_bucket_boundary=True" in FEWER_SHAPES.text
    assert "padded_shapes=" in FEWER_SHAPES.text


def test_an_allocator_at_fault_without_a_reason_is_a_whole_sentence() -> None:
    sick = Trial(name="fragmentation", status="failed", values={"largest_free_bytes": 1.0})
    (finding,) = judge(fragmented, with_trial(healthy_h100(), sick, name="fragmentation")).findings
    assert finding.summary == "The allocator itself is at fault."
