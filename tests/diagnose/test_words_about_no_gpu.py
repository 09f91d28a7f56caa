"""On a machine without a GPU TensorFlow's words about one are no trouble: neither the probe's nor those of a run that went well."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.run_report import report_of_run
from gpudoctor.logs.intake import events_in
from gpudoctor.model.session import Session
from gpudoctor.model.told import MessageRecord
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
