"""Settings as they are in force: of a model when it begins to run, of the process when its first loop runs.

Only plain attributes are read. Asking TensorFlow for its devices would initialise them, so that waits until a graph has run.
"""

from __future__ import annotations

import sys
import time
import weakref
from typing import Any

from . import core

_models: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_told: dict[str, Any] = {}
RECURRENT = ("LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional")
CUDNN_RNN = ("activation", "recurrent_activation", "recurrent_dropout", "unroll", "use_bias", "reset_after")
MOST_LAYERS = 400


def tell(subject: str, name: str, value: Any) -> None:
    """Record a setting, once for each value."""
    key = f"{subject}/{name}"
    if _told.get(key, _told) != value:
        _told[key] = value
        core.emit("settings", subject=subject, name=name, value=value, at=time.time())


def of_model(model: Any) -> str:
    """Record a model's settings and return the name under which they stand."""
    if model is None:
        return ""
    number = _models.get(model)
    if number is None:
        number = _models[model] = len(_models) + 1
    name = getattr(model, "name", "?")
    subject = f"model {number}: {name}"
    for read in (_run, _optimizer, _policy, _layers):
        try:
            read(subject, model)
        except Exception as error:
            core.note_fault("settings", error)
    return subject


def _run(subject: str, model: Any) -> None:
    for name in ("jit_compile", "run_eagerly", "steps_per_execution"):
        value = getattr(model, name, None)
        if value is None:
            value = getattr(model, "_" + name, None)
        if not isinstance(value, (bool, int, str, type(None))):
            value = int(value.numpy())  # Keras 2 keeps it in a variable
        tell(subject, name, value)
    tell(subject, "class", type(model).__name__)
    own = [each for each in ("train_step", "call") if not type(model).__module__.startswith(("keras.", "tf_keras."))]
    tell(subject, "subclassed", bool(own))
    tell(subject, "parameters", int(model.count_params()) if model.built else None)


def _optimizer(subject: str, model: Any) -> None:
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None:
        tell(subject, "optimizer", type(optimizer).__name__)
        tell(subject, "optimizer_jit", getattr(optimizer, "jit_compile", None))
        tell(subject, "loss_scale", "LossScale" in type(optimizer).__name__)
        inner = getattr(optimizer, "inner_optimizer", None)
        if inner is not None:
            tell(subject, "inner_optimizer", type(inner).__name__)


def _policy(subject: str, model: Any) -> None:
    tell(subject, "dtype_policy", getattr(getattr(model, "dtype_policy", None), "name", None))
    keras = sys.modules.get("keras") or sys.modules.get("tf_keras")
    config = getattr(keras, "config", None)
    if config is not None:
        tell("process", "dtype_policy", config.dtype_policy().name)
        tell("process", "floatx", config.floatx())
        tell("process", "keras_backend", config.backend())
    elif keras is not None:
        tell("process", "dtype_policy", keras.mixed_precision.global_policy().name)
        tell("process", "floatx", keras.backend.floatx())
    version = getattr(keras, "__version__", None)
    if version is not None:
        core.emit("processes", keras_version=str(version))


def _layers(subject: str, model: Any) -> None:
    layers: list[Any] = list(model._flatten_layers(include_self=False, recursive=True))[:MOST_LAYERS]
    tell(subject, "layers", len(layers))
    policies = {str(getattr(getattr(each, "dtype_policy", None), "name", "?")) for each in layers}
    tell(subject, "layer_policies", sorted(policies))
    for each in layers:
        name = type(each).__name__
        if name in RECURRENT:
            told = [f"{key}={_plain(getattr(each, key))}" for key in CUDNN_RNN if hasattr(each, key)]
            tell(subject, "recurrent: {} {}".format(name, getattr(each, "name", "?")), ", ".join(told))


def _plain(value: Any) -> str:
    return str(getattr(value, "__name__", value))


def of_process() -> None:
    """Record TensorFlow's own settings; only once a loop has run, when devices are initialised anyway."""
    context = sys.modules["tensorflow.python.eager.context"].context()
    if not getattr(context, "_initialized", False):
        return
    def_function = sys.modules.get("tensorflow.python.eager.polymorphic_function.eager_function_run")
    if def_function is not None:
        tell("process", "eager_functions", bool(def_function.functions_run_eagerly()))
    strategy = sys.modules["tensorflow.python.distribute.distribute_lib"].get_strategy()
    tell("process", "strategy", type(strategy).__name__)
    tell("process", "replicas", int(strategy.num_replicas_in_sync))
    tell("process", "gpus", len(list(context.list_logical_devices("GPU"))))
    tell("process", "intra_threads", int(context.intra_op_parallelism_threads))
    tell("process", "inter_threads", int(context.inter_op_parallelism_threads))
    tell("process", "xla_auto", str(context.optimizer_jit))
    if "process/debug_numerics" not in _told:
        tell("process", "debug_numerics", False)


def of_thread() -> None:
    """Record what is in force in the calling thread alone: whether each operation's numbers are checked."""
    check = sys.modules.get("tensorflow.python.debug.lib.check_numerics_callback")
    state = getattr(check, "_state", None)
    if getattr(state, "check_numerics_callback", None) is not None:
        tell("process", "debug_numerics", True)


core.after_fork.append(_told.clear)
