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
from gpudoctor_checks.compute.slow_suspects import CAUSES, in_words, suspects_of
from gpudoctor_checks.said import events, first, log_finding, weigh_program

# Policy: more likely wrong than right, whichever suspect is named first; a GPU that is seen to idle rules out some of them.
BY_WORD, BY_USE = 0.35, 0.45
# What TensorFlow itself names is no matter of suspicion: a slow path (GD651), or why it has no GPU.
NAMED_BY_TENSORFLOW = (
    "retracing", "rnn_fallback", "eager", "slow_callback", "mixed_precision_slow", "not_on_gpu",
    "cuinit_failed", "cudart_not_loaded", "dlopen_failed", "gpu_libraries_missing", "gpus_not_registered", "gpu_skipped",
)  # fmt: skip

MEASURE = Fix(
    id="measure-this-run",
    title="Measure what each step waits for",
    action="command",
    text="gpudoctor run -- python train.py",
    gain=Gain(grade=Grade.UNPROVEN, basis="it changes nothing and tells what to change"),
    risk="none",
)


@check(
    code="GD653",
    slug="slow-training-in-log",
    title="Slow training: only a run tells why",
    family="compute",
    cause=CAUSES,
    core=False,
    of_text="suspicion",
    thresholds=(IDLE,),
)
def slow(log: Log, run: Run | None, limits: Limits, baseline: Trial | None) -> Iterator[Finding]:
    """Rank the suspects that the text leaves, and name the command that decides."""
    if run is not None:
        raise NotApplicable("this run was measured")
    said, use, step = first(log, "slow_said"), first(log, "gpu_use"), first(log, "step_time")
    percent = None if use is None else int(use.values["percent"])
    busy = percent is not None and percent >= 100 * limits.of(IDLE)
    if (said is None and (percent is None or busy)) or first(log, *NAMED_BY_TENSORFLOW) is not None:
        return
    codes = events(log, "slow_code")
    suspects = suspects_of(codes, use, busy=busy)
    idle = use is not None and not busy and use.values.get("process") != "no"
    yield log_finding(
        f"{_what(use, busy=busy)}{_figures_said(percent, step)}: {in_words(suspects)}.",
        weigh_program(BY_WORD if percent is None else BY_USE, baseline),
        [each for each in (use, step, said, *codes) if each is not None],
        MEASURE,
        cause=suspects[0][0],
        severity=Severity.WARNING if idle else Severity.INFO,
        know=MEASURE.text,
        more=_figures(percent, step),
    )


def _what(use: LogEvent | None, *, busy: bool) -> str:
    if use is None:
        return "Slow, by what is said"
    if busy:
        return "The GPU is at work"
    return "No program is on the GPU" if use.values.get("process") == "no" else "The GPU is mostly idle"


def _figures_said(percent: int | None, step: LogEvent | None) -> str:
    figures = [f"{percent} %"] if percent is not None else []
    if step is not None:
        seconds = float(step.values["seconds"])
        figures.append(f"{seconds:.3g} s a step" if seconds >= 1 else f"{1000 * seconds:.3g} ms a step")
    return f" ({', '.join(figures)})" if figures else ""


def _figures(percent: int | None, step: LogEvent | None) -> Iterator[Evidence]:
    if percent is not None:
        yield Evidence(label="GPU in use", value=percent, unit="%", source="log")
    if step is not None:
        yield Evidence(label="step", value=float(step.values["seconds"]), unit="s", source="log")
