"""GD312: a file in this folder takes the place of a module that TensorFlow needs.

What it does
    Looks in the folder where it was started for files and packages that are named like what `import tensorflow` imports:
    tensorflow.py, numpy/, random.py, types.py ...

Why it matters
    Python looks in the script's own folder first. A script called tensorflow.py imports itself ("module 'tensorflow' has
    no attribute 'keras'"), one called random.py stands in for Python's own ("cannot import name 'Random' from 'random'").
    TensorFlow, NumPy and the driver are sound, so reinstalling any of them changes nothing.

How to fix
    Rename the file, and remove its compiled copy in __pycache__ where one lies about. A folder counts only with an
    __init__.py in it. If you train from another folder, this one does not matter.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from gpudoctor.sdk import Evidence, Finding, Fix, Python, Severity, Trial, check, either, must_know, unblocks

# Run: tensorflow.py and random.py beside the script break the import of 2.20.0. Left open: whether you train from here.
BESIDE = 0.7
SOUND_ELSEWHERE = 0.8  # in the probe's empty folder the same TensorFlow trains
BROKEN_ANYWAY = 0.5  # it does not train there either, so this is at most the second trouble
SHOWN = 3


@check(
    code="GD312",
    slug="shadowed-module",
    title="A file here shadows a module TensorFlow needs",
    family="tensorflow",
    cause="shadowed-module",
    core=False,
)
def shadowed(python: Python, baseline: Trial | None) -> Iterator[Finding]:
    """Warn of each such file; the probe trains in an empty folder, so it tells what remains without them."""
    names = must_know(python.shadowing, "which files lie in this folder")
    if not names:
        return
    sound = baseline is not None and baseline.status == "ok"
    confidence = BESIDE if baseline is None else SOUND_ELSEWHERE if sound else BROKEN_ANYWAY
    listed = ", ".join(names[:SHOWN]) + ("" if len(names) <= SHOWN else f" and {len(names) - SHOWN} more")
    yield Finding(
        summary=f"{listed} in this folder would be imported in place of the module that TensorFlow needs.",
        severity=Severity.WARNING,
        confidence=confidence,
        basis="the folder's files" + ("" if baseline is None else f"; elsewhere the probe: {baseline.status}"),
        evidence=(
            Evidence(label="in this folder", value=listed, source="folder of the call"),
            Evidence(label="interpreter", value=either(python.executable, "unknown"), source="target environment"),
        ),
        fixes=(_rename(names[0]),),
    )


def _rename(name: str) -> Fix:
    old = name.rstrip("/")
    new = f"my_{old}"
    return Fix(
        id="rename-shadowing-file",
        title="Rename it, and its imports in your code",
        action="command",
        text=f"mv {shlex.quote(old)} {shlex.quote(new)}",
        gain=unblocks("Python then finds the real module"),
        effort_minutes=1,
    )
