"""Let C code write to stderr while the agent has it turned aside, and then: `crash`, `fork`, `unread` or `end`."""

import ctypes
import fcntl
import importlib.util
import os
import signal
import sys
import time
from importlib import import_module

from gpudoctor.profile import agent

NAME = "_gpudoctor_agent"  # as in the user's process
spec = importlib.util.spec_from_file_location(NAME, agent.__file__, submodule_search_locations=list(agent.__path__))
sys.modules[NAME] = importlib.util.module_from_spec(spec)
core, unheard, windows = (import_module(f"{NAME}.{each}") for each in ("core", "unheard", "windows"))
library = ctypes.CDLL(None)
stream = ctypes.c_void_p.in_dll(library, "stderr")


def say(text):
    library.fputs(text.encode() + b"\n", stream)


def die():
    signal.signal(signal.SIGABRT, signal.SIG_DFL)
    os.abort()


what = sys.argv[1]
with open("/proc/self/stat", "rb") as file:
    start = file.read().rpartition(b")")[2].split()[19].decode()
core.begin(os.environ["GPUDOCTOR_SPOOL"], f"{os.getpid()}-{start}", {})
assert windows.profiler.session is None
with unheard.aside():
    say("2025-03-01 10:00:00.000000: I tensorflow/tsl/profiler/lib/profiler_session.cc:104] Profiler session started.")
    say("said before")
say("said between")
if what == "unread":
    fcntl.fcntl(2, fcntl.F_SETFL, fcntl.fcntl(2, fcntl.F_GETFL) | os.O_NONBLOCK)
with unheard.aside():
    say(
        "2025-03-01 10:00:00.000000: I tensorflow/tsl/profiler/lib/profiler_session.cc:131] Profiler session tear down."
    )
    if what == "crash":
        say("2025-03-01 10:00:00.000000: F external/xla/cupti_tracer.cc:9] Check failed: the last word")
        die()
    if what == "fork":
        child = os.fork()
        if child == 0:
            say("said by the child")
            os._exit(0)
        os.waitpid(child, 0)
    for each in range(20_000 if what == "unread" else 3):
        say(f"line {each}")
say("said behind")
