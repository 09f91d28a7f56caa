"""Which releases a text can be of, by the folders and words that only those print: a bound, where no number is named.

Messages stay from release to release, and which file prints them does not matter; but TensorFlow's folders moved a few times,
and that dates a text as a number would.
"""

from __future__ import annotations

from gpudoctor.knowledge import versions

AT_MOST = "tf_at_most"
# What the newest release is that prints it. Seen in fixtures/logs, in threads that name their release, and in wheels.
SIGNS = (
    ("(see above for traceback)", "1.15"),  # sessions: TensorFlow 2 has none
    ("/tensorflow_core/", "2.1"),  # the package's inner name from 1.15 to 2.1
    ("tensorflow/stream_executor/", "2.10"),
    ("tensorflow/core/common_runtime/bfc_allocator.cc", "2.10"),
    ("-packages/keras/engine/", "2.12"),  # Keras's own: the copy in tensorflow/python has such a folder to this day
    ("tensorflow/compiler/xla/stream_executor/", "2.14"),
    ("tensorflow/tsl/", "2.14"),
    ("/keras/src/engine/", "2.15"),
)


def narrowed(known: str, line: str) -> str:
    """Return the newest release that prints this line and what was read before, '' while nothing bounds it."""
    for sign, newest in SIGNS:
        if known and versions.at_least(newest, known):
            return known  # the signs are in order: none that follows says more
        if sign in line:
            return newest
    return known


def told(newest: str) -> dict[str, str]:
    """Return the bound as a field of the event that ends a text; {} for none."""
    return {AT_MOST: newest} if newest else {}
