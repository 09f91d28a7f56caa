"""Say hello in the spool, and watch imports for the modules to hook; the agent itself is loaded with the first of them.

A hook runs right behind the module's own code, while the rest of TensorFlow may still be importing: it only replaces
attributes. `importlib.util` and `json` are avoided here, for every Python process of the command runs this file.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WATCHED = {
    "tensorflow.python.data.ops.dataset_autograph": "scan",
    "tensorflow.python.ops.gen_dataset_ops": "stamps",
    "tensorflow.python.data.ops.iterator_ops": "pipeline",
    "tensorflow.python.data.ops.dataset_ops": "call_sites",
    "tensorflow.python.data.ops.readers": "call_sites",
    "tensorflow.python.ops.script_ops": "call_sites",
    "tensorflow.python.eager.polymorphic_function.tracing_compilation": "traces",
    "tensorflow.python.eager.polymorphic_function.polymorphic_function": "training",
    "tensorflow.python.eager.polymorphic_function.concrete_function": "training",
    "tensorflow.python.eager.backprop": "training",
    "tensorflow.python.training.optimizer": "training",
    "keras.src.optimizers.base_optimizer": "training",
    "keras.src.optimizers.optimizer": "training",
    "keras.src.optimizers.legacy.optimizer_v2": "training",
    "tf_keras.src.optimizers.optimizer": "training",
    "tf_keras.src.optimizers.legacy.optimizer_v2": "training",
    "tensorflow.python.framework.ops": "syncs",
    "tensorflow.python.profiler.profiler_v2": "windows",
    "keras.src.callbacks.callback_list": "keras_hooks",
    "keras.src.callbacks": "keras_hooks",
    "tf_keras.src.callbacks": "keras_hooks",
    "keras.src.backend.tensorflow.trainer": "keras_hooks",
    "keras.src.engine.training": "keras_hooks",
    "tf_keras.src.engine.training": "keras_hooks",
    "tensorflow.python.util.deprecation": "hidden",
    "tensorflow.python.util.tf_stack": "op_stacks",
    "tensorflow": "imported",
}


class Waiting:
    """A finder that finds nothing itself; it puts a loader of ours around that of a watched module."""

    def __init__(self, spool: str, process: str) -> None:
        self.spool, self.process = spool, process
        self.begun: dict[str, float] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec that the other finders have, with our loader; None for anything that is not watched."""
        if name not in WATCHED:
            return None
        self.begun.setdefault(name, time.time())
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = Around(spec.loader, self)
                return spec
        return None

    def loaded(self, module: Any) -> None:
        """Have a module that has just run hooked."""
        if self.process != process_name():  # forked: the child is a process of its own
            self.process = process_name()
        agent(self).hook(WATCHED[module.__name__], module)


class Around:
    """Loads as the original loader does, takes itself away, and has the module hooked."""

    def __init__(self, loader: Any, waiting: Waiting) -> None:
        self._loader, self._waiting = loader, waiting

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        spec = module.__spec__
        spec.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        try:
            self._waiting.loaded(module)
        except Exception:
            pass


def agent(waiting: Waiting) -> Any:
    """Return the agent's core, loading it the first time."""
    core = sys.modules.get("_gpudoctor_agent.core")
    if core is None:
        from importlib import import_module
        from types import ModuleType

        package = ModuleType("_gpudoctor_agent")
        package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
        sys.modules["_gpudoctor_agent"] = package
        core = import_module("_gpudoctor_agent.core")
        core.begin(waiting.spool, waiting.process, waiting.begun)
    return core


def process_name() -> str:
    """Return pid and start time: a pid alone comes again."""
    try:
        with open("/proc/self/stat", "rb") as stream:
            start = stream.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError, ValueError):
        start = str(int(time.time() * 100))
    return f"{os.getpid()}-{start}"


def wait_for_tensorflow(spool: str) -> None:
    """Say hello and begin to watch."""
    process = process_name()
    sys.meta_path.insert(0, Waiting(spool, process))
    hello(spool, process)


def hello(spool: str, process: str) -> None:
    """Write the process's first line."""
    words = {
        "pid": str(os.getpid()),
        "ppid": str(os.getppid()),
        "started_at": f"{time.time():.3f}",
        "executable": quoted(sys.executable or ""),
        "python": quoted(".".join(str(part) for part in sys.version_info[:3])),
        "folder": quoted(os.getcwd()),
        "argv": "[{}]".format(",".join(quoted(each) for each in getattr(sys, "orig_argv", ()))),
    }
    line = '["processes",{{{}}}]\n'.format(",".join('"{}":{}'.format(*each) for each in words.items()))
    fd = os.open(
        os.path.join(spool, process + ".0.jsonl"), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600
    )
    try:
        os.write(fd, line.encode("utf-8", "replace"))
    finally:
        os.close(fd)


def quoted(text: str) -> str:
    """Return the text as JSON, without importing json."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"{}"'.format("".join(each if each >= " " else f"\\u{ord(each):04x}" for each in plain))
