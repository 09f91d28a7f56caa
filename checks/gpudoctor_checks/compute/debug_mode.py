"""GD604: a debugging or determinism mode slows every step.

What it does
    Reads the environment variables that make CUDA, TensorFlow or XLA wait, log, dump or choose slower kernels.

Why it matters
    Such a variable stays in a shell profile, an image or a notebook long after the bug is found. CUDA_LAUNCH_BLOCKING
    makes the host wait for each kernel, so that nothing overlaps; a verbose log writes lines for every op;
    deterministic ops choose slower kernels, and some ops then refuse to run. Nothing says so during training.

How to fix
    Unset what is not wanted any more; the finding names it. Keep determinism where runs must repeat bit by bit, and
    know that it costs. In the source, tf.config.run_functions_eagerly(True), tf.debugging.enable_check_numerics() and
    tf.config.experimental.enable_op_determinism() do the like; variables do not show those.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Environment, Evidence, Finding, Fix, Gain, Grade, Severity, Trial, check
from gpudoctor_checks.usage import weigh_pace

SET = 0.85  # the variable is set; how much it costs depends on the model
OFF = frozenset({"", "0", "false", "no"})
# Variable -> what it does. CUDA C++ Programming Guide, "CUDA Environment Variables"; TensorFlow: tsl/platform logging,
# tensorflow/core/util/determinism, tf.config.experimental.enable_op_determinism; cuDNN and NCCL manuals.
SLOW = {
    "CUDA_LAUNCH_BLOCKING": "the host waits for each kernel",
    "TF_CPP_MAX_VLOG_LEVEL": "each op writes to the log",
    "TF_CPP_VMODULE": "parts of TensorFlow write to the log",
    "TF_DUMP_GRAPH_PREFIX": "graphs are written to files",
}
CHOSEN = {
    "TF_DETERMINISTIC_OPS": "slower kernels, the same bits each time",
    "TF_CUDNN_DETERMINISTIC": "slower convolutions, the same bits each time",
    "CUBLAS_WORKSPACE_CONFIG": "deterministic cuBLAS",
}
OFF_MATTERS = {
    "TF_CUDNN_USE_AUTOTUNE": "convolutions are not tuned",
    "TF_ENABLE_ONEDNN_OPTS": "slower ops on the CPU",
    "NVIDIA_TF32_OVERRIDE": "TF32 is off",
}
DUMP = "--xla_dump_to"


@check(
    code="GD604",
    slug="debug-mode",
    title="A debugging mode slows every step",
    family="compute",
    cause="debug-mode",
    core=False,
)
def debugging(env: Environment, baseline: Trial | None) -> Iterator[Finding]:
    """Warn of what only debugging wants; tell what somebody may have chosen."""
    slow = {name: what for name, what in SLOW.items() if _on(env, name)}
    if DUMP in (env.get("XLA_FLAGS") or ""):
        slow["XLA_FLAGS"] = "XLA writes each program to files"
    chosen = {name: what for name, what in CHOSEN.items() if _on(env, name)}
    chosen |= {name: what for name, what in OFF_MATTERS.items() if (env.get(name) or "1").lower() in OFF}
    weight = weigh_pace(SET, baseline)
    for found, severity in ((slow, Severity.WARNING), (chosen, Severity.INFO)):
        if not found:
            continue
        first = next(iter(found))
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        yield Finding(
            summary=f"{first} is set: {found[first]}{more}.",
            severity=severity,
            confidence=weight.confidence,
            basis=weight.basis,
            evidence=tuple(
                Evidence(label=f"{name}={env.get(name)}", value=what, source="environment")
                for name, what in found.items()
            ),
            fixes=(_unset(found, deliberate=severity is Severity.INFO),),
        )


def _on(env: Environment, name: str) -> bool:
    return (env.get(name) or "").lower() not in OFF


def _unset(names: dict[str, str], *, deliberate: bool) -> Fix:
    return Fix(
        id="unset-chosen-modes" if deliberate else "unset-debug-variables",
        title="Unset it, if nobody wants it any more" if deliberate else "Unset what only debugging needs",
        action="command",
        text=f"unset {' '.join(names)}",
        gain=Gain(grade=Grade.UNPROVEN, basis="what it costs your model was not measured"),
        effort_minutes=1,
    )
