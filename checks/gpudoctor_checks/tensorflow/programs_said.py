"""What is told of a program that does not fit the packages here: code of TensorFlow 1, modules that are gone or hidden."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Log, LogEvent, Trial, weigh_faulty
from gpudoctor_checks.said import by_hand, change, events, log_finding

SURE, MOSTLY = 0.9, 0.8  # policy: Python's own words; a damaged installation lacks the same names
COMPAT_V1 = change(
    "names-of-tensorflow-1",
    "Take the names of TensorFlow 1 from compat.v1",
    "import tensorflow.compat.v1 as tf1; tf1.disable_v2_behavior()  # then tf1.NAME; or: tf_upgrade_v2 --intree SRC --outtree NEW",
    why="TensorFlow 2 keeps them there; an older TensorFlow has no code for newer GPUs",
)
CONTRIB = by_hand(
    "replace-contrib",
    "Replace contrib in the program",
    "contrib is in no TensorFlow 2: take what replaced the part in use (Keras, tf_slim, TensorFlow Probability or Addons). Only"
    " code that may not change stays with TensorFlow 1.15, its Python 3.7 and its CUDA 10.0",
    why="no release of TensorFlow 2 has the module",
    minutes=60,
)
SCIKERAS = change(
    "use-scikeras",
    "Take the wrappers from SciKeras",
    "python -m pip install scikeras  # then: from scikeras.wrappers import KerasClassifier, KerasRegressor",
    why="Keras has given its scikit-learn wrappers up for it",
)


def of_program(log: Log, trial: Trial | None) -> Iterator[Finding]:
    """Tell each once; the packages themselves are sound."""
    hidden, old = events(log, "module_hidden"), events(log, "code_of_tf1")
    if hidden:
        yield _hidden(hidden, trial)
        return
    if old:
        contrib = any(each.values["name"] == "contrib" for each in old)
        summary = "The program is written for TensorFlow 1; a TensorFlow 2 is installed."
        fixes = (CONTRIB,) if contrib else (COMPAT_V1,)
        yield log_finding(summary, weigh_faulty(MOSTLY, trial), old, *fixes, cause="dependency-misfit")
    if gone := events(log, "wrappers_gone"):
        summary = "The program imports keras.wrappers, which this Keras no longer has."
        yield log_finding(summary, weigh_faulty(SURE, trial), gone, SCIKERAS, cause="dependency-misfit")
    if asked := events(log, "tensorflow_too_old_for"):
        yield _too_old(asked, trial)


def _hidden(lines: tuple[LogEvent, ...], trial: Trial | None) -> Finding:
    module = lines[0].values["module"]
    summary = f"A file named {module}.py beside the script is imported in place of the module {module}."
    rename = by_hand(
        "rename-shadowing-file",
        "Rename it, and its imports in your code",
        f"Rename {module}.py (my_{module}.py) and remove its copy in __pycache__; nothing has to be installed again",
        why="Python then finds the real module",
        minutes=1,
    )
    know = f"python -c 'import importlib.util as u; print(u.find_spec(\"{module}\").origin)'  # in the script's folder"
    return log_finding(summary, weigh_faulty(SURE, trial), lines, rename, cause="shadowed-module", know=know)


def _too_old(lines: tuple[LogEvent, ...], trial: Trial | None) -> Finding:
    asker, wanted, there = (lines[0].values[name] for name in ("asker", "wanted", "tf"))
    fix = by_hand(
        "fitting-releases",
        f"Take the {asker} of TensorFlow {there}",
        f"Install the release of {asker} whose notes name TensorFlow {there}; or, where driver and GPU allow it, TensorFlow {wanted} or newer",
        why="each release is made for one TensorFlow",
    )
    summary = f"{asker} asks for TensorFlow {wanted} or newer; {there} is installed."
    return log_finding(summary, weigh_faulty(SURE, trial), lines, fix, cause="dependency-misfit")
