"""What changed between two machines, as text and as JSON: the troubles first, then what may explain them, then the times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpudoctor.codec import dumps, to_builtins
from gpudoctor.diagnose.comparison import RUN, Comparison, Pace
from gpudoctor.model.finding import Finding
from gpudoctor.model.missing import Missing
from gpudoctor.present import figures
from gpudoctor.present.changed_facts import changed_facts
from gpudoctor.present.style import printable

NOTE = "One run against one run: noise is not told from change. Repeat both before you believe a small difference."
TRIALS_BY = "Trials come from `gpudoctor scan --json -o FILE` without `--level quick`, trainings from `gpudoctor run`."
SCHEMA_VERSION = 1
SHOWN = 0.01  # policy: a part of a step below a percent on both sides is not shown


def as_text(compared: Comparison, *, percent: float | None = None) -> str:
    """Return the lines; `percent`: the regression that is allowed."""
    parts = [
        list(_step(compared)),
        list(_findings(compared)),
        list(changed_facts(compared.facts)),
        list(_times(compared)),
        list(_gate(compared, percent)),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _step(compared: Comparison) -> Iterator[str]:
    """Yield how the step of a recorded training changed: what whoever made a change wants to know first."""
    step = compared.step
    if step is None:
        return
    faster = step.speedup >= 1
    words = f"{step.speedup:.2g} times as fast" if faster else f"{1 / step.speedup:.2g} times as long"
    yield f"STEP  {figures.duration(step.before_s)} -> {figures.duration(step.after_s)}: {words}"
    if not step.alike:
        rate = step.batch_ratio * step.speedup
        yield f"  a batch is {step.batch_ratio:.2g} times as large: {rate:.2g} times the examples a second"
    named = {"waits for data": "input", "own Python": "host", "tracing": "tracing", "TensorFlow": "compute"}
    for words, name in named.items():
        shares = [getattr(each.shares, name) for each in (step.before, step.after)]
        known = [each for each in shares if not isinstance(each, Missing)]
        if len(known) == len(shares) and max(known) >= SHOWN:
            yield f"  {words:<14} {known[0]:>4.0%} -> {known[1]:>4.0%}"
    if max(step.ends_before, step.ends_after) >= SHOWN:
        yield f"  {'ends of epochs':<14} {step.ends_before:>4.0%} -> {step.ends_after:>4.0%} of an epoch, beside its steps"
    yield NOTE


def _findings(compared: Comparison) -> Iterator[str]:
    yield f"FINDINGS  {len(compared.new)} new, {len(compared.gone)} gone, {compared.same} as before"
    yield from (_line("+", each) for each in compared.new)
    yield from (_line("-", each) for each in compared.gone)


def _line(sign: str, finding: Finding) -> str:
    return printable(f"{sign} {finding.severity.value:<8} {finding.code} {finding.summary}")


def _times(compared: Comparison) -> Iterator[str]:
    paces = [each for each in compared.paces if each.trial != RUN]
    if not (paces or compared.trials):
        return
    yield "TRIALS"
    for change in compared.trials:
        yield printable(f"  {change.trial:<14} {change.before} -> {change.after}{'  worse' if change.worse else ''}")
    yield from (f"  {_pace(each)}" for each in paces)
    if paces and compared.step is None:
        yield NOTE


def _pace(pace: Pace) -> str:
    moved = "" if pace.device_before == pace.device_after else f"  ({pace.device_before} -> {pace.device_after})"
    times = f"{figures.duration(pace.before_s)} -> {figures.duration(pace.after_s)}/step"
    return printable(f"{pace.trial:<14} {pace.arm:<14} {times:<28} {(pace.ratio - 1) * 100:+.1f} %{moved}")


def _gate(compared: Comparison, percent: float | None) -> Iterator[str]:
    if percent is None:
        return
    if not compared.comparable:
        yield f"[?] nothing to compare, so not passed (exit 3): {compared.why_not}"
        yield f"    {TRIALS_BY}"
    slower = compared.regressions(percent)
    for pace in slower:
        yield f"[x] {printable(f'{pace.trial} {pace.arm}')}: {(pace.ratio - 1) * 100:.1f} % slower, {percent:g} % allowed"
    for change in compared.worse:
        yield f"[x] {printable(change.trial)}: it worked before, now {printable(change.after)}"
    if compared.comparable and not slower and not compared.worse:
        yield f"[v] no step takes more than {percent:g} % longer"


def as_json(compared: Comparison, *, percent: float | None = None) -> str:
    """Return one JSON document."""
    missing: dict[str, str] = {}
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "findings": {
            "new": to_builtins(compared.new, missing),
            "gone": to_builtins(compared.gone, missing),
            "same": compared.same,
        },
        "facts": to_builtins(compared.facts, missing),
        "trials": [{**_object(each), "worse": each.worse} for each in compared.trials],
        "steps": [{**_object(each), "ratio": each.ratio} for each in compared.paces],
        "note": NOTE,
    }
    if percent is not None:
        document["regression"] = {
            "allowed_percent": percent,
            "comparable": compared.comparable,
            "reason": compared.why_not,
            "steps": [_object(each) for each in compared.regressions(percent)],
            "trials": [_object(each) for each in compared.worse],
        }
    return dumps(document) + "\n"


def _object(value: object) -> dict[str, Any]:
    made: dict[str, Any] = to_builtins(value, {})
    return made
