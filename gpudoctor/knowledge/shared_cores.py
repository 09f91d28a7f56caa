"""What a step that computes on the CPU gains beside its wait, once the input pipeline's calls no longer share its cores.

Measured on 2 cores without a GPU (TensorFlow 2.21), as the rest of a step beside the calls, and the whole step without them:
257 calls of maps of TensorFlow's own operations 4.3 ms of 8.4, then 1.5; 64 small calls into Python 2.4 ms, then 1.2 to 1.6;
64 of 0.87 ms into NumPy 15 to 21 ms, then 8 to 8.7; plain Python, which keeps the interpreter, 3.8 ms, then 1.
"""

from __future__ import annotations

RELIEF_S = 20e-6  # for each call that goes, at most, however little it does
RELIEF_SHARE = 0.25  # of the time that the calls took, at most, where they let go of the interpreter
LEFT_AT_LEAST = 1 / 4  # of the rest of a step


def relief_s(calls: float, call_s: float = 0.0) -> float:
    """Return by how much the rest of a step becomes shorter without so many calls of so many seconds, at most."""
    return calls * max(RELIEF_S, RELIEF_SHARE * call_s)


def left_of(rest_s: float, relief_s: float) -> float:
    """Return what is left of the rest of a step, at least."""
    return max(rest_s * LEFT_AT_LEAST, rest_s - relief_s)
