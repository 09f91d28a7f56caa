"""GD619: LSTM or GRU arguments of this model rule out cuDNN's kernel.

What it does
    Reads the arguments of the recurrent layers as they were built and compares them with what Keras demands of the cuDNN
    implementation.

Why it matters
    Without it a GPU runs each time step as a dozen small kernels. Sequences of some hundred steps are several times slower,
    and nothing says so beyond one warning at start-up.

How to fix
    activation="tanh", recurrent_activation="sigmoid", recurrent_dropout=0, unroll=False, use_bias=True, and for GRU
    reset_after=True. Use dropout between layers instead of recurrent_dropout, and masks that are right-padded.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Evidence, Finding, Fix, Gain, Grade, Settings, Severity, Trial, check
from gpudoctor_checks.recorded import on_gpu, place, weigh_run

SURE = 0.85
# What Keras asks before it takes cuDNN's kernel (keras 3: backend/tensorflow/rnn.py; keras 2: layers/rnn/lstm.py)
NEEDED = {
    "activation": ("tanh",),
    "recurrent_activation": ("sigmoid",),
    "recurrent_dropout": ("0", "0.0"),
    "unroll": ("False",),
    "use_bias": ("True",),
    "reset_after": ("True",),
}
PREFIX = "recurrent: "
WITH_CUDNN = ("LSTM", "GRU")


@check(
    code="GD619",
    slug="recurrent-arguments",
    title="LSTM or GRU without cuDNN's kernel",
    family="compute",
    cause="rnn-cudnn",
    core=False,
)
def recurrent(settings: Settings, baseline: Trial | None) -> Iterator[Finding]:
    """Name the layers and the arguments that are in the way; on a CPU it is a note."""
    found = {
        name.removeprefix(PREFIX): bad
        for name, value in settings.model.items()
        if name.startswith(PREFIX)
        and name.removeprefix(PREFIX).startswith(WITH_CUDNN)
        and (bad := _in_the_way(str(value)))
    }
    if not found:
        return
    weight = weigh_run(SURE, baseline)
    layer, bad = next(iter(found.items()))
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    yield Finding(
        summary=f"{layer} cannot use cuDNN: {', '.join(bad)}{more}.",
        severity=Severity.WARNING if on_gpu(settings) else Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=tuple(
            Evidence(label=name, value=", ".join(each), source="settings in force") for name, each in found.items()
        ),
        location=place(settings.file, settings.line),
        fixes=(
            Fix(
                id="cudnn-recurrent",
                title="Arguments that cuDNN's kernel allows",
                action="diff",
                text=f"- {', '.join(bad)}\n+ {', '.join(_wanted(each) for each in bad)}",
                gain=Gain(grade=Grade.UNPROVEN, basis="not measured; only on a GPU"),
                risk="medium",
                effort_minutes=10,
            ),
        ),
    )


def _in_the_way(arguments: str) -> list[str]:
    pairs = [each.partition("=") for each in arguments.split(", ")]
    return [f"{name}={value}" for name, _, value in pairs if name in NEEDED and value not in NEEDED[name]]


def _wanted(argument: str) -> str:
    name = argument.partition("=")[0]
    return f"{name}={NEEDED[name][0]}"
