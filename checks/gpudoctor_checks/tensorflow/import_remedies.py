"""What an import that failed says, what it means, and the cure."""

from __future__ import annotations

from gpudoctor.sdk import Fix, unblocks
from gpudoctor_checks.tensorflow.quoting import requirement


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
# Run: numpy 2.x without its _multiarray_umath library; NumPy's own words in numpy/_core/__init__.py.
NUMPY_IN_PIECES = "you should not try to import numpy from"


def import_remedy(error: str, numpy: str) -> tuple[str, Fix]:
    """Return cause and cure of an import's message; `numpy`: the version that is installed."""
    if NUMPY_IN_PIECES in error:
        return "dependency-misfit", _restore_numpy(numpy)
    return next(((cause, fix) for text, cause, fix in KNOWN if text in error), ("tensorflow-absent", REPAIR))


def _restore_numpy(version: str) -> Fix:
    """Return how to put back the files of a NumPy that is installed in pieces."""
    pinned = "" if version == "unknown" else f"=={version}"
    return Fix(
        id="restore-numpy",
        title="Put NumPy's files back",
        action="command",
        text=f"pip install --force-reinstall --no-deps {requirement(f'numpy{pinned}')}",
        gain=unblocks("NumPy imports again, and TensorFlow with it"),
        effort_minutes=1,
    )
