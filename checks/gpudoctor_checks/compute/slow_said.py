"""GD653: somebody asks in the text why training is slow.

What it does
    Reads a complaint, a step time, how busy the GPU is (a table of nvidia-smi, or what is said), and what pasted code does.
    It ranks what may be behind it, and claims nothing: a step that waits for data looks in a text like one that is too small.

Why it matters
    Each suspect has another cure, and the cure of one does nothing for the others. One measured run tells them apart.

How to fix
    gpudoctor run -- python train.py tells what each step waits for: the data, Python, or the GPU. Change the program after
    that, not before.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    Limits,
    Log,
    LogEvent,
    NotApplicable,
    Run,
    Severity,
    Trial,
    check,
)
from gpudoctor_checks.compute.idle_device import IDLE
from gpudoctor_checks.said import events, first, log_finding, weigh_program

# Policy: more likely wrong than right, whichever suspect is named first; a GPU that is seen to idle rules out some of them.
BY_WORD, BY_USE = 0.35, 0.45
MOST = 3  # suspects that are named
MEASURE = Fix(
    id="measure-this-run",
    title="Measure what each step waits for",
    action="command",
    text="gpudoctor run -- python train.py",
    gain=Gain(grade=Grade.UNPROVEN, basis="it changes nothing and tells what to change"),
    risk="none",
)
# What the code shows: (cause, how it is called). Those of the first kind leave the GPU waiting, the others keep it at work.
WAITING = {
    "python-batches": ("input-pipeline", "the input pipeline (batches made in Python)"),
    "remote-files": ("storage", "files read over a network"),
    "calls-in-loop": ("per-call-overhead", "a call for each small piece"),
    "one-example": ("launch-bound", "steps of one example"),
    "eager": ("eager-or-tracing", "eager steps"),
    "histograms": ("epoch-end-stall", "histograms at each epoch's end"),
    "several-gpus": ("multi-gpu-no-gain", "several GPUs for a small step"),
}
WORKING = {
    "recurrent": ("rnn-cudnn", "recurrent layers without cuDNN"),
    "half-precision": ("mixed-precision-no-gain", "mixed precision that gains nothing"),
    "double-precision": ("float64", "float64"),
}
# By how many public threads there are of each (`causes`): what is likely where the code shows nothing.
USUAL = (("input-pipeline", "the input pipeline"), ("launch-bound", "too little work a step"))
ON_CPU = ("cpu-placement", "training that is not on the GPU")
BUSY = ("compute-bound-healthy", "the model's own work")


@check(
    code="GD653",
    slug="slow-training-in-log",
    title="Slow training: only a run tells why",
    family="compute",
    cause=tuple(dict.fromkeys(cause for cause, _ in (*USUAL, ON_CPU, BUSY, *WAITING.values(), *WORKING.values()))),
    core=False,
    thresholds=(IDLE,),
)
def slow(log: Log, run: Run | None, limits: Limits, baseline: Trial | None) -> Iterator[Finding]:
    """Rank the suspects that the text leaves, and name the command that decides."""
    if run is not None:
        raise NotApplicable("this run was measured")
    said, use, step = first(log, "slow_said"), first(log, "gpu_use"), first(log, "step_time")
    percent = None if use is None else int(use.values["percent"])
    busy = percent is not None and percent >= 100 * limits.of(IDLE)
    if said is None and (percent is None or busy):
        return
    codes = events(log, "slow_code")
    suspects = _suspects(codes, use, busy=busy)
    yield log_finding(
        f"{_what(percent, use, busy=busy)}{_pace(step)}: {_either(suspects)}.",
        weigh_program(BY_WORD if percent is None else BY_USE, baseline),
        [each for each in (use, step, said, *codes) if each is not None],
        MEASURE,
        cause=suspects[0][0],
        severity=Severity.WARNING,
        know=MEASURE.text,
        more=_figures(percent, step),
    )


def _suspects(codes: tuple[LogEvent, ...], use: LogEvent | None, *, busy: bool) -> list[tuple[str, str]]:
    told = [each.values["what"] for each in codes]
    waiting = [WAITING[what] for what in WAITING if what in told]
    working = [WORKING[what] for what in WORKING if what in told]
    if busy:
        return [*working, BUSY][:MOST]
    absent = [ON_CPU] if use is not None and use.values.get("process") == "no" else []
    named = {cause for cause, _ in waiting}
    usual = [each for each in USUAL if each[0] not in named]
    return [*absent, *waiting, *(working if use is None else []), *usual][:MOST]


def _what(percent: int | None, use: LogEvent | None, *, busy: bool) -> str:
    if percent is None:
        return "Slow, as is said"
    if busy:
        return f"The GPU is at work ({percent} %)"
    if use is not None and use.values.get("process") == "no":
        return f"No program is on the GPU ({percent} %)"
    return f"The GPU is mostly idle ({percent} %)"


def _pace(step: LogEvent | None) -> str:
    return "" if step is None else f" at {float(step.values['seconds']):.3g} s a step"


def _either(suspects: list[tuple[str, str]]) -> str:
    *others, last = [words for _, words in suspects]
    return f"{', '.join(others)} or {last}" if others else last


def _figures(percent: int | None, step: LogEvent | None) -> Iterator[Evidence]:
    if percent is not None:
        yield Evidence(label="GPU in use", value=percent, unit="%", source="log")
    if step is not None:
        yield Evidence(label="step", value=float(step.values["seconds"]), unit="s", source="log")
