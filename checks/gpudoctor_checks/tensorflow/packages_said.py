"""GD351: the log of a run shows Python packages that do not fit.

What it does
    Reads what NumPy, protobuf, Keras, the smaller packages that TensorFlow imports (ml_dtypes, ...) and the import of TensorFlow itself print where versions do not fit each other.

Why it matters
    A TensorFlow built for NumPy 1 crashes beside NumPy 2 (wheels before 2.18), one built for an older protobuf or for Keras
    2 fails at import or when a model is loaded. The GPU has no part in it.

How to fix
    Pin the one package that does not fit, in the environment that trains; or move TensorFlow to a release that fits. CUDA,
    the driver and Python stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Fix, Log, LogEvent, Severity, TensorFlow, Trial, Weight, check, weigh_faulty
from gpudoctor_checks.said import events, first, log_finding, newest, release
from gpudoctor_checks.tensorflow.import_remedies import NEWER_RUNTIME, NEWER_SYSTEM
from gpudoctor_checks.tensorflow.packages_remedies import (
    AVX,
    CHECK,
    KERAS_3,
    NEWER_KERAS,
    OLD_NUMPY,
    ONE_KERAS,
    RIGHT_BINDING,
    RUNTIME,
    SEE,
    for_keras,
    for_misfit,
    for_numpy,
    for_protobuf,
    same_keras,
)
from gpudoctor_checks.tensorflow.pip_misfits import by_pip

RUNTIMES = {"glibc": NEWER_SYSTEM, "libstdcxx": NEWER_RUNTIME}
INSTALL = newest(
    "install-tensorflow",
    "Install TensorFlow in this environment",
    "python -m pip install {}",
    why="the interpreter that runs the script has none",
    minutes=5,
)


@check(
    code="GD351",
    slug="packages-clash-in-log",
    title="The log shows packages that do not fit",
    family="tensorflow",
    cause=("numpy2", "protobuf", "keras3", "pynvml", "dependency-misfit", "tensorflow-absent"),
    core=False,
)
def clash(log: Log, tensorflow: TensorFlow | None, baseline: Trial | None) -> Iterator[Finding]:
    """Name the package; an import that fails for a clash is told as the clash."""
    version = release(tensorflow, log)
    weight = weigh_faulty(0.92, baseline)
    numpy, protobuf, keras = events(log, "numpy_clash"), events(log, "protobuf_clash"), events(log, "keras_clash")
    if numpy:
        found = next((each.values["numpy"] for each in numpy if "numpy" in each.values), "2")
        alias = all(each.values.get("why") == "alias" for each in numpy)
        summary = (
            "This NumPy has lost names that TensorFlow, or a module beside it, still uses (gone from NumPy 1.24 on)."
            if alias
            else f"NumPy {found} stands beside modules that were built for NumPy 1."
        )
        yield log_finding(summary, weight, numpy, *((OLD_NUMPY,) if alias else for_numpy(version)), cause="numpy2")
    if protobuf:
        summary = "The installed protobuf does not fit this TensorFlow."
        yield log_finding(summary, weight, protobuf, for_protobuf(version), cause="protobuf")
    if keras:
        yield _keras(keras, version, weight)
    misfit = events(log, "dependency_misfit")
    if misfit and not numpy:
        module = misfit[0].values["module"]
        runtime = RUNTIMES.get(misfit[0].values.get("why", ""))
        summary = (
            f"The {module} here is older than what is imported was built with."
            if runtime
            else f"The installed {module} does not fit what imports it."
        )
        fix = runtime or for_misfit(misfit[0], version)
        yield log_finding(summary, weigh_faulty(0.8, baseline), misfit, fix, cause="dependency-misfit", know=CHECK)
    if not numpy and not protobuf and not keras and not misfit:
        yield from by_pip(log, baseline)
    binding = events(log, "nvml_binding")
    if binding:
        summary = "Another package shadows the official NVML bindings."
        yield log_finding(summary, weight, binding, RIGHT_BINDING, cause="pynvml", severity=Severity.WARNING)
    told = events(log, "tensorflow_absent")
    # the line that names the reason outranks the sentence that every failed import ends with
    absent = next((each for each in told if each.values.get("why") != "import"), first(log, "tensorflow_absent"))
    library = any("ImportError" in each.text or "libcuda.so" in each.text for each in events(log, "dlopen_failed"))
    if library and absent is not None and absent.values.get("why") == "import":
        return  # TensorFlow 1.x opens its libraries and the driver's when it is imported: see GD251 and GD155
    if absent is not None and not numpy and not protobuf and not keras and not misfit:
        yield _absent(absent, weight if absent.values.get("why") == "absent" else weigh_faulty(0.7, baseline))


def _keras(lines: tuple[LogEvent, ...], version: str, weight: Weight) -> Finding:
    """Tell which way round it is: releases that differ, a newer file, newer code, or the older Keras that is not there."""
    reasons = [each.values.get("why") for each in lines]
    missing = "tf-keras-missing" in reasons or any(
        "tf-keras" in each.text or each.values.get("module") == "tf_keras" for each in lines
    )
    fixes: tuple[Fix, ...]
    if set(reasons) == {"release"}:
        summary, fixes = "Keras and TensorFlow are of different releases.", (same_keras(version),)
    elif "file-of-keras-3" in reasons:
        summary, fixes = "A model saved by Keras 3 is read by Keras 2.", (KERAS_3,)
    elif "file-of-newer-keras" in reasons:
        summary, fixes = "A model saved by a newer Keras 3 is read by an older one.", (NEWER_KERAS,)
    elif "two-kerases" in reasons:
        summary, fixes = "Objects of Keras 2 (tf_keras) meet a library that uses Keras 3.", (ONE_KERAS,)
    else:
        summary = (
            "Keras 2 is asked for, but tf_keras is not installed." if missing else "Code for Keras 2 meets Keras 3."
        )
        fixes = tuple(for_keras(version, missing=missing))
    return log_finding(summary, weight, lines, *fixes, cause="keras3", know=SEE)


def _absent(line: LogEvent, weight: Weight) -> Finding:
    why = line.values.get("why")
    return log_finding(
        "This interpreter has no TensorFlow." if why == "absent" else "TensorFlow cannot be imported.",
        weight,
        (line,),
        AVX if why == "instructions" else RUNTIME if why == "dll" else INSTALL,
        cause="tensorflow-absent",
        know="python -c 'import sys, tensorflow; print(sys.executable)'",
    )
