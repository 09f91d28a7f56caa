"""TensorFlow 1.0 to 2.3: the CUDA and cuDNN that the official wheels were built with.

Kept apart from `tensorflow_releases`, whose rows were read from the wheels themselves; these come from a page.
Source: tensorflow.org/install/source, "Tested build configurations", GPU, Linux (facts of 2026-11-30).
"""

from __future__ import annotations

from gpudoctor.knowledge import versions

# first release of a span: (CUDA, cuDNN)
BUILT_WITH = (
    ("2.1", "10.1", "7.6"),
    ("1.13", "10.0", "7.4"),
    ("1.5", "9.0", "7"),
    ("1.3", "8.0", "6"),
    ("1.0", "8.0", "5.1"),
)
FIRST_IN_TABLE = "2.4"  # from here on `tensorflow_releases` knows


def built_with(version: str) -> tuple[str, str] | None:
    """Return (CUDA, cuDNN) of an early release; None for one of the table's, or older than 1.0."""
    if versions.at_least(version, FIRST_IN_TABLE):
        return None
    return next(((cuda, cudnn) for first, cuda, cudnn in BUILT_WITH if versions.at_least(version, first)), None)
