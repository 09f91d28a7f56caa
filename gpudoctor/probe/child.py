"""The probe's child process: trains under the target interpreter and tells each result as a JSON line on its own pipe.

Started by file path, so that the target needs no gpudoctor; its files beside it are reached as a package made by hand,
because their folder on `sys.path` could shadow a module of the user. stdout is not used: TensorFlow and a user's
sitecustomize print there. Python 3.8, standard library, TensorFlow and NumPy only.

    python child.py FD '{"trials": [["baseline", 60]], "cap_bytes": 0, "full": false, "several": false}'
"""

from __future__ import annotations

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
if __name__ == "__main__":
    sys.path[:] = [each for each in sys.path if os.path.abspath(each) not in {FOLDER, os.getcwd()}]

import contextlib  # noqa: E402  # only after the search path is safe
import ctypes  # noqa: E402
import faulthandler  # noqa: E402
import importlib  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import platform  # noqa: E402
import re  # noqa: E402
import signal  # noqa: E402
import time  # noqa: E402
import types  # noqa: E402
from typing import Any, Callable, Sequence, cast  # noqa: E402

if __name__ == "__main__":
    __package__ = "gpudoctor_probe_child"  # what PEP 366 is for
    sys.modules[__package__] = types.ModuleType(__package__)
    sys.modules[__package__].__path__ = [FOLDER]
    sys.dont_write_bytecode = True

from . import (  # noqa: E402
    child_compile,
    child_gradients,
    child_input,
    child_ladder,
    child_precision,
    child_replicas,
    child_training,
    child_transfer,
    fragmentation_child,
)
from .child_bench import Bench, Inconclusive, Json, Unsupported, first_line  # noqa: E402
from .child_shortage import is_shortage  # noqa: E402

sys.dont_write_bytecode = False

LIBRARY = re.compile(
    r"(lib(?:cuda|cudart|cudnn[a-z_]*|cublas(?:Lt)?|cufft|curand|cusolver|cusparse|nccl|nvrtc|nvJitLink|cupti|nvinfer)"
    r"\.so\.\d+)([.\d]*)$"
)
ERROR_LINE = re.compile(r"[A-Za-z_.]*(?:Error|Exception): .")
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
IMPORT_FAILED = 3


TRIALS: dict[str, Callable[[Bench], Json]] = {
    "baseline": child_training.baseline,
    "cpu": child_training.cpu,
    "gradcheck": child_gradients.gradcheck,
    "prefetch": child_input.prefetch,
    "map": child_input.map_,
    "precision": child_precision.precision,
    "numpy_loop": child_input.numpy_loop,
    "jit": child_compile.jit,
    "eager": child_compile.eager,
    "transfer": child_transfer.transfer,
    "fragmentation": fragmentation_child.fragmentation,
    "batch_ladder": child_ladder.batch_ladder,
    "replicas": child_replicas.replicas,
}


class Channel:
    """The pipe to the parent: one JSON object a line."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)  # a grandchild must not keep the pipe open
        self.descriptor = descriptor

    def send(self, kind: str, **members: Any) -> None:
        """Write one message; figures that JSON cannot hold (NaN, infinity) are left out."""
        line = json.dumps({"kind": kind, **_finite(members)}, allow_nan=False, default=str)
        data = (line + "\n").encode("ascii")
        while data:
            data = data[os.write(self.descriptor, data) :]


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        members = cast(Json, value)
        return {key: _finite(each) for key, each in members.items() if not _is_wild(each)}
    if isinstance(value, (list, tuple)):
        items = cast(Sequence[Any], value)
        return [_finite(each) for each in items if not _is_wild(each)]
    return value


def _is_wild(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def main(arguments: Sequence[str]) -> int:
    """Import TensorFlow, run the trials, tell everything; return the exit status."""
    channel = Channel(int(arguments[0]))
    spec = json.loads(arguments[1])
    _behave()
    channel.send("hello", pid=os.getpid(), python=platform.python_version())
    begun = time.monotonic()
    try:
        np, tf = importlib.import_module("numpy"), importlib.import_module("tensorflow")
    except Exception as error:  # noqa: BLE001  # whatever the import raises is the evidence
        channel.send("import_failed", error=_why(error), import_s=time.monotonic() - begun, absent=_is_absent(error))
        return IMPORT_FAILED
    told = {"tensorflow_version": str(tf.__version__), **_keras(tf)}
    channel.send("imported", import_s=time.monotonic() - begun, **told)
    channel.send("loaded", libraries=loaded())
    share: dict[str, str] = {"name": ""}
    bench = Bench(
        tf,
        np,
        cap_bytes=int(spec.get("cap_bytes", 0)),
        full=bool(spec.get("full")),
        several=bool(spec.get("several")),
        advance=lambda done: channel.send("advance", name=share["name"], share=done),
    )
    channel.send("devices", visible_gpus=bench.visible_gpus, device=bench.device, device_name=bench.device_name)
    channel.send("loaded", libraries=loaded())
    for name, limit_s in spec["trials"]:
        share["name"] = name
        run(channel, bench, name, float(limit_s))
    channel.send("done")
    return 0


def run(channel: Channel, bench: Bench, name: str, limit_s: float) -> None:
    """Run one trial; what it raises becomes its status."""
    channel.send("begin", name=name)
    begun = time.monotonic()
    bench.limit(limit_s)
    try:
        told = TRIALS[name](bench)
    except Unsupported as why:
        told = {"status": "unsupported", "reason": str(why)}
    except Inconclusive as why:
        told = {"status": "inconclusive", "reason": str(why), "device": bench.device}
    except Exception as error:  # noqa: BLE001  # a trial's fault is its result and must not end the others
        told = {"status": "oom" if is_shortage(error) else "crashed", "reason": first_line(error)}
    channel.send("trial", name=name, duration_s=time.monotonic() - begun, result=told)
    channel.send("loaded", libraries=loaded())


def _behave() -> None:
    """Die with the parent, leave no core file, and print the stack when a library crashes or the parent asks."""
    import resource  # noqa: PLC0415  # POSIX only: the module itself can be read anywhere

    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))


def _is_absent(error: Exception) -> bool:
    return isinstance(error, ModuleNotFoundError) and error.name in {"tensorflow", "numpy"}


def _why(error: Exception) -> str:
    """Return the telling line: TensorFlow wraps the loader's error into a traceback with advice below it."""
    told = [line.strip() for line in str(error).splitlines() if ERROR_LINE.match(line.strip())]
    return told[-1][:500] if told else first_line(error)


def _keras(tf: Any) -> Json:
    """Return Keras's version, or why it cannot be loaded: TensorFlow 2.16 and newer load it on first use."""
    try:
        return {"keras_version": str(tf.keras.__version__)}
    except Exception as error:  # noqa: BLE001  # as for TensorFlow's own import
        return {"keras_error": first_line(error)}


def loaded(maps: str = "/proc/self/maps") -> list[Json]:
    """Return the CUDA libraries that this process has mapped."""
    paths: dict[str, None] = {}
    with contextlib.suppress(OSError), open(maps, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            path = line[line.find("/") :].rstrip("\n") if "/" in line else ""
            if LIBRARY.search(path):
                paths[path] = None
    return [_library(path) for path in paths]


def _library(path: str) -> Json:
    name = LIBRARY.search(path)
    told: Json = {"path": path}
    if name:
        soname, number = name.group(1), name.group(0).partition(".so.")[2]
        if soname.startswith("libcuda.so."):
            soname = "libcuda.so.1"  # the driver's file carries the driver's number, not the soname's
        told["soname"] = soname
        told["version"] = _own_version(path, soname) or (number if name.group(2) else None)
    return told


def _own_version(path: str, soname: str) -> str | None:
    """Ask a library that is loaded already for its version; the numbering is each header's own."""
    with contextlib.suppress(OSError, AttributeError):
        if soname.startswith("libcudnn.so"):
            number = int(ctypes.CDLL(path).cudnnGetVersion())
            major = 10_000 if number >= 90_000 else 1000  # cuDNN 9 widened the field of the minor version
            return f"{number // major}.{number % major // 100}.{number % 100}"
        if soname.startswith("libcudart.so"):
            value = ctypes.c_int()
            if ctypes.CDLL(path).cudaRuntimeGetVersion(ctypes.byref(value)) == 0:
                return f"{value.value // 1000}.{value.value % 1000 // 10}"
    return None


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))  # TensorFlow's own teardown can hang or crash and would say nothing about training
