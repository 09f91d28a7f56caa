"""GD112: the driver offers a GPU, but TensorFlow lists none.

What it does
    Compares the number of GPUs that cuInit lists with what tf.config.list_physical_devices('GPU') says in the probe's
    process.

Why it matters
    It is the moment at which the GPU gets lost between driver and TensorFlow: everything before it works. TensorFlow
    does not stop; it prints a line that most people never see and trains on the CPU.

How to fix
    This is a symptom. The cause stands above it in the report: a CPU-only build, a library that cannot be loaded, a
    GPU that the build leaves out. If nothing stands above it, read TensorFlow's own reason:
        TF_CPP_MIN_LOG_LEVEL=0 python -c "import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))"
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
    NotApplicable,
    Severity,
    TensorFlow,
    Trial,
    check,
    must_know,
    shown,
    weigh_unusable,
)

ASK_TENSORFLOW = Fix(
    id="ask-tensorflow-why",
    title="Read TensorFlow's own reason",
    action="command",
    text="TF_CPP_MIN_LOG_LEVEL=0 python -c \"import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))\"",
    gain=Gain(grade=Grade.UNPROVEN, basis="tells the reason; changes nothing"),
    risk="none",
    effort_minutes=1,
)


@check(
    code="GD112",
    slug="tf-sees-no-gpu",
    title="TensorFlow lists no GPU",
    family="driver",
    cause="cpu-placement",
    core=False,
)
def unseen(driver: Driver, tensorflow: TensorFlow, baseline: Trial | None) -> Iterator[Finding]:
    """Compare what the driver offers with what TensorFlow lists."""
    if not must_know(driver.usable, "whether the driver works"):
        raise NotApplicable("the driver offers no GPU")
    visible = must_know(tensorflow.visible_gpus, "how many GPUs TensorFlow lists")
    if visible > 0:
        return
    weight = weigh_unusable(0.9, baseline)
    yield Finding(
        summary="The driver offers a GPU, but TensorFlow lists none.",
        severity=Severity.ERROR,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="cuInit lists", value=shown(driver.device_count), unit="GPUs", source="libcuda"),
            Evidence(label="TensorFlow lists", value=visible, unit="GPUs", source="tf.config.list_physical_devices"),
        ),
        fixes=(ASK_TENSORFLOW,),
    )
