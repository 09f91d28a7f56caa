"""GD351: the log of a run shows Python packages that do not fit.

What it does
    Reads what NumPy, protobuf, Keras and the import of TensorFlow itself print where versions do not fit each other.

Why it matters
    A TensorFlow built for NumPy 1 crashes beside NumPy 2 (wheels before 2.18), one built for an older protobuf or for Keras
    2 fails at import or when a model is loaded. The GPU has no part in it.

How to fix
    Pin the one package that does not fit, in the environment that trains; or move TensorFlow to a release that fits. CUDA,
    the driver and Python stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Fix, Log, TensorFlow, Trial, check, tensorflow_releases, versions, weigh_faulty
from gpudoctor_checks.said import by_hand, command, events, first, log_finding, release

FIRST_WITH_NUMPY_2 = "2.18"  # the wheels' own requirement (tensorflow_releases)
FIRST_WITH_KERAS_3 = "2.16"
SEE = "python -m pip list | grep -iE 'tensorflow|keras|numpy|protobuf'"
AVX = by_hand(
    "build-for-this-cpu",
    "Use a build for this processor",
    "The official wheels need AVX; take conda-forge's build, an older release, or another machine",
    why="the processor lacks instructions that the wheel uses",
    minutes=30,
)


@check(
    code="GD351",
    slug="packages-clash-in-log",
    title="The log shows packages that do not fit",
    family="tensorflow",
    cause=("numpy2", "protobuf", "keras3", "tensorflow-absent"),
    core=False,
)
def clash(log: Log, tensorflow: TensorFlow | None, baseline: Trial | None) -> Iterator[Finding]:
    """Name the package; an import that fails for a clash is told as the clash."""
    version = release(tensorflow, log)
    weight = weigh_faulty(0.92, baseline)
    numpy, protobuf, keras = events(log, "numpy_clash"), events(log, "protobuf_clash"), events(log, "keras_clash")
    if numpy:
        found = next((each.values["numpy"] for each in numpy if "numpy" in each.values), "2")
        summary = f"NumPy {found} stands beside modules that were built for NumPy 1."
        yield log_finding(summary, weight, numpy, *_numpy(version), cause="numpy2")
    if protobuf:
        summary = "The installed protobuf does not fit this TensorFlow."
        yield log_finding(summary, weight, protobuf, _protobuf(version), cause="protobuf")
    if keras:
        missing = any(each.values.get("why") == "tf-keras-missing" or "tf-keras" in each.text for each in keras)
        missing = missing or any(each.values.get("module") == "tf_keras" for each in keras)
        summary = (
            "Code for Keras 2 meets Keras 3." if not missing else "Keras 2 is asked for, but tf_keras is not installed."
        )
        yield log_finding(summary, weight, keras, *_keras(version, missing=missing), cause="keras3", know=SEE)
    absent = first(log, "tensorflow_absent")
    if absent is not None and not numpy and not protobuf and not keras:
        why = absent.values.get("why")
        install = command(
            "install-tensorflow",
            "Install TensorFlow in this environment",
            "python -m pip install 'tensorflow[and-cuda]==2.20.0'",
            why="the interpreter that runs the script has none",
            minutes=5,
        )
        yield log_finding(
            "This interpreter has no TensorFlow." if why == "absent" else "TensorFlow cannot be imported.",
            weight if why == "absent" else weigh_faulty(0.7, baseline),
            (absent,),
            AVX if why == "instructions" else install,
            cause="tensorflow-absent",
            know="python -c 'import sys, tensorflow; print(sys.executable)'",
        )


def _numpy(version: str) -> Iterator[Fix]:
    yield command(
        "pin-numpy",
        "Keep NumPy 1 in this environment",
        "python -m pip install 'numpy<2'",
        why="this TensorFlow was built for it",
    )
    if not versions.is_version(version) or not versions.at_least(version, FIRST_WITH_NUMPY_2):
        yield command(
            "upgrade-tensorflow",
            "Or a TensorFlow built for NumPy 2",
            f"python -m pip install --upgrade 'tensorflow>={FIRST_WITH_NUMPY_2}'",
            why="its wheels fit NumPy 2",
            minutes=15,
            risk="medium",
        )


def _protobuf(version: str) -> Fix:
    bound = tensorflow_releases.requirement_of(version, "protobuf") if versions.is_version(version) else None
    wanted = bound or "<3.21"  # the message itself names 3.20.x; releases from 2.9 on state their own bound
    return command(
        "pin-protobuf",
        "Install a protobuf that fits",
        f"python -m pip install 'protobuf{wanted}'",
        why="TensorFlow's generated code was made for it",
    )


def _keras(version: str, *, missing: bool) -> Iterator[Fix]:
    minor = f"~={versions.minor(version)}.0" if versions.is_version(version) else ""
    legacy = command(
        "install-tf-keras",
        "Install Keras 2 beside it, or unset the variable",
        f"python -m pip install 'tf_keras{minor}'  # or, where nothing needs Keras 2: unset TF_USE_LEGACY_KERAS",
        why="code for Keras 2 needs it from TensorFlow 2.16 on",
    )
    if missing:
        yield legacy
        return
    yield command(
        "use-legacy-keras",
        "Run it with Keras 2 (tf_keras)",
        f"python -m pip install 'tf_keras{minor}' && export TF_USE_LEGACY_KERAS=1",
        why="set before TensorFlow is imported; or change the code to Keras 3",
    )
