"""GD309: the installed protobuf does not fit this TensorFlow.

What it does
    Compares the installed protobuf with what this TensorFlow release itself asks for.

Why it matters
    TensorFlow ships code that protobuf's compiler generated. That code never runs on an older protobuf ("Detected
    incompatible Protobuf Gencode/Runtime versions"), and code made for protobuf 3 not on 4 or newer ("Descriptors
    cannot be created directly"). Either way the import fails. A release for protobuf 4 or 5 mostly works with newer ones
    and prints "'MessageFactory' object has no attribute 'GetPrototype'", which does no harm. Another package, installed
    later, changed the version.

How to fix
    Put the protobuf back that TensorFlow asks for; the finding holds the command. If another package needs the other
    one, give it an environment of its own. PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python hides the trouble at the price
    of a much slower parser.
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

TOO_OLD = (
    0.9  # protobuf.dev, "Cross-Version Runtime Guarantee": new generated code on an older runtime is not supported
)
GENERATION_3 = 0.9  # protobuf.dev, news of 2022-05-06: code generated before 3.19 does not work with 4.21 and newer
# Run: TensorFlow 2.17.1, which asks for protobuf below 5, imports and trains with 5.29.5 and 7.36.2; it only prints
# "'MessageFactory' object has no attribute 'GetPrototype'". What the guarantee promises is one major.
TOO_NEW = 0.5


@check(
    code="GD309",
    slug="protobuf",
    title="protobuf does not fit this TensorFlow",
    family="tensorflow",
    cause="protobuf",
)
def misfit(tensorflow: TensorFlow, packages: Packages, baseline: Trial | None) -> Iterator[Finding]:
    """Judge official wheels by their own requirement."""
    if not must_know(tensorflow.installed, "whether TensorFlow is installed"):
        raise NotApplicable("TensorFlow is not installed")
    if must_know(tensorflow.origin, "where this TensorFlow comes from") != "official_wheel":
        raise NotApplicable("not an official wheel: its builder chose the protobuf")
    version = must_know(tensorflow.version, "the TensorFlow version")
    protobuf = packages.version("protobuf")
    if protobuf is None:
        raise Skip("the version of protobuf is unknown")
    wanted = tensorflow_releases.requirement_of(version, "protobuf")
    if wanted is None:
        raise Inconclusive(f"what TensorFlow {version} asks for is unknown here")
    if versions.satisfies(protobuf, wanted):
        return
    least = next((each[2:] for each in wanted.split(",") if each.startswith(">=")), "0")
    old = not versions.at_least(protobuf, least)
    third = "<3.20" in wanted
    weight = weigh_import(TOO_OLD if old else GENERATION_3 if third else TOO_NEW, tensorflow, baseline)
    yield Finding(
        summary=f"protobuf {protobuf} is too {'old' if old else 'new'} for TensorFlow {version}.",
        severity=Severity.ERROR if old or third else Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="protobuf", value=protobuf, source="installed packages"),
            Evidence(label="TensorFlow asks for", value=f"protobuf {wanted}", source=f"METADATA of {version}"),
        ),
        fixes=(_pin(wanted),),
    )


def _pin(wanted: str) -> Fix:
    bounds = ",".join(each for each in wanted.split(",") if not each.startswith("!="))
    return Fix(
        id="pin-protobuf",  # GD303 gives the same cure under the same id
        title="Install the protobuf that it asks for",
        action="command",
        text=f"pip install 'protobuf{bounds}'",
        gain=unblocks("TensorFlow imports again"),
        effort_minutes=1,
    )
