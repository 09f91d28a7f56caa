"""Reading the events of a run's text: pick them, show them as evidence, and say what would decide among several causes.

A text proves what was printed, not what is true now: what it shows is weighed with the probe like any other suspicion.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gpudoctor.sdk import (
    BROKEN,
    NEXT_STEP,
    STATED,
    TO_KNOW,
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    Host,
    Log,
    LogEvent,
    Risk,
    Severity,
    TensorFlow,
    Trial,
    Weight,
    either,
    unblocks,
)

SHOWN = 3  # lines of a text quoted as evidence
LONGEST = 160
# What `remedies.advised_version` chooses where nothing is known of Python, driver and GPU; written out, since reading the
# table of releases costs every start.
NEWEST = "2.20.0"
AND_CUDA = f"'tensorflow[and-cuda]=={NEWEST}'"
# Policy, see `model/weight.py`: a machine that trains the reference network clears itself, and leaves the program.
DOUBT_LEFT_WHEN_MACHINE_IS_SOUND = 0.7
TRUST_LEFT_WHEN_MACHINE_IS_BROKEN = 0.6


def events(log: Log, *kinds: str) -> tuple[LogEvent, ...]:
    """Return the events of these kinds, in the order of their lines."""
    return tuple(each for each in log.events if each.kind in kinds)


def first(log: Log, *kinds: str) -> LogEvent | None:
    """Return the first event of these kinds."""
    return next((each for each in log.events if each.kind in kinds), None)


def stated(log: Log, key: str) -> str:
    """Return what was said about the machine under this key, '' for nothing."""
    return next((each.values.get(key, "") for each in log.events if each.kind == STATED), "")


def quoted(found: Iterable[LogEvent]) -> tuple[Evidence, ...]:
    """Return the lines as evidence, the first few."""
    lines = list(found)[:SHOWN]
    return tuple(
        Evidence(
            label=f"line {each.line}",
            value=(each.text or each.kind)[:LONGEST] + (f" ({each.count} times)" if each.count > 1 else ""),
            source="log",
        )
        for each in lines
    )


def to_know(command: str) -> Evidence:
    """Return the one command that decides among the causes that are possible."""
    return Evidence(label=TO_KNOW, value=command, source=NEXT_STEP)


def command(
    name: str,
    title: str,
    text: str,
    *,
    why: str,
    minutes: float = 2,
    risk: Risk = "low",
    release: str | None = None,
) -> Fix:
    """Return a fix without which nothing works, as a command to copy; `release`: the TensorFlow that it installs."""
    return Fix(
        id=name,
        title=title,
        action="command",
        text=text,
        gain=unblocks(why),
        effort_minutes=minutes,
        risk=risk,
        release=release,
    )


def newest(name: str, title: str, run: str, *, why: str, minutes: float = 2, risk: Risk = "low") -> Fix:
    """Return how to install the newest release that finds its own CUDA; `run` has {} for what pip is asked for."""
    return command(name, title, run.format(AND_CUDA), why=why, minutes=minutes, risk=risk, release=NEWEST)


def by_hand(name: str, title: str, text: str, *, why: str, minutes: float = 10, risk: Risk = "low") -> Fix:
    """Return a fix that has to be done by hand."""
    return replace(command(name, title, text, why=why, minutes=minutes, risk=risk), action="manual")


def change(name: str, title: str, text: str, *, why: str, minutes: float = 10) -> Fix:
    """Return a change of the program."""
    return replace(command(name, title, text, why=why, minutes=minutes), action="diff")


def unproven(fix: Fix, basis: str = "not measured: this is a text") -> Fix:
    """Return the fix with no promise."""
    return replace(fix, gain=Gain(grade=Grade.UNPROVEN, basis=basis))


def container_of(host: Host | None) -> str:
    """Return the kind of container, '' outside or where nothing says so."""
    kind = either(host.container, "") if host is not None else ""
    return "" if kind == "none" else kind


def outside(host: Host | None) -> bool:
    """Return whether it is known that this is no container."""
    return host is not None and either(host.container, "") == "none"


def on_wsl(host: Host | None) -> bool:
    """Return whether it is known that this is WSL."""
    return host is not None and either(host.wsl, False)


def on_windows(host: Host | None) -> bool:
    """Return whether it is known that this is native Windows."""
    return host is not None and either(host.os, "") == "windows"


def trained_on(log: Log) -> bool:
    """Return whether an allocator's dump shows that training ran, on whatever device: that is then what ended it."""
    return any(each.kind == "oom" and "dump" in each.values for each in log.events)


def release(tensorflow: TensorFlow | None, log: Log) -> str:
    """Return the version of TensorFlow, '' where nothing tells it."""
    return (either(tensorflow.version, "") if tensorflow is not None else "") or stated(log, "tf")


def weigh_program(static: float, trial: Trial | None) -> Weight:
    """Weigh a fault of the program: a machine that trains the reference network is sound, a broken one may be the cause."""
    if trial is not None and trial.status == "ok" and trial.device == "GPU":
        doubt = (1 - static) * DOUBT_LEFT_WHEN_MACHINE_IS_SOUND
        return Weight(confidence=round(1 - doubt, 3), basis="the log; the probe trains on this GPU")
    if trial is not None and trial.status in BROKEN:
        trust = static * TRUST_LEFT_WHEN_MACHINE_IS_BROKEN
        return Weight(confidence=round(trust, 3), basis=f"the log; but the probe {trial.status}")
    return Weight(confidence=static, basis="the log")


def log_finding(
    summary: str,
    weight: Weight,
    found: Iterable[LogEvent],
    *fixes: Fix,
    cause: str,
    know: str = "",
    severity: Severity = Severity.ERROR,
    more: Iterable[Evidence] = (),
) -> Finding:
    """Return what the lines show, with the command that would decide where other causes are left."""
    lines = quoted(found)
    return Finding(
        summary=summary,
        severity=severity,
        confidence=weight.confidence,
        basis=weight.basis.replace("facts only", "the log").replace("facts", "the log"),
        evidence=(*lines[:2], *((to_know(know),) if know else ()), *lines[2:], *more),
        fixes=in_order(fixes),
        cause=cause,
    )


def in_order(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """Return the fixes so that ranking, which asks for the effort last, keeps the order in which they were given."""
    kept: list[Fix] = []
    for fix in fixes:
        before = kept[-1].effort_minutes if kept else 0.0
        kept.append(replace(fix, effort_minutes=max(fix.effort_minutes, before)))
    return tuple(kept)
