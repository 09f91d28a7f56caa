"""TensorFlow 1.0 to 2.3: the CUDA and cuDNN that the official wheels were built with.

Kept apart from `tensorflow_releases`, whose rows were read from the wheels themselves; these come from a page.
Source: "Tested build configurations", Linux, GPU, in site/en/install/source.md of the repository tensorflow/docs at commit
b19e63b865a24aad11787ef2ccf03caf2ed731d8 (tensorflow.org/install/source), every row from 1.0.0 to 2.3.0 compared. It says
"8" and "9" where the libraries are called 8.0 and 9.0.
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
