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
LAST_MINOR = {1: 15, 2: 3}  # the page's rows end there: 1.15.0 and 2.3.0, by major


def is_release(version: str) -> bool:
    """Tell whether such a minor release is among the page's: 1.15 and 2.0 are, with nothing between them."""
    fields = versions.parse(version)
    return len(fields) > 1 and fields[1] <= LAST_MINOR.get(fields[0], -1)


def built_with(version: str) -> tuple[str, str] | None:
    """Return (CUDA, cuDNN) of an early release; None for one of the table's, and for what was no release."""
    if not is_release(version):
        return None
    return next(((cuda, cudnn) for first, cuda, cudnn in BUILT_WITH if versions.at_least(version, first)), None)
