"""GD311: a package that TensorFlow needs is missing, or is older than it asks for.

What it does
    Compares the installed packages with what the installed TensorFlow and its Keras ask for in their own metadata. NumPy,
    protobuf and Keras of a wrong version have checks of their own.

Why it matters
    The import then fails far from the reason: "No module named 'absl'", "cannot import name 'getargspec'", "module
    'ml_dtypes' has no attribute 'float4_e2m1fn'". It happens when TensorFlow was installed with --no-deps, when another
    package (jax, an old notebook) brought its own version along, or when an installation was cut off. pip says so once,
    while it installs, and never again.

How to fix
    Install what is asked for; the finding holds the command. pip check lists every misfit of the environment. Two packages
    that ask for versions which exclude each other (an old jax beside a new TensorFlow) need an environment each.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Evidence,
    Finding,
    Fix,
    NotApplicable,
    Packages,
    Severity,
    TensorFlow,
    Trial,
    check,
    either,
    import_names,
    must_know,
    unblocks,
    versions,
)
from gpudoctor_checks.tensorflow.importable import weigh_import
from gpudoctor_checks.tensorflow.quoting import requirement

MISSING = 0.95  # each of these was taken away and the import failed (knowledge/import_names)
# Run: 2.20.0 with ml_dtypes 0.3.2, 2.21.0 with 0.4.1 and 2.19.1 with wrapt 1.10.0 do not import; an older one of another
# package may do.
OLDER = 0.6
UNUSED = 0.3  # asked for, and the import does without it
OWN_CHECKS = frozenset({"numpy", "protobuf", "keras"})  # GD308, GD309, GD310 judge their versions
AT_ONCE = 3  # more than that is not a clash but an installation that was never finished


@check(
    code="GD311",
    slug="dependencies",
    title="A package that TensorFlow needs does not fit",
    family="tensorflow",
    cause="dependency-misfit",
    core=False,
)
def misfits(tensorflow: TensorFlow, packages: Packages, baseline: Trial | None) -> Iterator[Finding]:
    """Find what is missing and what is too old; what is newer than asked for mostly works."""
    if not must_know(tensorflow.installed, "whether TensorFlow is installed"):
        raise NotApplicable("TensorFlow is not installed")
    asked = must_know(tensorflow.requires, "what this TensorFlow asks for")
    apart = [each.partition(" ") for each in asked]
    missing = [(name, wanted) for name, _, wanted in apart if name not in packages.versions]
    older = [(name, wanted) for name, _, wanted in apart if name not in OWN_CHECKS and _older(packages, name, wanted)]
    needed = [each for each in missing if _needed(each[0], tensorflow)]
    if not missing and not older:
        return
    wrong = [*needed, *older] or missing
    weight = weigh_import(MISSING if needed else OLDER if older else UNUSED, tensorflow, baseline)
    failed = bool(either(tensorflow.import_error, ""))
    yield Finding(
        summary=_summary(needed, older, missing),
        severity=Severity.ERROR if needed or (older and failed) else Severity.WARNING if older else Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=tuple(
            Evidence(
                label=name,
                value=f"{packages.version(name) or 'not installed'}; asked for: {wanted or 'any'}",
                source="installed packages, METADATA",
            )
            for name, wanted in wrong
        ),
        fixes=(_install(wrong, tensorflow),),
    )


def _older(packages: Packages, name: str, wanted: str) -> bool:
    """Return whether a lower bound is not kept; an exact pin that is passed counts as newer."""
    own = packages.version(name)
    least = next((each for each in wanted.split(",") if each.startswith((">=", "~=", "=="))), None)
    if own is None or least is None or not versions.is_version(own) or not versions.is_version(least[2:]):
        return False
    return not versions.at_least(own, least[2:].removesuffix(".*"))


def _needed(name: str, tensorflow: TensorFlow) -> bool:
    if name in import_names.NEEDED_TO_IMPORT:
        return True
    keras = either(tensorflow.keras_version, "")
    third = versions.is_version(keras) and versions.at_least(keras, "3")
    return name in import_names.NEEDED_BY_KERAS_3 and third


def _summary(needed: list[tuple[str, str]], older: list[tuple[str, str]], missing: list[tuple[str, str]]) -> str:
    gone, old = [name for name, _ in needed], [name for name, _ in older]
    if len(gone) > AT_ONCE:
        return f"{len(gone)} packages that TensorFlow needs are not installed."
    if gone:
        be = "is" if len(gone) == 1 else "are"
        return f"TensorFlow needs {' and '.join(gone)}, which {be} not installed."
    if old:
        be = "is" if len(old) == 1 else "are"
        return f"{' and '.join(old[:AT_ONCE])} {be} older than TensorFlow asks for."
    return f"{len(missing)} packages that TensorFlow asks for are not installed; it imports without them."


def _install(wrong: list[tuple[str, str]], tensorflow: TensorFlow) -> Fix:
    distribution, version = either(tensorflow.distribution, ""), either(tensorflow.version, "")
    whole = len(wrong) > AT_ONCE and distribution and version
    words = [f"{distribution}=={version}"] if whole else [f"{name}{wanted}" for name, wanted in wrong]
    what = " ".join(map(requirement, words))
    return Fix(
        id="install-dependencies",
        title="Install what TensorFlow asks for",
        action="command",
        text=f"pip install {what}",
        gain=unblocks("TensorFlow imports again"),
        effort_minutes=1,
    )
