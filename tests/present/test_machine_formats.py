"""Formats for CI: JUnit, GitHub annotations, Markdown and JSON lines, with every outcome and with hostile words."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import xmlschema

from gpudoctor.codec import schema
from gpudoctor.diagnose.gate import THRESHOLD, counts
from gpudoctor.model.report import Report
from gpudoctor.model.words import FailOn
from gpudoctor.present import formats
from gpudoctor.present.github import annotation
from tests.present.reports import HOSTILE, report

SCHEMA = xmlschema.XMLSchema(Path(__file__).with_name("junit.xsd"))
COMMAND = re.compile(r"^::(error|warning|notice) ((?:[^:,=]+=[^:,]*,?)+)::(.*)$")
every_format = pytest.mark.parametrize("name", formats.MACHINE)


def junit(of: Report) -> dict[str, ET.Element]:
    text = formats.render("junit", of)
    SCHEMA.validate(text)
    root = ET.fromstring(text)  # noqa: S314  # our own output
    return {str(case.get("name")): case for case in root.iter("testcase")}


def kind(case: ET.Element) -> str:
    return next((child.tag for child in case if child.tag != "system-out"), "passed")


def test_junit_has_one_case_a_check_and_keeps_the_outcomes_apart() -> None:
    cases = junit(report())
    kinds = {name.split()[0]: kind(case) for name, case in cases.items()}
    assert kinds == {
        "GD101": "failure",
        "GD102": "passed",
        "GD103": "passed",
        "GD104": "passed",
        "GD105": "passed",
        "GD106": "skipped",
        "GD107": "skipped",
        "GD108": "error",
        "expectation": "failure",
        "acme": "error",
    }
    assert cases["GD106 slug-gd106"][0].get("message") == "skipped: NVML is silent "
    assert cases["GD107 slug-gd107"][0].get("message") == "inconclusive: too noisy "
    assert cases["GD101 slug-gd101"].get("classname") == "gpudoctor.memory"
    assert "second ``` line" in str(cases["GD101 slug-gd101"][0].text)


@pytest.mark.parametrize("fail_on", THRESHOLD)
def test_a_case_fails_exactly_when_its_finding_counts(fail_on: FailOn) -> None:
    judged = report(fail_on=fail_on)
    failed = {name.split()[0] for name, case in junit(judged).items() if kind(case) == "failure"} - {"expectation"}
    assert failed == {each.code for each in judged.findings if counts(each, fail_on)}


def test_the_totals_of_junit_add_up() -> None:
    root = ET.fromstring(formats.render("junit", report()))  # noqa: S314  # our own output
    for element in (root, root[0]):
        for total, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"), ("tests", "testcase")):
            assert int(str(element.get(total))) == len(list(root.iter(tag)))


def test_an_accepted_finding_is_skipped_and_says_why() -> None:
    known = report()
    known = replace(known, findings=tuple(replace(each, accepted=True) for each in known.findings))
    case = junit(known)["GD101 slug-gd101"]
    assert kind(case) == "skipped"
    assert str(case[0].get("message")).startswith("accepted by the baseline: GPU 0 is in trouble GD101")
    assert "::notice title=GD101 slug-gd101 (accepted)" in formats.render("github", known).replace(
        "file=train.py,line=3,endLine=4,", ""
    )
    assert "error (accepted)" in formats.render("markdown", known)


def test_hostile_words_leave_junit_valid() -> None:
    cases = junit(report(HOSTILE))
    assert "<img src=x" in str(cases["GD101 slug-gd101"][0].text)


def test_github_gets_one_command_a_trouble_with_the_symptoms_in_it() -> None:
    lines = formats.render("github", report()).splitlines()
    commands = [matched for line in lines if (matched := COMMAND.match(line))]
    assert len(commands) == len(lines) - 1
    told = [(each[1], each[2].rpartition("title=")[2]) for each in commands]
    assert told == [
        ("error", "expectation not met"),
        ("error", "GD101 slug-gd101"),
        ("warning", "GD103 slug-gd103"),
        ("notice", "GD104 slug-gd104"),
        ("warning", "GD108 slug-gd108 crashed"),
        ("warning", "plug-in acme is broken"),
    ]
    assert "explains GD102 slug-gd102" in commands[1][3]
    assert "file=train.py,line=3,endLine=4," in commands[1][2]


def test_hostile_words_cannot_speak_to_githubs_runner() -> None:
    lines = formats.render("github", report(HOSTILE)).splitlines()
    assert all(COMMAND.match(line) for line in lines[:-1])
    assert lines[-1].startswith("gpudoctor: ")
    assert "##[" not in lines[-1]


def test_a_command_is_escaped_as_github_documents_it() -> None:
    assert annotation("error", "50 %\nnext, a:b", title="a:b,c%") == "::error title=a%3Ab%2Cc%25::50 %25%0Anext, a:b"


def test_markdown_keeps_hostile_words_from_acting() -> None:
    text = formats.render("markdown", report(HOSTILE))
    prose = re.sub(r"(?ms)^ {3}(`{3,})\w+$.*?^ {3}\1$", "", text)
    assert "<img" not in prose
    assert not re.search(
        r"(?<!\\)[@`|]", re.sub(r"(?m)^\|?(.*?)\|?$", r"\1", prose).replace(" | ", "").replace("|---", "")
    )
    assert "\\[l\\](javascript" in prose


def test_a_fence_is_longer_than_any_in_the_command() -> None:
    text = formats.render("markdown", report())
    assert "   ````sh\n   first line \n   second ``` line\n   ````" in text


def test_each_line_of_jsonl_stands_alone_and_the_summary_is_last() -> None:
    events = [json.loads(line) for line in formats.render("jsonl", report()).splitlines()]
    assert [each["event"] for each in events] == (
        ["scan"] + ["check"] * 8 + ["finding"] * 4 + ["fix"] + ["plugin"] + ["summary"]
    )
    assert {each["schema_version"] for each in events} == {1}
    assert events[-1]["exit_code"] == 3


@every_format
def test_no_format_sends_anything_that_steers_a_terminal(name: str) -> None:
    text = formats.render(name, report(HOSTILE.replace("\ud800", "")))
    steering = {char for char in text if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}} - {"\n"}
    assert steering == set()


@every_format
def test_a_run_that_could_not_be_made_has_a_document_in_every_format(name: str) -> None:
    failed = replace(report(), level="none", checks=(), findings=(), fixes=(), plugins=())
    text = formats.render(name, failed)
    assert "GPU 0 is in trouble" in text
    if name == "junit":
        assert [kind(case) for case in junit(failed).values()] == ["error"]


@pytest.mark.parametrize("primary", [None, "GD901"])
def test_json_names_what_to_mend_first_or_says_outright_that_there_is_none(primary: str | None) -> None:
    made = report()
    document = json.loads(formats.render("json", replace(made, summary=replace(made.summary, primary=primary))))
    assert document["summary"]["primary"] == primary
    jsonschema.validate(document, schema(Report))
