"""The machine as a whole: status, headline and coverage. Unknown is never called healthy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gpudoctor.diagnose.facts import SILENT, Facts, gather
from gpudoctor.diagnose.folding import layer_of
from gpudoctor.diagnose.registry import BUILT_IN, AnyCheck
from gpudoctor.knowledge.rows.causes import VISIBILITY
from gpudoctor.model.finding import Finding, Grade, Severity
from gpudoctor.model.machine import Cuda, Kernel, Nvml
from gpudoctor.model.missing import Missing, either
from gpudoctor.model.record import dataclass
from gpudoctor.model.report import Coverage, Outcome, Plugin, Status, Summary, Verdict
from gpudoctor.model.run import Run, StepTimes
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.views import Driver, Gpus
from gpudoctor.model.words import ReportLevel

SAID_INSTEAD = {"timeout": "did not return in time", "crashed": "crashed", "binding_broken": "has broken bindings"}
RAN = frozenset({Outcome.PASSED, Outcome.FOUND})


def judged_causes(verdicts: Iterable[Verdict]) -> set[str]:
    """Return the causes of which a check has spoken: found, passed, or of no matter on this machine."""
    return {cause for each in verdicts if each.status in RAN for cause in each.causes}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What the caller wants to be told about: a number of GPUs, or no important unknown."""

    gpus: int | None = None
    strict: bool = False


def summarise(
    verdicts: Sequence[Verdict],
    findings: Sequence[Finding],
    facts: Facts,
    *,
    level: ReportLevel,
    checks: Sequence[AnyCheck],
    plugins: Sequence[Plugin] = (),
) -> Summary:
    """Return status, headline, counts and coverage."""
    unjudged = promised_but_unjudged(verdicts, level=level, checks=checks)
    status = _status(findings, facts, promise_kept=not unjudged and _judged_at_all(verdicts, plugins))
    counts = Counter(verdict.status.value for verdict in verdicts)
    counts.update(finding.severity.value for finding in findings)
    return Summary(
        status=status,
        headline=_headline(status, findings, facts, unjudged),
        counts=dict(sorted(counts.items())),
        coverage=_coverage(verdicts),
        primary=None if (primary := primary_of(findings)) is None else primary.code,
    )


def _coverage(verdicts: Sequence[Verdict]) -> Coverage:
    """Count who judged: a check that has nothing here to look for took no look."""
    ran = sum(verdict.status in RAN and verdict.applies for verdict in verdicts)
    return Coverage(ran=ran, total=len(verdicts), not_applicable=sum(not verdict.applies for verdict in verdicts))


def primary_of(findings: Sequence[Finding]) -> Finding | None:
    """Return the finding to mend first; a note is never it."""
    roots = (each for each in findings if each.caused_by is None and each.severity is not Severity.INFO)
    return next(roots, None)


def promised_but_unjudged(
    verdicts: Sequence[Verdict], *, level: ReportLevel, checks: Sequence[AnyCheck]
) -> tuple[Verdict, ...]:
    """Return the core checks that the level promises and that could not judge (`quick` runs no trial)."""
    promised = {check.code for check in checks if check.core and not (level == "quick" and check.needs_probe)}
    return tuple(each for each in verdicts if each.code in promised and each.status not in RAN)


def of_a_part(summary: Summary, checks: Sequence[AnyCheck], known: Sequence[AnyCheck]) -> Summary:
    """Return the summary of what only some of the known checks judged: what was not asked is not healthy."""
    left_out = {each.code for each in known if each.core} - {each.code for each in checks}
    if summary.status is not Status.HEALTHY or not left_out:
        return summary
    return replace(summary, status=Status.UNKNOWN, headline=f"No issues found; checks left out: {len(left_out)}")


def _judged_at_all(verdicts: Sequence[Verdict], plugins: Sequence[Plugin]) -> bool:
    """Return whether an important check judged and the built-in ones are there: none found is not none wrong."""
    ran = any(verdict.core and verdict.status in RAN for verdict in verdicts)
    return ran and not any(plugin.name == BUILT_IN and plugin.error for plugin in plugins)


def _status(findings: Sequence[Finding], facts: Facts, *, promise_kept: bool) -> Status:
    severities = {finding.severity for finding in findings}
    if Severity.ERROR in severities:
        return Status.BROKEN
    if Severity.WARNING in severities:
        return Status.WARNING
    usable = _gpu_usable(facts) or isinstance(facts.get(StepTimes), StepTimes)
    return Status.HEALTHY if usable and promise_kept else Status.UNKNOWN


def _gpu_usable(facts: Facts) -> bool:
    driver = facts.get(Driver)
    return isinstance(driver, Driver) and either(driver.usable, False)


def _headline(status: Status, findings: Sequence[Finding], facts: Facts, unjudged: Sequence[Verdict]) -> str:
    primary = primary_of(findings)
    if primary is not None:
        return primary.summary
    if status is Status.HEALTHY:
        return "No issues found"
    run, steps = facts.get(Run), facts.get(StepTimes)
    if isinstance(run, Run):
        why = steps.reason.partition(": ")[2] if isinstance(steps, Missing) else ""
        return f"Nothing to judge: {why}" if why else "Not all could be judged"
    if not _gpu_usable(facts):
        return next((each.summary for each in findings if _tells_why(each)), _no_gpu_reason(facts))
    if not unjudged:
        return "No important check could judge"
    return f"Not all could be judged: {', '.join(each.slug for each in unjudged[:3])}"


def _tells_why(finding: Finding) -> bool:
    """Return whether a note is about why no GPU is there; that TensorFlow is a CPU build, say, is none of the reasons."""
    return finding.caused_by is None and layer_of(finding.cause) <= VISIBILITY


def _no_gpu_reason(facts: Facts) -> str:
    silent = _silent_driver(facts)
    if silent:
        return silent
    driver = facts.get(Driver)
    if isinstance(driver, Driver) and not isinstance(driver.version, Missing):
        return "No usable NVIDIA GPU, though a driver is there"
    return "No usable NVIDIA GPU on this machine" if _looked(facts) else "Whether there is an NVIDIA GPU is not known"


def _looked(facts: Facts) -> bool:
    """Return whether a source that would show a GPU answered: what nobody looked for is not absent."""
    kernel = facts.get(Kernel)
    asked = [fact.status for kind in (Cuda, Nvml) if isinstance(fact := facts.get(kind), (Cuda, Nvml))]
    on_bus = isinstance(kernel, Kernel) and not isinstance(kernel.pci_gpus, Missing)
    return on_bus or any(not isinstance(each, Missing) for each in asked)


def _silent_driver(facts: Facts) -> str:
    """Return what the driver's libraries did instead of answering, '' where they answered: silence is not absence."""
    for kind, name in ((Cuda, "cuInit"), (Nvml, "NVML")):
        library = facts.get(kind)
        status = either(library.status, "") if isinstance(library, (Cuda, Nvml)) else ""
        if status in SILENT:
            return f"The driver does not answer: {name} {SAID_INSTEAD[status]}"
    return ""


def blocked(verdicts: Sequence[Verdict], findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return what cannot be judged before the first unblocking fix is done."""
    errors = (finding for finding in findings if finding.severity is Severity.ERROR)
    if not any(fix.gain.grade is Grade.UNBLOCKS for finding in errors for fix in finding.fixes):
        return ()
    return tuple(
        verdict.slug for verdict in verdicts if verdict.status not in RAN and verdict.family in {"input", "compute"}
    )


def gpus_usable(facts: Facts) -> int:
    """Return how many GPUs a program could use, by the same rule that the status goes by."""
    if not _gpu_usable(facts):
        return 0
    cuda, listed = facts.get(Cuda), facts.get(Gpus)
    if isinstance(cuda, Cuda) and not isinstance(cuda.devices, Missing):
        return len(cuda.devices)
    return sum(gpu.status == "ok" for gpu in listed) if isinstance(listed, Gpus) else 0


def unmet(
    expectation: Expectation,
    verdicts: Sequence[Verdict],
    snapshot: Snapshot,
    *,
    level: ReportLevel,
    checks: Sequence[AnyCheck],
) -> str:
    """Return why the caller's expectation is not met, '' where it is."""
    seen = gpus_usable(gather(snapshot))
    if expectation.gpus is not None and seen != expectation.gpus:
        return f"{expectation.gpus} GPU(s) expected, {seen} usable"
    unjudged = promised_but_unjudged(verdicts, level=level, checks=checks)
    if expectation.strict and unjudged:
        return f"--strict: {len(unjudged)} important check(s) could not judge ({', '.join(each.code for each in unjudged)})"
    return ""
