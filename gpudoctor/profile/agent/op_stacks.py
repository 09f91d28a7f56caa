"""Keep our frames out of the stacks that TensorFlow keeps of its operations, and prints when one of them fails.

TensorFlow filters such stacks by file name, in each thread from a sentinel on, which filters nothing by itself: it takes the
names of our wrappers.
"""

from __future__ import annotations

import functools
from typing import Any

from . import core, hidden


def hook(module: Any) -> None:
    """Give the names to the sentinels of `tf_stack`: to new ones when they are made, to all when there is a new name."""
    kind: Any = getattr(module, "SentinelFilter", None)
    stacks: Any = getattr(module, "_source_filter_stacks", None)
    if kind is None or stacks is None or not hasattr(kind, "update"):
        return
    original: Any = kind.__init__

    def filtered(_: Any) -> frozenset[str]:
        return frozenset(hidden.files)

    @functools.wraps(original)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        core.quietly(self.update)

    def update() -> None:
        for each in list(stacks.values()):
            core.quietly(each[0].update)

    kind.get_filtered_filenames, kind.__init__ = filtered, made
    hidden.on_new_file.append(update)
    update()
