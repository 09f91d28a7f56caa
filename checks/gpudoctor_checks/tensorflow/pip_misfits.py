"""What pip itself says does not fit: a package that another one asks for in another version, and pins that exclude each other.

Taking every such notice for a fault would be tempting; pip prints it for whatever lies around, and most environments work
all the same. So only what TensorFlow or Keras asks for, or is asked for, is told, and an error of the import goes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.sdk import Finding, Fix, Log, LogEvent, Severity, Trial, versions, weigh_faulty
from gpudoctor_checks.said import by_hand, command, events, log_finding
from gpudoctor_checks.tensorflow.packages_remedies import CHECK
from gpudoctor_checks.tensorflow.quoting import requirement

OURS = re.compile(r"(?i)(?:tensorflow|tf|keras|tb)(?:[-_.]|$)")
NVIDIA = "nvidia-"  # CUDA's libraries as wheels, which TensorFlow and other frameworks bring in different versions
NOTICE = 0.6  # policy: pip went on and installed; whether the program minds is not said
FIXES = {"keras": "install-keras", "numpy": "pin-numpy", "protobuf": "pin-protobuf"}
ALONE = by_hand(
    "separate-environments",
    "An environment for each of the two",
    "python -m venv ~/tf && ~/tf/bin/pip install tensorflow  # the other package in an environment of its own; or loosen"
    " the pins: a newer TensorFlow mostly asks for less narrow versions",
    why="no set of versions satisfies both",
)


def by_pip(log: Log, trial: Trial | None) -> Iterator[Finding]:
    """Yield what pip refused, or installed with a notice."""
    if refused := events(log, "pip_conflict"):
        summary = "Two packages ask for versions that exclude each other: pip installs neither."
        weight = weigh_faulty(0.85, trial)
        yield log_finding(summary, weight, refused, ALONE, cause="dependency-misfit", know="python -m pip --version")
        return
    misfits = events(log, "pip_misfit")
    told = [each for each in misfits if OURS.match(each.values["asker"] + "-") or _is_ours(each)]
    shared = [each for each in misfits if each not in told and each.values["package"].lower().startswith(NVIDIA)]
    if shared and not told:
        one = shared[0].values
        yield log_finding(
            f"{one['asker']} asks for another {one['package']} than {one['there']}: two frameworks share NVIDIA's wheels.",
            weigh_faulty(NOTICE, trial),
            shared,
            ALONE,
            cause="dependency-misfit",
            know=CHECK,
            severity=Severity.WARNING,
        )
    if told:
        first = next((each for each in told if each.values["package"].lower() in FIXES), told[0])
        asker, package, there = (first.values[name] for name in ("asker", "package", "there"))
        yield log_finding(
            f"{asker} asks for another {package} than {there}, which is installed.",
            weigh_faulty(NOTICE, trial),
            told,
            _as_asked(first),
            cause=_cause(package.lower(), there, first.values["wanted"]),
            know=CHECK,
            severity=Severity.WARNING,
        )


def _is_ours(event: LogEvent) -> bool:
    return OURS.match(event.values["package"] + "-") is not None


def _as_asked(event: LogEvent) -> Fix:
    package, wanted = event.values["package"], event.values["wanted"]
    return command(
        FIXES.get(package.lower(), "install-dependencies"),
        f"Install the {package} that is asked for",
        f"python -m pip install {requirement(package + wanted)}",
        why="pip names the versions that fit",
    )


def _cause(package: str, there: str, wanted: str) -> str:
    if package in {"keras", "tf-keras", "tf_keras"}:
        return "keras3"
    second = versions.is_version(there) and versions.at_least(there, "2")
    if package == "numpy" and second and not versions.satisfies("2.0.0", wanted):
        return "numpy2"
    return "protobuf" if package == "protobuf" else "dependency-misfit"
