"""Fork and end while a window's thread is busy for long inside the profiler; print how long each took."""

import importlib.util
import os
import sys
import time
from importlib import import_module

from gpudoctor.profile import agent

NAME = "_gpudoctor_agent"  # as in the user's process
spec = importlib.util.spec_from_file_location(NAME, agent.__file__, submodule_search_locations=list(agent.__path__))
sys.modules[NAME] = importlib.util.module_from_spec(spec)
core, windows = (import_module(f"{NAME}.{each}") for each in ("core", "windows"))
profiler = windows.profiler
with open("/proc/self/stat", "rb") as file:
    start = file.read().rpartition(b")")[2].split()[19].decode()
core.begin(os.environ["GPUDOCTOR_SPOOL"], f"{os.getpid()}-{start}", {})
profiler.open = True
profiler.alarm.acquire()
profiler.lock.acquire()  # as a thread of ours does while it exports


def took(work):
    began = time.monotonic()
    work()
    return time.monotonic() - began


def fork():
    child = os.fork()
    if child == 0:
        os._exit(7 if profiler.open or profiler.lock.locked() else 0)
    assert os.waitpid(child, 0)[1] == 0


first, more = took(fork), took(lambda: [fork() for _ in range(8)])
print(f"{first:.2f} {more:.2f} {profiler.dropped} {profiler.alarm.locked()}", flush=True)
profiler.alarm.acquire(False)
ending = took(lambda: [each() for each in core.at_end])
print(f"{ending:.2f} {profiler.alarm.locked()}", flush=True)
