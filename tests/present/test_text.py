"""The terminal report: short, whole commands, no surprises for a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Evidence, Finding, Fix, Gain, Grade, Severity
from gpudoctor.model.report import Coverage, Outcome, Plugin, Report, Status, Summary, Verdict
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.present.style import Style, printable, shorten
from gpudoctor.present.text import render

LONG = 'docker run --gpus all -it --rm -v "$PWD:/workspace" nvcr.io/nvidia/tensorflow:25.02-tf2-py3 python train.py --epochs 3'


def finding(number: int, severity: Severity = Severity.WARNING, caused_by: str | None = None) -> Finding:
    return Finding(
        summary=f"trouble {number}",
        severity=severity,
        confidence=0.9,
        basis="test",
        code=f"GD10{number}",
        slug=f"slug-{number}",
        title=f"Title {number}",
        cause="throttle",
        caused_by=caused_by,
        evidence=tuple(Evidence(label=f"label {each}", value=each, unit="MHz") for each in range(6)),
    )


def fix(number: int, text: str = "short command") -> Fix:
    gain = Gain(grade=Grade.PROBE, speedup=1.5, low=1.4, high=1.6)
    return Fix(id=f"fix-{number}", title=f"Fix number {number}", action="command", text=text, gain=gain)


def report(
    *findings: Finding,
    fixes: tuple[Fix, ...] = (),
    status: Status = Status.BROKEN,
    headline: str = "trouble 1",
    plugins: tuple[Plugin, ...] = (),
    checks: tuple[Verdict, ...] = (),
    expectation: str = "",
) -> Report:
    summary = Summary(
        status=status,
        headline=headline,
        counts={},
        coverage=Coverage(ran=20, total=30),
        expectation=expectation,
    )
    return Report(summary=summary, snapshot=Snapshot(), findings=findings, fixes=fixes, plugins=plugins, checks=checks)


def crowded() -> Report:
    many = tuple(finding(number) for number in range(1, 9))
    skipped = tuple(
        Verdict(code="GD1", slug=f"s{n}", title="", family="", causes=(), status=Outcome.SKIPPED) for n in range(20)
    )
    return report(
        *many, fixes=tuple(fix(n, LONG) for n in range(6)), checks=skipped, expectation="8 expected, 0 usable"
    )


def test_a_crowded_report_keeps_to_25_lines_of_80_columns() -> None:
    lines = render(crowded()).splitlines()
    assert len(lines) <= 25
    assert max(len(line) for line in lines if LONG not in line) <= 80


def test_a_command_is_never_cut() -> None:
    assert LONG in render(crowded())


def test_verbose_shows_all_fixes_and_findings() -> None:
    text = render(crowded(), verbose=True)
    assert all(f"GD10{number}" in text for number in range(1, 9))
    assert text.count(LONG) == 6


def test_symptoms_stand_in_one_line_under_their_cause() -> None:
    text = render(report(finding(1), finding(2, caused_by="GD101")))
    assert "explains  GD102 slug-2" in text.replace("   ", " ")
    assert "ALSO" not in text


def test_a_healthy_machine_is_told_so_and_its_remarks_are_notes() -> None:
    text = render(report(finding(1, Severity.INFO), status=Status.HEALTHY, headline="No issues found"))
    assert "[v] HEALTHY  No issues found" in text
    assert "PRIMARY" not in text
    assert "NOTES" in text


def test_a_broken_plugin_is_one_line() -> None:
    text = render(report(finding(1), plugins=(Plugin(name="acme", module="acme_checks", error="ImportError: no x"),)))
    assert [line for line in text.splitlines() if "acme" in line] == ["plug-in acme is broken: ImportError: no x"]


def test_without_colour_there_is_no_escape_and_with_it_the_words_stay() -> None:
    plain, painted = render(crowded()), render(crowded(), style=Style(color=True))
    assert "\x1b" not in plain
    assert "\x1b[" in painted
    assert "[x] BROKEN" in painted


@pytest.mark.parametrize("hostile", ["\x1b]0;owned\x07", "a\rb", "\u202egnp.exe", "x\x00y", "\x9b31m", "line\u2028two"])
def test_no_character_of_a_name_can_steer_the_terminal(hostile: str) -> None:
    assert printable(hostile).isprintable()
    assert "\x1b" not in render(report(finding(1), headline=hostile))


def test_ordinary_letters_of_any_script_are_kept() -> None:
    assert printable("Grafikkarte überhitzt, 显卡") == "Grafikkarte überhitzt, 显卡"


def test_a_cut_text_shows_that_it_is_cut() -> None:
    assert shorten("abcdef", 4) == "abc~"
    assert shorten("abcd", 4) == "abcd"


def test_a_crashed_check_is_one_line_with_its_reason_without_verbose() -> None:
    crashed = Verdict(
        code="GD199",
        slug="mine",
        title="t",
        family="driver",
        causes=("mig",),
        status=Outcome.CRASHED,
        reason="KeyError: 'name'",
    )
    lines = render(replace(report(), checks=(crashed, replace(crashed, code="GD198")))).splitlines()
    assert "Check GD199 mine crashed (1 more: -v): KeyError: 'name'" in lines


def test_what_does_not_apply_is_not_counted_as_judged() -> None:
    base = report()
    counted = replace(base.summary, coverage=Coverage(ran=5, total=9, not_applicable=3))
    assert "5 of 6 checks ran" in render(replace(base, summary=counted))


def of_each_outcome() -> Report:
    statuses = (Outcome.PASSED, Outcome.SKIPPED, Outcome.SKIPPED, Outcome.INCONCLUSIVE, Outcome.CRASHED, Outcome.PASSED)
    checks = tuple(
        Verdict(
            code=f"GD19{number}",
            slug=f"check-{number}",
            title="t",
            family="driver",
            causes=("mig",),
            status=status,
            reason="" if status is Outcome.PASSED else f"why {number}",
            applies=number != 5,
        )
        for number, status in enumerate(statuses)
    )
    summary = replace(report().summary, coverage=Coverage(ran=1, total=6, not_applicable=1))
    return replace(report(), checks=checks, summary=summary)


def test_what_did_not_run_is_counted_and_the_reasons_are_one_option_away() -> None:
    text = render(of_each_outcome())
    assert "1 of 5 checks ran" in text
    assert "3 could not judge: check-1, check-2, 1 more; why: -v" in text.splitlines()


def test_verbose_the_parts_add_up_to_the_checks_and_each_has_its_reason() -> None:
    lines = render(of_each_outcome(), verbose=True).splitlines()
    counted = next(line for line in lines if line.startswith("CHECKS"))
    assert counted == (
        "CHECKS  1 of 5 ran, 3 could not judge (reason beside each), 1 crashed, 1 with nothing to judge here"
    )
    for number in (1, 2, 3, 4):
        assert any(f"check-{number} " in line and line.endswith(f"why {number}") for line in lines)


def with_next_step(label: str, value: str) -> Finding:
    told = Evidence(label=label, value=value, source="next step")
    return replace(finding(1), evidence=(*finding(1).evidence, told))


@pytest.mark.parametrize("label", ["run this to know", "GPU unknown"])
def test_a_command_among_the_evidence_is_wrapped_and_never_cut(label: str) -> None:
    text = render(report(with_next_step(label, f"yours: {LONG}")), verbose=True)
    assert " ".join(LONG.split()) in " ".join(text.split())


def test_the_command_that_decides_stays_in_a_crowded_report() -> None:
    base = crowded()
    first = with_next_step("run this to know", LONG)
    text = render(replace(base, findings=(first, *base.findings[1:])))
    assert LONG in text
    assert text.count("\n") <= 25


@pytest.mark.parametrize(
    ("chosen_by", "last"),
    [
        ("VIRTUAL_ENV", "Next: apply 1, then `gpudoctor scan`.  Why: `gpudoctor explain GD101`"),
        ("the text and this machine", "Next: apply 1, then `gpudoctor scan`.  Why: `gpudoctor explain GD101`"),
        ("snapshot node.json", "Next: apply 1, then `gpudoctor scan` there.  Why: `gpudoctor explain GD101`"),
        (
            "the text and what was stated",
            "Next: apply 1 there and train again; `gpudoctor log` reads what it then prints.",
        ),
        ("the text alone; taken as not from this machine", "Next: apply 1 there and train again;"),
    ],
)
def test_nobody_is_sent_to_scan_a_machine_that_is_not_here(chosen_by: str, last: str) -> None:
    target = {"executable": "run.log", "chosen_by": chosen_by}
    fixes = (replace(fix(1), addresses=("GD101",)),)
    lines = render(replace(report(finding(1), fixes=fixes), target=target)).splitlines()
    closing = [each for each in lines if each.startswith("Next:")]
    assert len(closing) == 1
    assert closing[0].startswith(last)
    assert max(map(len, lines)) <= 80


def test_where_one_command_decides_it_comes_before_any_fix() -> None:
    open_ = replace(with_next_step("run this to know", "nvidia-smi"), confidence=0.5)
    target = {"executable": "-", "chosen_by": "the text and what was stated"}
    text = render(replace(report(open_, fixes=(replace(fix(1), addresses=("GD101",)),)), target=target))
    assert text.splitlines()[-1] == "Next: run the command above there, then its fix.  Why: `gpudoctor explain GD101`"
