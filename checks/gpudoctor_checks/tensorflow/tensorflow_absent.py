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
    (pip install 'numpy<2'), a protobuf that does not fit, a processor without AVX ("Illegal instruction"), or a glibc or
    libstdc++ that is older than the wheel was built with ("GLIBC_2.27 not found").
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Devices,
    Driver,
    Evidence,
    Finding,
    Host,
    Kernel,
    Packages,
    Python,
    Scheduler,
    Severity,
    TensorFlow,
    Trial,
    check,
    either,
    must_know,
)
from gpudoctor_checks.installing import install_tensorflow
from gpudoctor_checks.presence import gpu_present
from gpudoctor_checks.remedies import under_scheduler
from gpudoctor_checks.tensorflow.import_remedies import POINT, import_remedy
from gpudoctor_checks.tensorflow.remains import clearing, registered_as, ways_back, what_is_left

SEARCHED = 0.97  # the folders were read, or the import was tried; what is left is an environment changed meanwhile
REFUTED = 0.2  # policy, as for packages that do not fit: a training that ran outweighs what the folders say


@check(
    code="GD303",
    slug="tensorflow-absent",
    title="TensorFlow is missing or cannot be imported",
    family="tensorflow",
    cause=("tensorflow-absent", "numpy2", "protobuf", "dependency-misfit"),
)
def absent(
    tensorflow: TensorFlow,
    python: Python | None,
    packages: Packages | None,
    driver: Driver | None,
    devices: Devices | None,
    host: Host | None,
    kernel: Kernel | None,
    scheduler: Scheduler | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Find a missing package or a failing import; a training that ran refutes both."""
    executable = either(python.executable, "python") if python is not None else "python"
    trained = baseline is not None and baseline.status == "ok"
    if must_know(tensorflow.installed, "whether TensorFlow is installed") is False:
        present = gpu_present(driver, kernel)
        registered = registered_as(packages)
        install = install_tensorflow(
            "Install TensorFlow here",
            before="" if registered else clearing(tensorflow),
            devices=devices,
            driver=driver,
            host=host,
            python=python,
            cuda=present is not False or _of_a_cluster(scheduler),
        )
        yield Finding(
            summary=what_is_left(registered, tensorflow),
            severity=Severity.ERROR if present else Severity.WARNING,
            confidence=REFUTED if trained else SEARCHED,
            basis="searched the environment's packages" + (", but the probe trained" if trained else ""),
            evidence=(
                Evidence(label="interpreter", value=executable, source="target environment"),
                Evidence(label="registered", value=registered or "no", source="installed packages"),
                Evidence(label="remains", value=either(tensorflow.remains, "") or "none", source="site-packages"),
            ),
            fixes=ways_back(registered, tensorflow, python, (POINT, *install)),
        )
        return
    if error := either(tensorflow.import_error, ""):
        yield _fails(error, tensorflow, packages, REFUTED if trained else SEARCHED, trained=trained)


def _of_a_cluster(scheduler: Scheduler | None) -> bool:
    """Return whether this is a node of a cluster: what is installed on its login node is trained on its GPU nodes."""
    return under_scheduler(scheduler) or (scheduler is not None and either(scheduler.installed, "none") != "none")


def _fails(
    error: str, tensorflow: TensorFlow, packages: Packages | None, confidence: float, *, trained: bool
) -> Finding:
    cause, fix = import_remedy(error, _version(packages, "numpy"))
    return Finding(
        summary="TensorFlow is installed but cannot be imported.",
        severity=Severity.ERROR,
        confidence=confidence,
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
