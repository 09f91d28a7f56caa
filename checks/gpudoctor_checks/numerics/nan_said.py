"""GD951: the log shows NaN or Inf in training.

What it does
    Reads NaN and Inf in losses and from TensorFlow's numeric checks, and signs of float16 in the same text.

Why it matters
    In float16 numbers above 65504 are infinite, small gradients vanish, and integers above 2048 are rounded. Without loss
    scaling, or with the last layer and the loss in float16, training turns to NaN. The GPU computes as it should.

How to fix
    Under mixed_float16: last layer and loss in float32; in a custom loop scale the loss (LossScaleOptimizer). Raw float16
    layers: use the policy instead. A Keras older than such policies: a lower learning rate, clipped gradients. One short run in float32 tells whether it is float16 at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Log, Severity, Trial, check
from gpudoctor_checks.said import change, events, log_finding, unproven, weigh_program

SMALLER_STEPS = unproven(
    change(
        "clip-gradients",
        "A lower learning rate, or clipped gradients",
        "optimizer = keras.optimizers.Adam(lr=1e-4, clipnorm=1.0)  # and look for NaN in the data: numpy.isnan(x).any()",
        why="",
        minutes=5,
    ),
    "where steps grow too large; the same data and seed show it again",
)
FLOAT32_OUTPUT = unproven(
    change(
        "float32-output",
        "float16? Last layer, labels, loss in float32",
        "outputs = keras.layers.Dense(n, dtype='float32')(x)  # labels stay integers; the loss is then computed in float32",
        why="",
    ),
    "ends NaN that comes from float16",
)
SCALED_LOOP = unproven(
    change(
        "scale-loss-in-loop",
        "float16? Policy, scaled loss, float32 output",
        "keras.mixed_precision.set_global_policy('mixed_float16')  # not raw float16 layers\n"
        "optimizer = keras.mixed_precision.LossScaleOptimizer(optimizer)  # get_scaled_loss, get_unscaled_gradients\n"
        "outputs = keras.layers.Dense(n, dtype='float32')(x)",
        why="",
    ),
    "compile() scales the loss itself; a loop of your own does not",
)
FIND_OP = unproven(
    change(
        "check-numerics", "Find the first operation with NaN", "tf.debugging.enable_check_numerics()", why="", minutes=5
    ),
    "it names the place; slow, so for one run",
)


@check(
    code="GD951",
    slug="nan-in-log",
    title="The log shows NaN or Inf in training",
    family="numerics",
    cause=("fp16-nan", "loss-not-finite"),
    core=False,
)
def not_a_number(log: Log, baseline: Trial | None) -> Iterator[Finding]:
    """Without a sign of float16 it is a suspicion, and one run in float32 decides."""
    found = events(log, "nan_loss", "nan_detected")
    if not found:
        return
    half = events(log, "half_precision", "mixed_precision_slow")
    if not half and any("era" in each.values for each in found):
        summary, weight = "The loss becomes NaN: steps too large, or bad data.", weigh_program(0.45, baseline)
        yield log_finding(summary, weight, found, SMALLER_STEPS, cause="loss-not-finite", severity=Severity.WARNING)
        return
    by_fit = any(each.values.get("metric") for each in found)  # fit() prints it, and compile() has scaled its loss
    yield log_finding(
        "NaN or Inf under float16: the range of the numbers is left."
        if half
        else "NaN or Inf in training; float16, where it is used, is the first suspect.",
        weigh_program(0.8 if half else 0.45, baseline),
        (*found, *half),
        FLOAT32_OUTPUT if by_fit else SCALED_LOOP,
        FIND_OP,
        cause="fp16-nan",
        severity=Severity.ERROR if half else Severity.WARNING,
        know="python train.py  # once, with set_global_policy('float32'): does NaN stay?",
    )
