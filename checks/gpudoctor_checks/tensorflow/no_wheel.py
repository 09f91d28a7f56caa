"""GD307: no TensorFlow wheel exists for this Python or this system.

What it does
    Compares the version of the examined Python, the processor and the C library with what TensorFlow's wheels are
    made for. It speaks only where TensorFlow is not installed.

Why it matters
    pip then says "No matching distribution found for tensorflow", which reads like a network fault. TensorFlow follows
    a new Python with months of delay, and makes no wheels for musl (Alpine) or for other processors than x86_64 and
    aarch64.

How to fix
    Make an environment with a Python that has wheels; the finding names one. uv brings the interpreter along:
    uv venv --python 3.12 ~/tf. A system Python need not be replaced. In a container take an image with glibc, such as
    python:3.12-slim in place of python:3-alpine.
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
    Python,
    Severity,
    TensorFlow,
    Trial,
    check,
    either,
    must_know,
    tensorflow_releases,
    unblocks,
    versions,
)
from gpudoctor_checks.installing import make_environment
from gpudoctor_checks.presence import gpu_present
from gpudoctor_checks.remedies import advised_version
from gpudoctor_checks.tensorflow.importable import weigh_import

LISTED = 0.95  # the complete file list of the package was read; a release of tomorrow may change it
PROCESSORS = frozenset({"x86_64", "aarch64"})  # of the Linux wheels
GLIBC_IMAGE = Fix(
    id="use-glibc-image",
    title="Use an image with glibc",
    action="command",
    text="docker run -it --rm python:3.12-slim",
    gain=unblocks("no wheel is made for musl"),
    effort_minutes=10,
)


@check(
    code="GD307",
    slug="no-wheel",
    title="No TensorFlow wheel for this Python",
    family="tensorflow",
    cause="python-tf-wheel",
)
def none_fits(
    python: Python,
    tensorflow: TensorFlow,
    host: Host | None,
    driver: Driver | None,
    devices: Devices | None,
    kernel: Kernel | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Find a Python, processor or C library for which pip has nothing."""
    if must_know(tensorflow.installed, "whether TensorFlow is installed"):
        return
    version = must_know(python.version, "the version of Python")
    linux = host is not None and either(host.os, "") == "linux"
    arch = either(host.arch, "x86_64") if host is not None else "x86_64"
    fixes: tuple[Fix, ...] = (GLIBC_IMAGE,)
    if linux and host is not None and either(host.libc, "").startswith("musl"):
        words = "musl, as in Alpine"
    elif linux and arch not in PROCESSORS:
        words, fixes = f"the processor {arch}", (_build(arch),)
    elif not tensorflow_releases.releases_for_python(version):
        words, fixes = f"Python {versions.minor(version)}", make_environment(devices, driver, host)
    else:
        return
    weight = weigh_import(LISTED, tensorflow, baseline)
    yield Finding(
        summary=f"TensorFlow has no wheel for {words}.",
        severity=Severity.ERROR if gpu_present(driver, kernel) else Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="Python", value=version, source=either(python.executable, "interpreter")),
            Evidence(label="wheels exist for", value=_range(), source="file list of the package"),
            Evidence(label="processor", value=arch, source="host"),
        ),
        fixes=fixes,
    )


def _range() -> str:
    release = tensorflow_releases.release_of(advised_version())
    return f"Python {release.python[0]} to {release.python[-1]} ({release.latest})" if release is not None else "others"


def _build(arch: str) -> Fix:
    return Fix(
        id="build-for-processor",
        title="Use a vendor's build, or another machine",
        action="manual",
        text=f"No official wheel is made for {arch}: ask the system's vendor for a build of TensorFlow",
        gain=unblocks("pip has nothing for it"),
        effort_minutes=120,
    )
