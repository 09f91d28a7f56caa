"""GD504: what NumPy in the training loop costs on this machine.

What it does
    Trains the reference network in turn with each batch prepared and each result counted by NumPy, and with the same work
    as TensorFlow ops. The ratio is what such a habit costs here. It has not read your code.

Why it matters
    NumPy works on the CPU. Each `.numpy()`, `np.` call or Python loop over examples inside a training step copies data off
    the GPU, waits until all work queued there is done, and copies back. The GPU is idle meanwhile, and the faster
    the GPU, the larger the share lost. One conversion before training, or one at the end of an epoch, costs nothing worth naming.

How to fix
    Inside the step use tf.* on tensors and keep the whole step in one @tf.function. Collect losses as tensors or in a
    keras.metrics object, and read them with float() once an epoch. Prepare examples in tf.data, before the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Fix, Inconclusive, Severity, Trial, check
from gpudoctor_checks.ratios import find, gains, gains_nothing, probe_gain, shown, span, told

ON_GPU = 0.3  # policy: the price is measured, but whether your loop pays it was not seen
ON_CPU = 0.2  # and on the CPU nothing is copied to a device; a GPU loses more


@check(
    code="GD504",
    slug="numpy-hot-loop",
    title="What NumPy in the training loop costs here",
    family="input",
    cause="numpy-hot-loop",
    trials=("numpy_loop",),
    core=False,
)
def cost(numpy_loop: Trial) -> Iterator[Finding]:
    """Say what the reference loop gains when NumPy leaves it."""
    ratio = find(numpy_loop, "tensor_ops", "numpy")
    if ratio is None:
        raise Inconclusive(numpy_loop.reason or f"the trial is {numpy_loop.status}")
    if gains_nothing(ratio):
        return
    if not gains(ratio):
        raise Inconclusive(f"no proven difference: {told(ratio)}")
    yield Finding(
        summary=f"Without NumPy in its loop the reference network is {span(ratio)} as fast.",
        severity=Severity.INFO,
        confidence=ON_GPU if numpy_loop.device == "GPU" else ON_CPU,
        basis=f"measured on the reference network, on the {numpy_loop.device}; your own loop was not seen",
        evidence=shown("tensor over NumPy", ratio, "numpy_loop"),
        fixes=(
            Fix(
                id="tensors-in-loop",
                title="NumPy in your step: tf.* in one tf.function",
                action="diff",
                text="step = tf.function(step)  # inside: tf.* only, no np.*, no .numpy()",
                gain=probe_gain(ratio),
                effort_minutes=30,
            ),
        ),
    )
