"""Memory of this process each second: resident set, and what TensorFlow's allocators hold on each GPU."""

from __future__ import annotations

import os
import time
from typing import Any

from . import core, settings, tables
from .tables import tensorflow_module

_gpus: list[str] = []
_asked = [False]
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def hook(_: Any) -> None:
    """Nothing to replace."""


def _beat() -> None:
    with open("/proc/self/statm", "rb") as stream:
        pages = int(stream.read().split()[1])
    now = time.time()
    core.emit("memory", at=now, device="host", current_bytes=pages * PAGE)
    if not any(each.count for each in tables.tables.loops):
        return  # until a step has run the devices may not be initialised by us
    if not _asked[0]:
        _asked[0] = True
        settings.of_process()
        context = tensorflow_module("eager.context").context()
        _gpus.extend(f"GPU:{number}" for number, _ in enumerate(context.list_logical_devices("GPU")))
    for device in _gpus:
        told = tensorflow_module("eager.context").context().get_memory_info(device)
        core.emit("memory", at=now, device=device, current_bytes=int(told["current"]), peak_bytes=int(told["peak"]))


core.every_beat.append(_beat)
