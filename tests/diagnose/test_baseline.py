"""A baseline accepts what somebody knows: not another trouble, not another GPU, and not the same trouble grown graver."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.codec import dumps, load_baseline, to_builtins
from gpudoctor.diagnose import baseline
from gpudoctor.diagnose.gate import exit_code
from gpudoctor.errors import UsageError
from gpudoctor.model.finding import Evidence, Location, Severity
from gpudoctor.model.report import Report
from tests.present.reports import finding, report


def machine(*words: str, severity: Severity = Severity.ERROR) -> Report:
    found = tuple(replace(finding("GD401", severity), summary=each) for each in words)
    return replace(report(), findings=found, summary=replace(report().summary, expectation=""))


def accepted(before: Report, now: Report) -> list[bool]:
    return [each.accepted for each in baseline.apply(now, baseline.renewed(before.findings)).findings]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("GPU 0: 0.4 of 15.0 GiB free; held by process 812.", "GPU 0: 1.25 of 15.0 GiB free; held by process 9."),
        ("Driver 450.248.02 is too old for CUDA 12.5.1.", "Driver 470.57 is too old for CUDA 12.8."),
    ],
)
def test_other_figures_are_the_same_trouble(before: str, now: str) -> None:
    assert accepted(machine(before), machine(now)) == [True]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("GPU 0: 1 GiB free", "GPU 1: 1 GiB free"),
        ("GPU 1: 1 GiB free", "GPU 11: 1 GiB free"),
        ("held by your own python 8", "held by another user, process 8"),
    ],
)
def test_another_gpu_or_another_owner_is_new(before: str, now: str) -> None:
    assert accepted(machine(before), machine(now)) == [False]


def numbers(words: str, **values: float) -> Report:
    evidence = tuple(Evidence(label=label.replace("_", " "), value=value, unit="GPUs" if label == "NVML" else "")
                     for label, value in values.items())  # fmt: skip
    there = machine(words)
    return replace(there, findings=(replace(there.findings[0], evidence=evidence),))


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        (numbers("1 of 8 GPUs missing", missing=1, NVML=7), numbers("4 of 8 GPUs missing", missing=4, NVML=4), False),
        (numbers("1 of 8 GPUs missing", missing=1, NVML=7), numbers("1 of 8 GPUs missing", missing=1, NVML=7), True),
        (numbers("GPU 0: 1 errors", uncorrected=1), numbers("GPU 0: 60 errors", uncorrected=60), False),
        (numbers("GPU 0: 60 errors", uncorrected=60), numbers("GPU 0: 1 errors", uncorrected=1), True),
        (numbers("GPU 0: 1 errors"), numbers("GPU 0: 60 errors", uncorrected=60), False),
        (numbers("GPU 0: 1 errors", corrected=1), numbers("GPU 0: 1 errors", corrected=900), True),
        (numbers("GPU 0: hot", temperature=88), numbers("GPU 0: hot", temperature=91), True),
        (numbers("Xid 48", errors_logged=1), numbers("Xid 48", errors_logged=50), False),
        (numbers("a link", width_under_load=8), numbers("a link", width_under_load=1), False),
        (numbers("a link", width_under_load=1), numbers("a link", width_under_load=8), True),
    ],
    ids=range(10),
)
def test_more_faults_or_fewer_gpus_are_graver_and_what_jitters_is_not(before: Report, now: Report, same: bool) -> None:
    assert accepted(before, now) == [same]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("The driver logged a hardware error: Xid 48.", "The driver logged a hardware error: Xid 79."),
        ("The driver logged a hardware error: Xid 48, 63.", "The driver logged a hardware error: Xid 48, 79."),
        ("cuInit fails with 100.", "cuInit fails with 803."),
        ("The child ended by signal 9.", "The child ended by signal 11."),
        ("NVIDIA GeForce RTX 3080 (8.6): slow.", "NVIDIA GeForce RTX 3090 (8.6): slow."),
        ("CUDA_VISIBLE_DEVICES='0,1,9' gives 2 GPU(s).", "CUDA_VISIBLE_DEVICES='0,9' gives 1 GPU(s)."),
        ("GPUs 0, 1 and 2 are hot.", "GPUs 0, 1 and 7 are hot."),
    ],
)
def test_another_code_model_or_setting_is_new(before: str, now: str) -> None:
    assert accepted(machine(before), machine(now)) == [False]
    assert accepted(machine(now), machine(now)) == [True]


def test_the_same_event_on_another_gpu_is_new() -> None:
    there = machine("Xid 48")
    first, second = (
        replace(
            there,
            findings=(replace(there.findings[0], evidence=(Evidence(label="Xid 48", value="x", source=source),)),),
        )
        for source in ("kernel log of 0000:18:00", "kernel log of 0000:1d:00")
    )
    assert accepted(first, second) == [False]
    assert accepted(second, second) == [True]


def test_another_subject_is_new_even_where_the_sentence_does_not_name_it() -> None:
    there = machine("hot")
    one, other = (replace(there, findings=(replace(there.findings[0], subject=each),)) for each in ("GPU 0", "GPU 5"))
    assert accepted(one, other) == [False]


def test_one_entry_for_two_equal_findings_accepts_the_graver_of_both() -> None:
    one, other = numbers("GPU 0: 1 errors", uncorrected=1), numbers("GPU 0: 6 errors", uncorrected=6)
    both = replace(one, findings=(*one.findings, *other.findings))
    assert accepted(both, both) == [True, True]
    assert accepted(both, numbers("GPU 0: 7 errors", uncorrected=7)) == [False]


def test_a_trouble_that_grew_graver_is_new_and_one_that_eased_is_not() -> None:
    mild, grave = machine("GPU 0: hot", severity=Severity.WARNING), machine("GPU 0: hot")
    assert accepted(mild, grave) == [False]
    assert accepted(grave, mild) == [True]


def test_another_place_in_the_code_is_new() -> None:
    there = machine("a loop")
    here = replace(there, findings=(replace(there.findings[0], location=Location(file="other.py", line=3)),))
    assert accepted(there, here) == [False]


def test_only_what_is_new_counts() -> None:
    known = baseline.renewed(machine("GPU 0: hot").findings)
    assert exit_code(machine("GPU 0: hot")) == 1
    assert exit_code(baseline.apply(machine("GPU 0: hot"), known)) == 0
    both = baseline.apply(machine("GPU 0: hot", "GPU 1: hot"), known)
    assert exit_code(both) == 1
    assert both.summary.counts["accepted"] == 1


def test_a_renewed_baseline_keeps_the_notes_and_drops_what_is_gone() -> None:
    old = baseline.renewed(machine("GPU 0: hot", "GPU 1: hot").findings)
    noted = replace(old, accepted=tuple(replace(each, note="ticket 7") for each in old.accepted))
    new = baseline.renewed(machine("GPU 1: hot", "GPU 2: hot").findings, noted)
    assert [(each.fingerprint[:5], each.note) for each in new.accepted] == [("GPU 1", "ticket 7"), ("GPU 2", "")]


def test_the_same_findings_in_any_order_write_the_same_file() -> None:
    one, other = (
        baseline.renewed(machine(*words).findings) for words in (("GPU 0: a", "GPU 1: a"), ("GPU 1: a", "GPU 0: a"))
    )
    assert [each.fingerprint for each in one.accepted] == [each.fingerprint for each in other.accepted]


def test_a_baseline_survives_the_way_through_json() -> None:
    made = baseline.renewed(report().findings)
    assert load_baseline(dumps(to_builtins(made, {})).encode(), name="it") == made


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not a baseline"),
        (b"[]", "not a baseline"),
        (b"{}", "not a baseline"),
        (b"[" * 100_000, "not a baseline"),
        (b'{"a":' * 100_000, "not a baseline"),
        (b'{"baseline_version": 1e999, "accepted": []}', "not a baseline"),
        (b'{"baseline_version": 99999999999999999999999999, "accepted": []}', "upgrade gpudoctor|not a baseline"),
        (b'{"baseline_version": 2, "accepted": []}', "newer gpudoctor"),
        (b'{"baseline_version": 1, "accepted": [{"code": "GD1"}]}', "not a baseline"),
        (b'{"baseline_version": 1, "accepted": "all"}', "not a baseline"),
        (
            b'{"baseline_version":1,"accepted":[{"code":"GD1","cause":"c","severity":"fatal","fingerprint":"x"}]}',
            "not a baseline",
        ),
        (b" " * (5 * 1024 * 1024), "larger than"),
        (b"\xff\xfe", "not a baseline"),
    ],
    ids=range(13),
)
def test_what_is_no_baseline_is_refused_with_a_cure(data: bytes, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        load_baseline(data, name="it")
