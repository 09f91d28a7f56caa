"""Match facts to the needs of checks, judge, classify. No I/O: the same snapshot always gives the same report."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gpudoctor.diagnose.aim import aim
from gpudoctor.diagnose.api_fit import with_fitting_apis
from gpudoctor.diagnose.facts import Facts, gather
from gpudoctor.diagnose.folding import fold
from gpudoctor.diagnose.ranking import rank
from gpudoctor.diagnose.registry import AnyCheck
from gpudoctor.diagnose.summary import blocked, judged_causes, summarise
from gpudoctor.knowledge.plausible import plausible
from gpudoctor.model.finding import Finding, Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import Log, Trial
from gpudoctor.model.record import dataclass
from gpudoctor.model.report import Outcome, Plugin, Report, Verdict
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.threshold import Limits
from gpudoctor.model.words import ReportLevel
from gpudoctor.sdk import Inconclusive, NotApplicable, Skip

# Policy, not a measurement: a suspicion that is more likely wrong than right must not break a build.
ERROR_NEEDS_CONFIDENCE = 0.5
WARNING_NEEDS_CONFIDENCE = 0.3


def diagnose(
    snapshot: Snapshot,
    checks: Sequence[AnyCheck],
    *,
    level: ReportLevel = "standard",
    plugins: tuple[Plugin, ...] = (),
    severities: Mapping[str, Severity] | None = None,
) -> Report:
    """Return the report of the selected checks on one snapshot; `severities` are the configured ones, by code."""
    snapshot = plausible(snapshot)  # here, where every source comes by: a file, a bundle, a stated fact, a text
    if snapshot.run is None:  # nothing was run: no gap in what is known of the machine
        checks = [each for each in checks if not each.needs_run]
    texts = [each for each in checks if each.needs_text and not each.needs_run]
    if snapshot.log is None:  # nor was a text given
        checks = [each for each in checks if not each.needs_text]
    facts = gather(snapshot)
    verdicts = tuple(judge(check, facts, snapshot, severities) for check in checks)
    if snapshot.log is None:
        verdicts = (*verdicts, *_said_by_probe(snapshot, texts, verdicts, severities))
    told = (each for verdict in verdicts for each in verdict.findings)
    aimed = aim(told, snapshot.python, snapshot.host, snapshot.scheduler)
    findings = fold(with_fitting_apis(aimed, snapshot))
    return Report(
        summary=summarise(verdicts, findings, facts, level=level, checks=checks, plugins=plugins),
        snapshot=snapshot,
        level=level,
        checks=verdicts,
        findings=findings,
        fixes=rank(findings),
        plugins=plugins,
        not_judged=blocked(verdicts, findings),
    )


def plan_trials(checks: Sequence[AnyCheck], known: frozenset[str]) -> tuple[str, ...]:
    """Return the trials that the selected checks need and the probe knows, each once, in order of first need."""
    return tuple(dict.fromkeys(trial for check in checks for trial in check.trials if trial in known))


def _said_by_probe(
    snapshot: Snapshot,
    texts: Sequence[AnyCheck],
    verdicts: Sequence[Verdict],
    severities: Mapping[str, Severity] | None,
) -> Iterator[Verdict]:
    """Yield what the stderr of the probe's children tells beyond the facts: troubles whose cause no other check judged."""
    children = snapshot.probe.children if snapshot.probe is not None else ()
    events = tuple(event for child in children for event in child.events)
    if not events:
        return
    told = replace(snapshot, log=Log(events=events))
    facts = gather(told)
    judged = judged_causes(verdicts)
    for check in texts:
        verdict = judge(check, facts, told, severities)
        new = [each for each in verdict.findings if each.cause not in judged and each.severity is not Severity.INFO]
        if new:
            heard = tuple(replace(each, basis=each.basis.replace("the log", "the probe's stderr")) for each in new)
            yield replace(verdict, findings=heard)


def judge(
    check: AnyCheck, facts: Facts, snapshot: Snapshot, severities: Mapping[str, Severity] | None = None
) -> Verdict:
    """Return one check's verdict; whatever it raises becomes its outcome, never ours."""
    begun = time.perf_counter()
    trials: Mapping[str, Trial] = snapshot.probe.trials if snapshot.probe is not None else dict[str, Trial]()
    arguments, lacking = _arguments(check, facts, trials)
    if lacking:
        judged = _Judged(status=Outcome.SKIPPED, reason=lacking)
    else:
        judged = _run(check, arguments, (severities or {}).get(check.code))
    return Verdict(
        code=check.code,
        slug=check.slug,
        title=check.title,
        family=check.family,
        causes=check.causes,
        status=judged.status,
        reason=judged.reason,
        trials=tuple(need.trial for need in check.needs if need.trial and need.trial in trials),
        duration_s=round(time.perf_counter() - begun, 6),
        core=check.core,
        applies=judged.applies,
        moved=check.limits.moved,
        findings=judged.findings,
    )


def _arguments(check: AnyCheck, facts: Facts, trials: Mapping[str, Trial]) -> tuple[dict[str, object], str]:
    arguments: dict[str, object] = {}
    for need in check.needs:
        if need.fact is Limits:
            value: object = check.limits
        elif need.trial:
            value = trials.get(need.trial) or Missing(f"the probe's trial {need.trial} did not run")
        else:
            value = facts.get(need.fact, Missing(f"no source gives {need.fact.__name__}"))
        if not isinstance(value, Missing):
            arguments[need.parameter] = value
        elif need.optional:
            arguments[need.parameter] = None
        else:
            return {}, value.reason
    return arguments, ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """What came of one call of a check."""

    status: Outcome
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    applies: bool = True


def _run(check: AnyCheck, arguments: dict[str, object], severity: Severity | None) -> _Judged:
    try:
        findings = tuple(_complete(check, each, severity) for each in check.judge(**arguments))
    except Skip as why:
        return _Judged(status=Outcome.SKIPPED, reason=str(why))
    except Inconclusive as why:
        return _Judged(status=Outcome.INCONCLUSIVE, reason=str(why))
    except NotApplicable as why:
        return _Judged(status=Outcome.PASSED, reason=f"does not apply: {why}", applies=False)
    except (Exception, SystemExit) as failure:  # noqa: BLE001  # a check's fault is its outcome and must not end the run
        return _Judged(status=Outcome.CRASHED, reason=f"{type(failure).__name__}: {failure}")
    return _Judged(status=Outcome.FOUND if findings else Outcome.PASSED, findings=findings)


def _complete(check: AnyCheck, finding: Finding, severity: Severity | None) -> Finding:
    """Put in what the check need not repeat; cap the severity by the confidence. Raises TypeError for no finding."""
    if not _is_finding(finding):
        message = f"a check yields findings with a Severity, not {finding!r:.80}"
        raise TypeError(message)
    return replace(
        finding,
        code=check.code,
        slug=check.slug,
        title=finding.title or check.title,
        cause=finding.cause or check.causes[0],
        severity=severity or _capped(finding.severity, finding.confidence),
    )


def _is_finding(value: object) -> bool:
    """Tell whether a plug-in, which need not be typed, yielded what it should."""
    severity: object = getattr(value, "severity", None)
    confidence: object = getattr(value, "confidence", None)
    return isinstance(value, Finding) and isinstance(severity, Severity) and isinstance(confidence, float | int)


def _capped(severity: Severity, confidence: float) -> Severity:
    if confidence < WARNING_NEEDS_CONFIDENCE:
        return Severity.INFO
    if confidence < ERROR_NEEDS_CONFIDENCE and severity is Severity.ERROR:
        return Severity.WARNING
    return severity
