"""GD331: training the reference network crashes, hangs or runs out of memory here.

What it does
    Trains a small network in its own process and looks how that process ended: by itself, by a signal, or not at all
    within its time. It shows the last lines that TensorFlow and the driver wrote before. It also compares the step on the
    GPU with that on the CPU.

Why it matters
    A network of three small dense layers must train on every machine. Where it does not, the fault lies in the machine or
    its software, never in your model or batch.

How to fix
    Where a check knows the reason (a library that does not fit, a GPU without code, a sick GPU), it stands above this
    one. Else narrow it down: train on the CPU alone (CUDA_VISIBLE_DEVICES=-1); if that works, the GPU's side is at fault,
    and CUDA_LAUNCH_BLOCKING=1 makes the traceback name the operation. A signal 7 in a container means that /dev/shm is
    full, signal 9 that the system ran out of memory, signal 4 that the CPU lacks an instruction of the wheel.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    BROKEN,
    Evidence,
    Finding,
    Inconclusive,
    Limits,
    NotApplicable,
    Probe,
    ProbeChild,
    Severity,
    Threshold,
    Trial,
    check,
    either,
    shown,
)
from gpudoctor_checks.said import quoted
from gpudoctor_checks.tensorflow.crash_remedies import NAME_OPERATION, ON_CPU, SEE_STATE, who_has_memory

SAME_ON_CPU = 0.9  # the ending of the process is the fact; it fails without a GPU as well
GPU_ALONE = 0.95  # the same network trains on the CPU of this machine
CRAWL = Threshold(
    name="crawl_ratio",
    default=10.0,
    unit="times",
    meaning="a step on the GPU that takes this many times the CPU's is reported as a crawl",
    source="policy: launching the kernels of a small step costs a GPU its lead over the CPU, not ten of the CPU's steps",
    least=1.0,
)
LINES = 3  # of the child's events, the last ones: what was written just before the end
HAPPENS = {"crashed": "crashes", "timeout": "hangs", "oom": "runs out of memory"}


@check(
    code="GD331",
    slug="training-crashes",
    title="Training crashes or hangs",
    family="tensorflow",
    cause="training-crashes",
    trials=("baseline", "cpu"),
    core=False,
    thresholds=(CRAWL,),
)
def crashes(baseline: Trial, cpu: Trial | None, probe: Probe, limits: Limits) -> Iterator[Finding]:
    """Judge how the training ended; one that ran and learnt nothing is GD901's, one still compiling GD208's."""
    if baseline.status not in BROKEN:
        if baseline.status != "ok":
            raise Inconclusive(f"the probe {baseline.status}: {baseline.reason or 'no reason given'}")
        yield from _crawls(baseline, cpu, limits.of(CRAWL))
        return
    if baseline.status == "failed":
        raise NotApplicable("it ran to its end and did not learn: see GD901")
    if "ptx-jit" in baseline.notes:
        raise NotApplicable("it was still compiling for this GPU: see GD208")
    child = next((each for each in probe.children if each.environment == "default"), None)
    alone = cpu is not None and cpu.status == "ok"
    yield Finding(
        summary=f"Training {HAPPENS[baseline.status]} here: {baseline.reason or 'no reason was given'}.",
        severity=Severity.ERROR,
        confidence=GPU_ALONE if alone else SAME_ON_CPU,
        basis="the probe's own process" + ("; the same network trains on the CPU" if alone else ""),
        evidence=(
            Evidence(label="baseline", value=baseline.status, source="probe"),
            Evidence(label="how it ended", value=baseline.reason or "unknown", source="probe"),
            Evidence(label="on the CPU", value=cpu.status if cpu is not None else "not tried", source="probe: cpu"),
            *_last_lines(child),
        ),
        fixes=who_has_memory(baseline)
        if baseline.status == "oom"
        else (NAME_OPERATION,)
        if alone
        else (ON_CPU, NAME_OPERATION),
    )


def _crawls(baseline: Trial, cpu: Trial | None, ratio: float) -> Iterator[Finding]:
    """Find a GPU that is slower than the CPU by more than the overhead of a small step explains."""
    own, there = _step_s(baseline, "baseline"), _step_s(cpu, "cpu") if cpu is not None else 0.0
    if baseline.device != "GPU" or not there or own < ratio * there:
        return
    yield Finding(
        summary=f"Training crawls on the GPU: {own * 1000:.1f} ms/step, {there * 1000:.1f} ms on the CPU.",
        severity=Severity.WARNING,
        confidence=SAME_ON_CPU,
        basis="the probe's own steps on both devices",
        evidence=(
            Evidence(label="step on the GPU", value=round(own * 1000, 2), unit="ms", source="probe: baseline"),
            Evidence(label="step on the CPU", value=round(there * 1000, 2), unit="ms", source="probe: cpu"),
        ),
        fixes=(SEE_STATE,),
    )


def _step_s(trial: Trial, name: str) -> float:
    arm = trial.arm(name)
    return either(arm.step_s, 0.0) if arm is not None and trial.status == "ok" else 0.0


def _last_lines(child: ProbeChild | None) -> tuple[Evidence, ...]:
    if child is None:
        return ()
    code = Evidence(label="exit code", value=shown(child.exit_code), source="probe")
    return (code, *quoted(child.events[-LINES:]))
