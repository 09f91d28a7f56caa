"""What an import that failed says, what it means, and the cure."""

from __future__ import annotations

from gpudoctor.sdk import Fix, unblocks
from gpudoctor_checks.tensorflow.packages_remedies import AVX
from gpudoctor_checks.tensorflow.quoting import requirement


def _fix(name: str, title: str, text: str) -> Fix:
    return Fix(
        id=name, title=title, action="command", text=text, gain=unblocks("TensorFlow must import"), effort_minutes=3
    )


POINT = _fix("point-at-python", "Examine the environment you train with", "gpudoctor scan --python /path/to/python")
REPAIR = _fix("repair-environment", "See which packages do not fit together", "pip check")
NEWER_SYSTEM = Fix(
    id="newer-glibc",
    title="Use a newer system, image or conda-forge",
    action="manual",
    text="This system's glibc is older than the wheel was built for; no pip install changes that. Take a newer distribution"
    " or image, or conda-forge's TensorFlow, which brings what it needs",
    gain=unblocks("the wheel's libraries can be loaded"),
    effort_minutes=30,
)
NEWER_RUNTIME = _fix(
    "newer-libstdcxx",
    "Let a newer libstdc++ be found first",
    'conda install -c conda-forge "libstdcxx-ng>=12"  # not in conda: take an older one off LD_LIBRARY_PATH',
)
# What the import says, what it means, and the cure: messages of NumPy's compatibility shim and of protobuf's runtime.
KNOWN = (
    ("NumPy 1.x cannot be run in", "numpy2", _fix("pin-numpy", "Go back to NumPy 1", "pip install 'numpy<2'")),
    ("_ARRAY_API", "numpy2", _fix("pin-numpy", "Go back to NumPy 1", "pip install 'numpy<2'")),
    (
        "Descriptors cannot be created directly",
        "protobuf",
        _fix("pin-protobuf", "Go back to protobuf 3", "pip install 'protobuf<3.21'"),
    ),
    # The signal of a CPU that does not know an instruction, in the words of the shell and of Python.
    *((words, "tensorflow-absent", AVX) for words in ("Illegal instruction", "SIGILL", "AVX instructions")),
    # ld.so: "version `GLIBC_2.28' not found (required by ...)".
    ("version `GLIBCXX_", "dependency-misfit", NEWER_RUNTIME),
    ("version `CXXABI_", "dependency-misfit", NEWER_RUNTIME),
    ("GLIBCXX", "dependency-misfit", NEWER_RUNTIME),
    ("GLIBC_2.", "dependency-misfit", NEWER_SYSTEM),
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
