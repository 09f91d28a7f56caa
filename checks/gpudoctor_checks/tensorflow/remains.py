"""What an installation that was half removed leaves, and the shortest way back to a TensorFlow that imports."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.sdk import Fix, Packages, Python, TensorFlow, either, unblocks
from gpudoctor_checks.tensorflow.quoting import package_folder, requirement

# Distributions that bring the folder `tensorflow`: removing one takes the files of the other along.
SAME_FOLDER = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly", "tf-nightly-cpu")


def registered_as(packages: Packages | None) -> str:
    """Return "tensorflow==2.19.1" for a distribution whose files are gone, '' where none is registered."""
    if packages is None:
        return ""
    found = ((name, packages.version(name)) for name in SAME_FOLDER)
    return next((f"{name}=={version}" for name, version in found if version), "")


def what_is_left(registered: str, tensorflow: TensorFlow) -> str:
    """Return the summary for an environment without a TensorFlow that can be imported."""
    if registered:
        return f"{registered.replace('==', ' ')} is registered here, but its files are gone."
    if either(tensorflow.remains, ""):
        return "Of TensorFlow only remains are in this environment: it is not installed."
    return "TensorFlow is not installed in this environment."


def clearing(tensorflow: TensorFlow) -> str:
    """Return the command that comes before an installation: pip writes over remains, and old libraries stay among new ones."""
    folder = package_folder(either(tensorflow.remains, ""))
    return f"rm -r {folder} && " if folder else ""


def ways_back(registered: str, tensorflow: TensorFlow, python: Python | None, usual: Sequence[Fix]) -> tuple[Fix, ...]:
    """Return the fixes, the surest first: restore what was here, else install; another environment where one may be."""
    point, install = usual[0], tuple(usual[1:])
    if registered:
        return (_restore(registered), *install)
    alone = python is not None and either(python.elsewhere, None) == ()
    return (*install, point) if alone or either(tensorflow.remains, "") else (point, *install)


def _restore(registered: str) -> Fix:
    return Fix(
        id="restore-tensorflow",
        title="Put its files back",
        action="command",
        text=f"pip install --force-reinstall --no-deps {requirement(registered)}",
        gain=unblocks("the files of the package are there again"),
        effort_minutes=3,
        release=registered.partition("==")[2],
    )
