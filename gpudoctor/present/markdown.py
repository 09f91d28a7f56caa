"""Markdown for step summaries and issue comments: what the terminal report says, as tables and copyable blocks.

Every foreign word is escaped: a summary is rendered as a web page, where `<img>` and `[link](...)` would act.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from gpudoctor.model.finding import Finding, Fix
from gpudoctor.model.report import Outcome, Report
from gpudoctor.present import figures, lines
from gpudoctor.present.headers import build_line, machine_line, probe_line, target_line
from gpudoctor.present.style import printable

# What would act in running text: emphasis, code, links, mentions, tables, issue numbers, bare addresses, a list at the start.
SPECIAL = re.compile(r"([\\`*_\[\]#|~@]|^[-+=]|(?<=^\d)[.)]|(?<=www)\.|:(?=//))")
FENCE = re.compile(r"`{3,}")
UNJUDGED = frozenset({Outcome.SKIPPED, Outcome.INCONCLUSIVE, Outcome.CRASHED})


def render(report: Report) -> str:
    """Return the document."""
    if lines.failed_run(report):
        return f"## gpudoctor: could not run\n\n{_safe(report.summary.headline)}\n"
    parts = [list(_head(report)), list(_findings(report)), list(_fixes(report)), list(_unjudged(report))]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _head(report: Report) -> Iterator[str]:
    yield f"## gpudoctor: {report.summary.status.value}"
    yield ""
    yield f"{_safe(report.summary.headline)} ({lines.coverage(report)})"
    if report.summary.expectation:
        yield ""
        yield f"**Expectation not met**: {_safe(report.summary.expectation)}"
    yield ""
    yield "| | |"
    yield "|---|---|"
    for line in (target_line(report.target), machine_line(report), build_line(report), probe_line(report)):
        label, _, words = line.partition(" ")
        yield f"| {label} | {_safe(words.strip())} |"


def _findings(report: Report) -> Iterator[str]:
    if not report.findings:
        return
    yield "### Findings"
    yield ""
    yield "| severity | check | what | confidence |"
    yield "|---|---|---|---|"
    for finding in report.findings:
        yield f"| {_severity(finding)} | {_safe(f'{finding.code} {finding.slug}')} | {_what(finding)} | {finding.confidence:.2f} |"


def _severity(finding: Finding) -> str:
    return f"{finding.severity.value} (accepted)" if finding.accepted else finding.severity.value


def _what(finding: Finding) -> str:
    tail = "" if finding.caused_by is None else f" (explained by {_safe(finding.caused_by)})"
    return _safe(finding.summary) + tail


def _fixes(report: Report) -> Iterator[str]:
    fixes = lines.to_do(report.fixes)
    if not fixes:
        return
    yield "### Fixes"
    for number, fix in enumerate(fixes, start=1):
        yield ""
        yield f"{number}. {_safe(fix.title)} ({_safe(figures.gain(fix.gain))}, {figures.effort(fix.effort_minutes)})"
        yield ""
        yield from _block(fix)
        if fix.peak is not None:
            yield f"   {_safe(figures.peak(fix.peak))}"


def _block(fix: Fix) -> Iterator[str]:
    text = [printable(line) for line in fix.text.splitlines()]
    fence = max((len(run) + 1 for run in FENCE.findall("\n".join(text))), default=3) * "`"
    yield f"   {fence}{'sh' if fix.action in {'command', 'setting'} else 'text'}"
    yield from (f"   {line}" for line in text)
    yield f"   {fence}"


def _unjudged(report: Report) -> Iterator[str]:
    unjudged = [each for each in report.checks if each.status in UNJUDGED]
    if not unjudged:
        return
    yield f"<details><summary>Could not judge: {len(unjudged)}</summary>"
    yield ""
    yield "| check | outcome | why |"
    yield "|---|---|---|"
    for verdict in unjudged:
        yield f"| {_safe(f'{verdict.code} {verdict.slug}')} | {verdict.status.value} | {_safe(verdict.reason)} |"
    yield ""
    yield "</details>"


def _safe(text: str) -> str:
    return SPECIAL.sub(r"\\\1", escape(printable(text).strip(), quote=False))
