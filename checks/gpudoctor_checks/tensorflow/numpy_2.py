"""GD308: NumPy 2 beside a TensorFlow that was built for NumPy 1.

What it does
    Compares the installed NumPy with what this TensorFlow release itself asks for.

Why it matters
    Releases before 2.18 were compiled against NumPy 1. With NumPy 2 the import ends in "A module that was compiled using
    NumPy 1.x cannot be run in NumPy 2" or "_ARRAY_API not found", or the first conversion of an array fails. It happens
    when another package, installed later, brings NumPy 2 along.

How to fix
    Put the NumPy back that TensorFlow asks for; the finding holds the command. If another package needs NumPy 2, use
    TensorFlow 2.18 or newer, or an environment of its own. Nothing else has to change.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Evidence,
    Finding,
    Fix,
    Inconclusive,
    NotApplicable,
    Packages,
    Python,
    Severity,
    Skip,
    TensorFlow,
    Trial,
    check,
    either,
    must_know,
    tensorflow_releases,
    unblocks,
    versions,
)
from gpudoctor_checks.tensorflow.importable import weigh_import

# METADATA of the wheels; run: 2.17.1 and 2.15.1 with NumPy 2.3.4 do not import.
BUILT_FOR_1 = 0.9


@check(
    code="GD308",
    slug="numpy-2",
    title="NumPy 2 beside a build for NumPy 1",
    family="tensorflow",
    cause="numpy2",
)
def too_new(
    tensorflow: TensorFlow, packages: Packages, python: Python | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Judge official wheels by their own requirement; other builds are made against other NumPy releases."""
    if not must_know(tensorflow.installed, "whether TensorFlow is installed"):
        raise NotApplicable("TensorFlow is not installed")
    if must_know(tensorflow.origin, "where this TensorFlow comes from") != "official_wheel":
        raise NotApplicable("not an official wheel: its builder chose the NumPy")
    version = must_know(tensorflow.version, "the TensorFlow version")
    numpy = packages.version("numpy")
    if numpy is None:
        raise Skip("the version of NumPy is unknown")
    own = either(python.version, None) if python is not None else None
    wanted = tensorflow_releases.requirement_of(version, "numpy", own)
    if wanted is None:
        raise Inconclusive(f"what TensorFlow {version} asks for is unknown here")
    if not versions.at_least(numpy, "2") or versions.at_least(version, tensorflow_releases.NUMPY_2_SINCE):
        return
    weight = weigh_import(BUILT_FOR_1, tensorflow, baseline)
    yield Finding(
        summary=f"NumPy {numpy} beside TensorFlow {version}, which was built for NumPy 1.",
        severity=Severity.ERROR,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="numpy", value=numpy, source="installed packages"),
            Evidence(label="TensorFlow asks for", value=f"numpy {wanted}", source=f"METADATA of {version}"),
        ),
        fixes=(_pin(wanted if "<" in wanted or "~" in wanted else "<2"),),
    )


def _pin(wanted: str) -> Fix:
    return Fix(
        id="pin-numpy",  # GD303 gives the same cure under the same id
        title="Go back to the NumPy that it asks for",
        action="command",
        text=f"pip install 'numpy{wanted}'",
        gain=unblocks("TensorFlow imports again"),
        effort_minutes=1,
    )
