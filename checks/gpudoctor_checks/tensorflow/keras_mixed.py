"""GD310: Keras 2 and Keras 3 are mixed, or Keras runs on another backend.

What it does
    Compares TensorFlow's version with the installed keras and tf-keras packages and with TF_USE_LEGACY_KERAS and
    KERAS_BACKEND.

Why it matters
    From 2.16 on, tf.keras is Keras 3, the package keras. Keras 2 lives on as tf-keras, used where TF_USE_LEGACY_KERAS=1
    is set before the import; without that package tf.keras then fails. Older releases want keras 2.x of their own
    version. Objects of the two do not mix: a layer of one in a model of the other raises errors that blame the layer.
    With KERAS_BACKEND=jax or torch, Keras does not train with TensorFlow at all, and advice about it does not apply.

How to fix
    Choose one. Keras 3: unset TF_USE_LEGACY_KERAS, and import keras, not tf_keras. Keras 2: install tf-keras of
    TensorFlow's own minor version and set TF_USE_LEGACY_KERAS=1 where every process sees it. The finding holds the
    command.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Environment,
    Evidence,
    Finding,
    Fix,
    NotApplicable,
    Packages,
    Severity,
    Skip,
    TensorFlow,
    Trial,
    check,
    must_know,
    tensorflow_releases,
    unblocks,
    versions,
)
from gpudoctor_checks.tensorflow.importable import weigh_import
from gpudoctor_checks.usage import weigh_pace

LEGACY, BACKEND = "TF_USE_LEGACY_KERAS", "KERAS_BACKEND"
OTHER_BACKEND = "keras-backend-tensorflow"
# Run: tf.keras cannot be imported with 2.21.0, TF_USE_LEGACY_KERAS=1 and no tf-keras; with 2.17.1 and keras 2.15.0; with
# 2.14.1 and keras 3.3.3 ("No module named 'keras.api._v2'").
FAILS = 0.9
FINDS_KERAS_3 = "2.15"
MISFIT = 0.7  # tf-keras asks for TensorFlow of its own minor; a neighbour may happen to work


def _fix(name: str, title: str, text: str) -> Fix:
    gain = unblocks("one Keras that fits this TensorFlow")
    return Fix(id=name, title=title, action="command", text=text, gain=gain, effort_minutes=1)


@check(
    code="GD310",
    slug="keras-mixed",
    title="Keras 2 and 3 are mixed",
    family="tensorflow",
    cause="keras3",
)
def mixed(
    tensorflow: TensorFlow, packages: Packages, env: Environment | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Find the one combination that does not fit; the gravest first."""
    if not must_know(tensorflow.installed, "whether TensorFlow is installed"):
        raise NotApplicable("TensorFlow is not installed")
    version = must_know(tensorflow.version, "the TensorFlow version")
    keras, legacy = packages.version("keras"), packages.version("tf-keras")
    asked = (env.get(LEGACY) or "").lower() in {"1", "true"} if env is not None else False
    backend = (env.get(BACKEND) or "tensorflow") if env is not None else "tensorflow"
    found = _misfit(version, keras, legacy, asked=asked, backend=backend)
    if found is None:
        if env is None:
            raise Skip(f"{LEGACY} and {BACKEND} are unknown")
        return
    summary, severity, static, fix = found
    weight = weigh_pace(static, baseline) if fix.id == OTHER_BACKEND else weigh_import(static, tensorflow, baseline)
    yield Finding(
        summary=summary,
        severity=severity,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(*_installed(version, keras, legacy), Evidence(label=LEGACY, value=asked, source="environment")),
        fixes=(fix,),
    )


def _misfit(
    version: str, keras: str | None, legacy: str | None, *, asked: bool, backend: str
) -> tuple[str, Severity, float, Fix] | None:
    """Return what does not fit, how grave and how sure that is, and its cure."""
    third = versions.at_least(version, tensorflow_releases.KERAS_3_SINCE)
    own = versions.minor(version)
    pin = _fix("install-tf-keras", "Install the Keras 2 of this TensorFlow", f"pip install 'tf-keras~={own}.0'")
    new = _fix("install-keras", "Install the Keras of this TensorFlow", f"pip install '{_wanted(version)}'")
    if third and asked and legacy is None:
        return (f"{LEGACY} is set, but tf-keras is not installed.", Severity.ERROR, FAILS, pin)
    if third and keras is not None and not versions.at_least(keras, "3") and not asked:
        return (f"keras {keras} beside TensorFlow {version}, which needs Keras 3.", Severity.ERROR, FAILS, new)
    if not third and keras is not None and versions.at_least(keras, "3"):
        return (
            f"keras {keras} beside TensorFlow {version}, which was made for Keras 2.",
            _for_keras_2(version),
            FAILS,
            new,
        )
    if legacy is not None and versions.minor(legacy) != own and (asked or not third):
        return (f"tf-keras {legacy} beside TensorFlow {version}.", Severity.WARNING, MISFIT, pin)
    if third and backend != "tensorflow":
        back = _fix(OTHER_BACKEND, "Let Keras run on TensorFlow", f"export {BACKEND}=tensorflow")
        return (f"{BACKEND}={backend}: Keras does not train with TensorFlow.", Severity.WARNING, FAILS, back)
    return None


def _installed(tensorflow: str, keras: str | None, legacy: str | None) -> Iterator[Evidence]:
    for label, version in (("TensorFlow", tensorflow), ("keras", keras), ("tf-keras", legacy)):
        yield Evidence(label=label, value=version or "not installed", source="installed packages")


def _for_keras_2(version: str) -> Severity:
    """Return how grave Keras 3 is there: run with 2.15.1 and keras 3.3.3, both keras and tf.keras train, as Keras 3."""
    return Severity.INFO if versions.at_least(version, FINDS_KERAS_3) else Severity.ERROR


def _wanted(version: str) -> str:
    return f"keras{tensorflow_releases.requirement_of(version, 'keras') or ''}"
