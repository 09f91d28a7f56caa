"""GD651: the log says that a slow path is taken.

What it does
    Reads TensorFlow's and Keras' own warnings: retracing, recurrent layers without cuDNN, functions that run eagerly,
    callbacks that take longer than a batch, channels-first layers on the CPU, mixed precision that cannot gain, counters that are closed.

Why it matters
    Training works, and each of these costs time at every step or call. The warning names the layer, function or callback.

How to fix
    Retracing: pass tensors of few shapes, not Python numbers. Recurrent layers: arguments that cuDNN has. Callbacks: less
    often. The warning is no error, and no library has to be installed again.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Fix, Log, Severity, Trial, check
from gpudoctor_checks.said import by_hand, change, events, log_finding, unproven, weigh_program

RETRACE = unproven(change(
    "fewer-traces",
    "Give the function tensors of few shapes",
    "@tf.function(reduce_retracing=True)  # define it once, outside the loop; pass tensors, not Python numbers",
    why="",
))  # fmt: skip
CALL_MODEL = unproven(change(
    "call-the-model",
    "Call the model, not predict(), in loops",
    "y = model(x, training=False)  # or one predict() over all data",
    why="",
))  # fmt: skip
RNN = unproven(change(
    "cudnn-rnn-arguments",
    "Use the arguments that cuDNN has",
    "LSTM(units, recurrent_dropout=0, activation='tanh', recurrent_activation='sigmoid', unroll=False, use_bias=True)",
    why="",
))  # fmt: skip
GRAPH = unproven(change("graph-mode", "Do not run functions eagerly", "tf.config.run_functions_eagerly(False)", why=""))
CALLBACKS = unproven(change(
    "lighter-callbacks", "Do less in callbacks", "TensorBoard(histogram_freq=0, update_freq='epoch')", why="",
))  # fmt: skip
PLAIN = unproven(
    change("float32-policy", "Leave mixed precision off", "keras.mixed_precision.set_global_policy('float32')", why="")
)
COUNTERS = unproven(by_hand(
    "open-counters",
    "Let users read the GPU's counters",
    "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-profiling.conf, then reboot",
    why="",
))  # fmt: skip
PLACE = unproven(
    change(
        "soft-placement", "Let TensorFlow place what has no kernel", "tf.config.set_soft_device_placement(True)", why=""
    )
)
CHANNELS_LAST = unproven(
    change(
        "channels-last",
        "Use channels_last where no GPU computes",
        "keras.backend.set_image_data_format('channels_last')  # before the model is made; or find why the GPU is not used",
        why="",
    )
)
ENDS_TRAINING = "channels_on_cpu"
# kind of the event: (cause, summary, confidence, fixes)
PATHS: dict[str, tuple[str, str, float, tuple[Fix, ...]]] = {
    "rnn_fallback": ("rnn-cudnn", "A recurrent layer runs without cuDNN, by its arguments.", 0.95, (RNN,)),
    "eager": ("debug-mode", "Functions run eagerly: a debugging mode slows every step.", 0.9, (GRAPH,)),
    "slow_callback": ("epoch-end-stall", "A callback takes longer than a batch.", 0.8, (CALLBACKS,)),
    "mixed_precision_slow": ("mixed-precision-no-gain", "Mixed precision gains nothing on this GPU.", 0.9, (PLAIN,)),
    "counters_closed": ("profiling-not-permitted", "The GPU's counters are closed to this user.", 0.9, (COUNTERS,)),
    "channels_on_cpu": (
        "cpu-placement",
        "A channels-first layer runs on the CPU, which cannot compute it: the GPU is not used.",
        0.8,
        (CHANNELS_LAST,),
    ),
    "not_on_gpu": ("cpu-placement", "An operation was asked onto a device that cannot run it.", 0.7, (PLACE,)),
}


@check(
    code="GD651",
    slug="slow-path-in-log",
    title="The log says that a slow path is taken",
    family="compute",
    cause=(
        "eager-or-tracing",
        "predict-retrace-leak",
        "rnn-cudnn",
        "debug-mode",
        "epoch-end-stall",
        "mixed-precision-no-gain",
        "profiling-not-permitted",
        "cpu-placement",
    ),
    core=False,
)
def slow_path(log: Log, baseline: Trial | None) -> Iterator[Finding]:
    """Tell each path once, in TensorFlow's own words."""
    traced = events(log, "retracing")
    if traced:
        predict = any("predict" in each.values.get("function", "") for each in traced)
        yield log_finding(
            "A function is traced again and again.",
            weigh_program(0.85, baseline),
            traced,
            *((CALL_MODEL, RETRACE) if predict else (RETRACE, CALL_MODEL)),
            cause="eager-or-tracing",
            severity=Severity.WARNING,
        )
    for kind, (cause, summary, static, fixes) in PATHS.items():
        found = events(log, kind)
        if found:
            weight = weigh_program(static, baseline)
            severity = Severity.ERROR if kind == ENDS_TRAINING else Severity.WARNING
            yield log_finding(summary, weight, found, *fixes, cause=cause, severity=severity)
