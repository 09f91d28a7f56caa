"""Runs that do not measure time are made side by side: a machine of two cores has them in half of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def together(*works: Callable[[], T]) -> list[T]:
    """Do all, as many at a time as there are cores; return in their order what each gave.

    Each waits for a process of its own. The threads have ended when this returns, so that a later test may fork.
    """
    with ThreadPoolExecutor(min(len(works), os.cpu_count() or 1)) as threads:
        return [each.result() for each in [threads.submit(work) for work in works]]
