"""JUnit XML as Jenkins and GitLab read it: one test case a check; `failure` is the machine's fault, `error` the check's own.

A finding fails its case exactly when it counts for the exit code. What could not be judged is `skipped` with its reason, so
that a green list never hides an unknown. Written as text: an XML library would escape no more and costs a start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from gpudoctor.diagnose.gate import counts
from gpudoctor.model.finding import Finding
from gpudoctor.model.report import Outcome, Report, Verdict
from gpudoctor.model.words import FailOn
from gpudoctor.present import lines
from gpudoctor.present.style import printable

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # production [2] Char of XML 1.0
SUITE = "gpudoctor"
JUDGED = "; ".join


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One test case: `kind` is passed, failure, error or skipped; `message` one line, `body` all that is known."""

    group: str
    name: str
    kind: str = "passed"
    type: str = ""
    message: str = ""
    body: str = ""
    duration_s: float = 0.0


def render(report: Report) -> str:
    """Return the XML document."""
    cases = [_failed(report)] if lines.failed_run(report) else [*_checks(report), *_extra(report)]
    total = {kind: sum(case.kind == kind for case in cases) for kind in ("failure", "error", "skipped")}
    numbers = _attributes(
        tests=str(len(cases)), failures=str(total["failure"]), errors=str(total["error"]), skipped=str(total["skipped"])
    )
    time = _attributes(time=f"{report.duration_s:.3f}")
    stamp = _attributes(timestamp=report.started_at.partition("+")[0]) if report.started_at else ""
    body = "".join(_element(case) for case in cases)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites{_attributes(name=SUITE)}{numbers}{time}>\n"
        f"<testsuite{_attributes(name=SUITE)}{numbers}{time}{stamp}>\n"
        f"{_properties(report)}{body}</testsuite>\n</testsuites>\n"
    )


def _failed(report: Report) -> _Case:
    return _Case(group=SUITE, name="scan", kind="error", type="not-run", message=report.summary.headline)


def _checks(report: Report) -> Iterator[_Case]:
    found = lines.by_code(report)
    for verdict in report.checks:
        yield _case(verdict, found.get(verdict.code, []), report.fail_on)


def _case(verdict: Verdict, findings: list[Finding], fail_on: FailOn) -> _Case:
    kind, word, message = _judged(verdict, findings, fail_on)
    return _Case(
        group=f"{SUITE}.{verdict.family}",
        name=f"{verdict.code} {verdict.slug}",
        kind=kind,
        type=word,
        message=message,
        body="\n".join(line for finding in findings for line in lines.details(finding)),
        duration_s=verdict.duration_s,
    )


def _judged(verdict: Verdict, findings: list[Finding], fail_on: FailOn) -> tuple[str, str, str]:
    """Return kind, type and message of a check's case."""
    counting = [each for each in findings if counts(each, fail_on)]
    if counting:
        return "failure", counting[0].severity.value, JUDGED(each.summary for each in counting)
    if verdict.status is Outcome.CRASHED:
        return "error", "crashed", verdict.reason
    if verdict.status in {Outcome.SKIPPED, Outcome.INCONCLUSIVE}:
        return "skipped", "", f"{verdict.status.value}: {verdict.reason}"
    if findings and all(each.accepted for each in findings):
        return "skipped", "", f"accepted by the baseline: {JUDGED(each.summary for each in findings)}"
    return "passed", "", ""


def _extra(report: Report) -> Iterator[_Case]:
    """Yield what is no check: an expectation that is not met, and plug-ins that cannot be loaded."""
    if report.summary.expectation:
        yield _Case(
            group=SUITE, name="expectation", kind="failure", type="expectation", message=report.summary.expectation
        )
    for plugin in report.plugins:
        if plugin.error:
            yield _Case(group=f"{SUITE}.plugin", name=plugin.name, kind="error", type="plugin", message=plugin.error)


def _element(case: _Case) -> str:
    head = f"<testcase{_attributes(classname=case.group, name=case.name, time=f'{case.duration_s:.6f}')}"
    if case.kind == "skipped":
        inner = f"<skipped{_attributes(message=case.message)}/>"
    elif case.kind == "passed":
        inner = f"<system-out>{_text(case.body)}</system-out>" if case.body else ""
    else:
        inner = f"<{case.kind}{_attributes(message=case.message, type=case.type)}>{_text(case.body)}</{case.kind}>"
    return f"{head}>{inner}</testcase>\n" if inner else f"{head}/>\n"


def _properties(report: Report) -> str:
    known = {
        "version": report.tool.get("version", ""),
        "level": report.level,
        "status": report.summary.status.value,
        "headline": report.summary.headline,
        "coverage": lines.coverage(report),
        "fail-on": report.fail_on,
    }
    rows = "".join(f"<property{_attributes(name=name, value=value)}/>\n" for name, value in known.items())
    return f"<properties>\n{rows}</properties>\n"


def _attributes(**values: str) -> str:
    return "".join(f' {name}="{_text(printable(value))}"' for name, value in values.items())


def _text(text: str) -> str:
    """Return the text escaped; a character that XML cannot hold at all is written as its number."""
    return NOT_XML.sub(lambda char: f"\\u{ord(char[0]):04x}", escape(text))
