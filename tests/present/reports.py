"""Reports to render: one with every outcome, and words that attack whoever shows them."""

from __future__ import annotations

from gpudoctor.model.finding import Evidence, Finding, Fix, Gain, Grade, Location, Severity
from gpudoctor.model.report import Coverage, Outcome, Plugin, Report, Status, Summary, Verdict
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.words import FailOn

HOSTILE = (
    "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202egnp.exe \u2028 \ufffe \ud800 \x00 "
    "]]> <img src=x onerror=alert(1)> & \" ' ::error title=x::y ##[command]z %0A @everyone [l](javascript:x) `x` | \\ ,:"
)


def finding(code: str, severity: Severity, words: str = "", *, caused_by: str | None = None) -> Finding:
    fix = Fix(
        id=f"fix-{code}",
        title=f"Mend it {words}",
        action="command",
        text=f"first line {words}\nsecond ``` line",
        gain=Gain(grade=Grade.UNBLOCKS),
    )
    return Finding(
        summary=f"GPU 0 is in trouble {code}. {words}",
        severity=severity,
        confidence=0.9,
        basis=f"a test {words}",
        code=code,
        slug=f"slug-{code.lower()}",
        title=f"Title {words}",
        cause="throttle",
        caused_by=caused_by,
        evidence=(Evidence(label=f"label {words}", value=words, unit="MHz"),),
        fixes=(fix,),
        location=Location(file=f"train{words}.py", line=3, end_line=4),
    )


def verdict(code: str, status: Outcome, reason: str = "") -> Verdict:
    return Verdict(
        code=code,
        slug=f"slug-{code.lower()}",
        title="Title",
        family="memory",
        causes=("throttle",),
        status=status,
        reason=reason,
        duration_s=0.001,
    )


def report(words: str = "", *, fail_on: FailOn = "error") -> Report:
    """Return a report with every outcome, and `words` wherever a foreign text can stand."""
    findings = (
        finding("GD101", Severity.ERROR, words),
        finding("GD102", Severity.WARNING, words, caused_by="GD101"),
        finding("GD103", Severity.WARNING, words),
        finding("GD104", Severity.INFO, words),
    )
    checks = (
        *(verdict(each.code, Outcome.FOUND) for each in findings),
        verdict("GD105", Outcome.PASSED),
        verdict("GD106", Outcome.SKIPPED, f"NVML is silent {words}"),
        verdict("GD107", Outcome.INCONCLUSIVE, f"too noisy {words}"),
        verdict("GD108", Outcome.CRASHED, f"ValueError: {words}"),
    )
    summary = Summary(
        status=Status.BROKEN,
        headline=f"GPU 0 is in trouble. {words}",
        counts={"error": 1},
        coverage=Coverage(ran=5, total=8),
        expectation=f"8 GPU(s) expected, 0 usable {words}",
    )
    return Report(
        summary=summary,
        snapshot=Snapshot(),
        tool={"name": "gpudoctor", "version": "1"},
        started_at="2026-01-02T03:04:05+00:00",
        duration_s=1.5,
        target={"executable": f"/bin/python{words}", "chosen_by": "--python"},
        checks=checks,
        findings=findings,
        fixes=findings[0].fixes,
        plugins=(Plugin(name=f"acme{words}", module="acme", error=f"ImportError {words}"),),
        fail_on=fail_on,
    )
