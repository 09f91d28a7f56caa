"""Recordings of real scripts with a known fault: the first cause, its line, what is advised and what is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from gpudoctor import codec
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.run_report import report_of_run
from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Report
from gpudoctor.present import json as json_form
from gpudoctor.present import run_markdown, run_text, text
from tests.profile.timelines import FOLDER, recorded

CHECKS = registry.load().checks
FAULTS = {
    "numpy-function": ("numpy-hot-loop", 16),
    "slow-generator": ("input-pipeline", 19),
    "serial-map": ("input-pipeline", 15),
    "slow-files": ("storage", 20),
    "retracing": ("eager-or-tracing", 24),
    "predict-each": ("per-call-overhead", 10),
    "slow-callback": ("epoch-end-stall", 13),
}
RECORDINGS = sorted(each.stem for each in FOLDER.glob("*.json"))


def report(name: str) -> Report:
    return report_of_run(recorded(name), CHECKS)


@pytest.mark.parametrize(("name", "truth"), FAULTS.items(), ids=FAULTS)
def test_the_first_cause_and_its_line_are_right(name: str, truth: tuple[str, int]) -> None:
    first = report(name).findings[0]
    assert first.location is not None
    assert (first.cause, first.location.line) == truth


def test_nothing_is_found_in_a_healthy_run() -> None:
    made = report("healthy-arrays")
    assert [each.code for each in made.findings if each.severity is not Severity.INFO] == []
    assert made.summary.status.value == "healthy"


def test_python_in_the_pipeline_is_explained_by_the_function_that_is_called_back() -> None:
    second = report("numpy-function").findings[1]
    assert (second.cause, second.caused_by) == ("input-pipeline", "GD513")


@pytest.mark.parametrize("name", ["numpy-function", "slow-generator", "slow-files"])
def test_parallel_calls_are_never_advised_for_python(name: str) -> None:
    made = report(name)
    run = made.snapshot.run
    assert run is not None
    assert run.pipeline is not None
    assert {each.kind for each in run.pipeline.changes} <= {"tf_ops", "cache", "perfect", "prefetch"}


def test_a_prefetch_that_is_there_is_not_advised() -> None:
    for name in RECORDINGS:
        run = report(name).snapshot.run
        assert run is not None
        if run.pipeline is not None and run.pipeline.prefetch != "none":
            assert "prefetch" not in {each.kind for each in run.pipeline.changes}


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_text_is_short_and_narrow_but_for_what_must_be_copied(name: str) -> None:
    lines = run_text.render(report(name)).splitlines()
    assert len(lines) <= run_text.LINES
    assert [line for line in lines if len(line) > run_text.WIDTH and not line.startswith("   ")] == []


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_first_line_says_which_interpreter_trained_and_why(name: str) -> None:
    chosen = report_of_run(replace(recorded(name), chosen_by="VIRTUAL_ENV"), CHECKS)
    lines = [run_text.render(each).splitlines()[1] for each in (report(name), chosen)]
    assert lines == [
        "Target   /opt/venv/bin/python (the command's own)",
        "Target   /opt/venv/bin/python (VIRTUAL_ENV; change: --python)",
    ]
    assert '"executable": "/opt/venv/bin/python"' in json_form.render(chosen)


def test_where_no_python_was_seen_the_command_itself_stands_there() -> None:
    silent = replace(recorded("retracing"), processes=(), loops=(), steps=(), command=("bash", "train.sh"))
    assert run_text.render(report_of_run(silent, CHECKS)).splitlines()[1] == (
        "Target   bash (the command's own; no Python process was seen)"
    )


@pytest.mark.parametrize("name", RECORDINGS)
def test_findings_and_fixes_stand_in_the_columns_of_a_scan(name: str) -> None:
    made = report(name)
    if not made.fixes:
        return
    run, scan = run_text.render(made, verbose=True).splitlines(), text.render(made, verbose=True).splitlines()
    for opens in ("PRIMARY", "FIXES"):
        ours, theirs = (next(line for line in lines if line.startswith(opens)) for lines in (run, scan))
        assert ours.split() == theirs.split()
    item = made.findings[0].evidence[0]
    assert [line for line in run if line.lstrip().startswith(item.label)] == [
        line for line in scan if line.lstrip().startswith(item.label)
    ]


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_form_holds_the_verdict(name: str) -> None:
    made = report(name)
    assert made.summary.status.value in run_markdown.render(made)
    assert '"run"' in json_form.render(made)


def test_a_scan_is_not_asked_about_runs() -> None:
    from gpudoctor.diagnose.engine import diagnose  # noqa: PLC0415  # beside its one use
    from tests.checks.machines import healthy_h100  # noqa: PLC0415

    asked = {each.code for each in diagnose(healthy_h100(), CHECKS).checks}
    assert not {"GD511", "GD622"} & asked


def test_the_reports_json_fits_its_schema() -> None:
    schema: Any = jsonschema.Draft202012Validator(codec.schema(Report))  # its types are only half known
    for name in RECORDINGS:
        schema.validate(codec.report_to_builtins(report(name)))


def test_places_below_the_commands_folder_are_as_the_user_wrote_them() -> None:
    recording = recorded("numpy-function")
    made = report_of_run(recording, CHECKS, rewrite=str)
    location = made.findings[0].location
    assert location is not None
    assert location.file == "fault_numpy_function.py"


@pytest.mark.parametrize(("name", "line"), [("numpy-function", 16), ("slow-generator", 19)])
def test_without_tf_datas_own_model_the_call_sites_name_the_line(name: str, line: int) -> None:
    older = replace(recorded(name), pipeline_nodes=())  # TensorFlow before 2.18
    first = report_of_run(older, CHECKS).findings[0]
    assert first.location is not None
    assert first.location.line == line
    assert all(fix.gain.low == 1.0 for fix in first.fixes)


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recording_that_was_cut_short_is_judged_by_what_it_has(name: str) -> None:
    whole = recorded(name)
    last = max(each.at for each in whole.steps) - 0.5
    cut = replace(
        whole,
        outcome="cut_short",
        ended_at=Missing("killed"),
        exit_code=Missing("killed"),
        heartbeat_at=last,
        steps=tuple(each for each in whole.steps if each.at <= last),
        phases=tuple(
            replace(each, ended_at=each.ended_at if each.ended_at <= last else Missing("killed"))
            for each in whole.phases
            if each.started_at <= last and not isinstance(each.ended_at, Missing)
        ),
    )
    made = report_of_run(cut, CHECKS)
    assert [each.slug for each in made.checks if each.status.value == "crashed"] == []
    assert "was cut short" in run_text.render(made)
