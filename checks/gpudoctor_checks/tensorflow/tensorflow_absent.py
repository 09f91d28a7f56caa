"""GD303: TensorFlow is not installed in this environment, or cannot be imported.

What it does
    Looks for TensorFlow in the Python environment that is examined (the report names it) and, when the probe ran,
    whether the import succeeds.

Why it matters
    Without TensorFlow nothing about training can be tested. Often it is installed, but in another environment than the
    one in use: a virtual environment that is not activated, a notebook kernel, another conda environment.

How to fix
    Point gpudoctor at the environment you train with: gpudoctor scan --python /path/to/python
    Or install it there: pip install 'tensorflow[and-cuda]==2.20.0' (Linux x86_64; name the version, for 2.21.0, the
    newest, does not find its own CUDA wheels). If pip finds no version, no wheel exists for this Python: use one that
    TensorFlow supports. If the import fails, the message says why: NumPy 2 beside a TensorFlow built for NumPy 1
    (pip install 'numpy<2'), or a protobuf that does not fit.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Devices,
    Driver,
    Evidence,
    Finding,
    Fix,
    Host,
    Kernel,
    Packages,
    Python,
    Severity,
    TensorFlow,
    Trial,
    check,
    either,
    must_know,
    unblocks,
)
from gpudoctor_checks.installing import install_tensorflow
from gpudoctor_checks.presence import gpu_present


def _fix(name: str, title: str, text: str) -> Fix:
    return Fix(
        id=name, title=title, action="command", text=text, gain=unblocks("TensorFlow must import"), effort_minutes=3
    )


POINT = _fix("point-at-python", "Examine the environment you train with", "gpudoctor scan --python /path/to/python")
REPAIR = _fix("repair-environment", "See which packages do not fit together", "pip check")
# What the import says, what it means, and the cure: messages of NumPy's compatibility shim and of protobuf's runtime.
KNOWN = (
    ("NumPy 1.x cannot be run in", "numpy2", _fix("pin-numpy", "Go back to NumPy 1", "pip install 'numpy<2'")),
    ("_ARRAY_API", "numpy2", _fix("pin-numpy", "Go back to NumPy 1", "pip install 'numpy<2'")),
    (
        "Descriptors cannot be created directly",
        "protobuf",
        _fix("pin-protobuf", "Go back to protobuf 3", "pip install 'protobuf<3.21'"),
    ),
)


@check(
    code="GD303",
    slug="tensorflow-absent",
    title="TensorFlow is missing or cannot be imported",
    family="tensorflow",
    cause=("tensorflow-absent", "numpy2", "protobuf"),
)
def absent(
    tensorflow: TensorFlow,
    python: Python | None,
    packages: Packages | None,
    driver: Driver | None,
    devices: Devices | None,
    host: Host | None,
    kernel: Kernel | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Find a missing package or a failing import; a training that ran refutes both."""
    executable = either(python.executable, "python") if python is not None else "python"
    trained = baseline is not None and baseline.status == "ok"
    if must_know(tensorflow.installed, "whether TensorFlow is installed") is False:
        yield Finding(
            summary="TensorFlow is not installed in this environment.",
            severity=Severity.ERROR if gpu_present(driver, kernel) else Severity.WARNING,
            confidence=0.2 if trained else 0.97,
            basis="searched the environment's packages" + (", but the probe trained" if trained else ""),
            evidence=(Evidence(label="interpreter", value=executable, source="target environment"),),
            fixes=(
                POINT,
                *install_tensorflow(
                    "Or install TensorFlow here", devices=devices, driver=driver, host=host, python=python
                ),
            ),
        )
        return
    error = either(tensorflow.import_error, "")
    if not error:
        return
    cause, fix = next(((cause, fix) for text, cause, fix in KNOWN if text in error), ("tensorflow-absent", REPAIR))
    yield Finding(
        summary="TensorFlow is installed but cannot be imported.",
        severity=Severity.ERROR,
        confidence=0.2 if trained else 0.97,
        basis="the probe's import" + (", but a trial trained" if trained else ""),
        evidence=(
            Evidence(label="import", value=error.strip().splitlines()[-1][:200], source="probe"),
            Evidence(label="TensorFlow", value=either(tensorflow.version, "unknown"), source="installed packages"),
            Evidence(label="numpy", value=_version(packages, "numpy"), source="installed packages"),
            Evidence(label="protobuf", value=_version(packages, "protobuf"), source="installed packages"),
        ),
        fixes=(fix,),
        cause=cause,
    )


def _version(packages: Packages | None, name: str) -> str:
    return (packages.version(name) if packages is not None else None) or "unknown"
