"""What is told of packages that do not fit, one finding for each kind of clash."""

from __future__ import annotations

from gpudoctor.sdk import Finding, Fix, LogEvent, Weight
from gpudoctor_checks.said import log_finding, newest
from gpudoctor_checks.tensorflow.import_remedies import NEWER_RUNTIME, NEWER_SYSTEM
from gpudoctor_checks.tensorflow.packages_remedies import (
    AVX,
    CHECK,
    KERAS_3,
    NEWER_KERAS,
    OLD_NUMPY,
    ONE_KERAS,
    RUNTIME,
    SEE,
    for_keras,
    for_misfit,
    for_numpy,
    same_keras,
)

RUNTIMES = {"glibc": NEWER_SYSTEM, "libstdcxx": NEWER_RUNTIME}
INSTALL = newest(
    "install-tensorflow",
    "Install TensorFlow in this environment",
    "python -m pip install {}",
    why="the interpreter that runs the script has none",
    minutes=5,
)


def of_numpy(lines: tuple[LogEvent, ...], version: str, weight: Weight) -> Finding:
    """Tell names that NumPy 1.24 took away from modules that were built for NumPy 1."""
    found = next((each.values["numpy"] for each in lines if "numpy" in each.values), "2")
    alias = all(each.values.get("why") == "alias" for each in lines)
    summary = (
        "This NumPy has lost names that TensorFlow, or a module beside it, still uses (gone from NumPy 1.24 on)."
        if alias
        else f"NumPy {found} stands beside modules that were built for NumPy 1."
    )
    return log_finding(summary, weight, lines, *((OLD_NUMPY,) if alias else for_numpy(version)), cause="numpy2")


def of_misfit(lines: tuple[LogEvent, ...], version: str, weight: Weight) -> Finding:
    """Tell a library of the system from a package."""
    module = lines[0].values["module"]
    runtime = RUNTIMES.get(lines[0].values.get("why", ""))
    summary = (
        f"The {module} here is older than what is imported was built with."
        if runtime
        else f"The installed {module} does not fit what imports it."
    )
    fix = runtime or for_misfit(lines[0], version)
    return log_finding(summary, weight, lines, fix, cause="dependency-misfit", know=CHECK)


def of_keras(lines: tuple[LogEvent, ...], version: str, weight: Weight) -> Finding:
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


def of_absence(line: LogEvent, weight: Weight) -> Finding:
    """Tell an interpreter without TensorFlow from one that cannot import it."""
    why = line.values.get("why")
    return log_finding(
        "This interpreter has no TensorFlow." if why == "absent" else "TensorFlow cannot be imported.",
        weight,
        (line,),
        AVX if why == "instructions" else RUNTIME if why == "dll" else INSTALL,
        cause="tensorflow-absent",
        know="python -c 'import sys, tensorflow; print(sys.executable)'",
    )
