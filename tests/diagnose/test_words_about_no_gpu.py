"""On a machine without a GPU TensorFlow's words about one are no trouble: neither the probe's nor those of a run that went well."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.run_report import report_of_run
from gpudoctor.logs.intake import events_in
from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Report
from gpudoctor.model.session import GpuSample, ProcessRecord, Session
from gpudoctor.model.told import MessageRecord
from gpudoctor.tui.moment import as_of
from gpudoctor.tui.run_story import Story
from gpudoctor.tui.steady_findings import HELD_READS
from tests.profile.timelines import recorded

SAID = (
    b"I0000 00:00:1.0 1 cudart_stub.cc:31] Could not find cuda drivers on your machine, GPU will not be used.\n"
    b"E0000 00:00:1.0 1 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: "
    b"UNKNOWN ERROR (303)\n"
)


def saying_so(session: Session, **changes: object) -> Session:
    """Return a recording whose command printed what TensorFlow prints without a driver."""
    messages = tuple(
        MessageRecord(
            process="stderr", number=number, kind=each.kind, text=each.text, line=each.line, details=dict(each.values)
        )
        for number, each in enumerate(events_in(io.BytesIO(SAID)))
    )
    return replace(session, messages=messages, **{"nvml_status": "library_not_found", "exit_code": 0, **changes})  # type: ignore[arg-type]


def codes(session: Session) -> list[str]:
    return [each.code for each in report_of_run(session, registry.load().checks).findings]


def test_a_run_that_went_well_without_a_driver_is_not_told_of_one() -> None:
    silent = codes(replace(recorded("slow-generator"), nvml_status="library_not_found", exit_code=0))
    assert silent
    assert codes(saying_so(recorded("slow-generator"))) == silent


@pytest.mark.parametrize("changes", [{"nvml_status": "driver_not_loaded"}, {"exit_code": 1}])
def test_where_somebody_meant_a_gpu_it_is_told(changes: dict[str, object]) -> None:
    assert {"GD155", "GD251"} & set(codes(saying_so(recorded("slow-generator"), **changes)))


GPUS_OWN = ("GD1", "GD2")


def judged(session: Session) -> Report:
    return report_of_run(session, registry.load().checks)


def imported_only(**changes: object) -> Session:
    """Return a recording of a command that imported TensorFlow, said so, and trained nothing."""
    process = ProcessRecord(process="7-1", pid=7, tensorflow_version="2.20.0")
    bare = Session(schema_version=1, session="x", command=("python", "boom.py"), outcome="ended", processes=(process,))
    return saying_so(bare, **changes)


@pytest.mark.parametrize("code", [1, 2, 139])
@pytest.mark.parametrize("trained", [True, False])
def test_on_a_machine_without_a_gpu_it_is_a_note_however_the_script_ends(code: int, *, trained: bool) -> None:
    made = judged(saying_so(recorded("slow-generator"), exit_code=code) if trained else imported_only(exit_code=code))
    of_gpu = [each for each in made.findings if each.code.startswith(GPUS_OWN)]
    assert of_gpu
    assert all(each.severity is Severity.INFO and not each.fixes for each in of_gpu)
    assert not (made.summary.primary or "").startswith(GPUS_OWN)
    assert not any(set(each.addresses) & {each.code for each in of_gpu} for each in made.fixes)


def test_without_a_step_it_is_a_note_even_where_the_script_ended_well() -> None:
    made = judged(imported_only())
    assert made.findings
    assert made.summary.primary is None


@pytest.mark.parametrize(
    "changes",
    [
        {"nvml_status": "driver_not_loaded"},
        {"nvml_status": Missing("not recorded")},
        {"gpu_samples": (GpuSample(at=1.0, gpu=0),)},
        {"processes": (ProcessRecord(process="7-1", pid=7),)},
    ],
    ids=["driver there", "machine unknown", "a GPU", "another program's words"],
)
def test_with_a_gpu_or_where_none_is_known_to_be_absent_it_stays_a_trouble(changes: dict[str, object]) -> None:
    assert (judged(imported_only(exit_code=1, **changes)).summary.primary or "").startswith(GPUS_OWN)


def test_a_script_that_asks_for_a_gpu_in_vain_is_told_why_there_is_none() -> None:
    session = imported_only(exit_code=1)
    meant = MessageRecord(
        process="stderr", number=9, kind="gpu_missed", text="SystemError: GPU device not found", line=9
    )
    told = judged(replace(session, messages=(*session.messages, meant))).findings
    assert any(each.severity is not Severity.INFO and each.fixes for each in told if each.code.startswith(GPUS_OWN))


def test_while_a_run_goes_on_its_findings_are_those_of_its_end() -> None:
    whole = saying_so(recorded("slow-generator"))
    assert not isinstance(whole.ended_at, Missing)
    story = Story(registry.load(), None)
    at_s = whole.ended_at - 1.0
    live = [story.tell(as_of(whole, at_s), at_s=at_s, length_s=at_s) for _ in range(HELD_READS)][-1].report
    assert live is not None
    assert live.snapshot.run is not None
    assert live.snapshot.run.outcome == "running"
    assert live.findings
    assert not any(each.code.startswith(GPUS_OWN) for each in live.findings)
    assert {each.code for each in live.findings} == set(codes(whole))
    assert [each.id for each in live.fixes] == [each.id for each in judged(whole).fixes]
