"""GD301: the reference network trained on the CPU although a GPU is usable.

What it does
    Trains a small network for real, in its own process, exactly as a training script would start TensorFlow, and looks
    on which device the steps ran.

Why it matters
    This is the plain proof that training on this machine does not use the GPU. It says nothing about how much faster
    the GPU would be: a small network gains little, a large one very much.

How to fix
    This is a symptom. The cause stands above it in the report: a hidden GPU, a CPU-only build, a missing library, a
    driver that is too old. Fix that, then run `gpudoctor scan` again. If nothing stands above it, look for
    tf.config.set_visible_devices([], 'GPU') and for tf.device('/CPU:0') in sitecustomize or in start-up files.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Driver,
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    Inconclusive,
    NotApplicable,
    Probe,
    Severity,
    Trial,
    check,
    either,
    must_know,
    shown,
)

SURE = 0.98  # a training that ran is the fact itself; what is left is a device name misread
LOOK_FOR_PLACEMENT = Fix(
    id="look-for-cpu-placement",
    title="No cause named? Find code that forbids the GPU",
    action="command",
    text="grep -rn --include=*.py -e set_visible_devices -e CPU:0 .",
    gain=Gain(grade=Grade.UNPROVEN, basis="tells the place; changes nothing"),
    risk="none",
    effort_minutes=5,
)


@check(
    code="GD301",
    slug="probe-on-cpu",
    title="The probe trained on the CPU",
    family="tensorflow",
    cause="cpu-placement",
)
def on_cpu(driver: Driver, baseline: Trial, probe: Probe) -> Iterator[Finding]:
    """Find the CPU where a usable GPU was there and was not left alone on purpose."""
    if not must_know(driver.usable, "whether the driver works"):
        raise NotApplicable("no usable GPU")
    if probe.gpu_left_alone:
        raise Inconclusive(f"the GPU was left alone: {probe.gpu_left_alone}")
    if baseline.status != "ok":
        raise Inconclusive(f"the probe {baseline.status}: {baseline.reason or 'no reason given'}")
    if must_know(baseline.device, "the device of the probe's steps") != "CPU":
        return
    arm = baseline.arm("baseline")
    step_s = either(arm.step_s, None) if arm is not None else None
    pace = "" if step_s is None else f", {step_s * 1000:.1f} ms/step"
    yield Finding(
        summary=f"The probe trained on the CPU though a GPU is usable{pace}.",
        severity=Severity.ERROR,
        confidence=SURE,
        basis="the probe's own steps",
        evidence=(
            Evidence(label="device", value="CPU", source="probe: baseline"),
            Evidence(
                label="step", value="unknown" if step_s is None else round(step_s * 1000, 2), unit="ms", source="probe"
            ),
            Evidence(label="usable GPUs", value=shown(driver.device_count), unit="GPUs", source="libcuda"),
        ),
        fixes=(LOOK_FOR_PLACEMENT,),
    )
