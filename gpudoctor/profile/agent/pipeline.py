"""tf.data's own model of each running iterator: nodes, cost, buffers, what is tuned. Read every few beats and at borders.

Only weak references are kept: an iterator of the user's, with its buffers, must be gone when the user lets go of it.
"""

from __future__ import annotations

import functools
import sys
import time
import weakref
from typing import Any

from . import call_sites, core, hidden, places
from .tables import tensorflow_module

MOST_ITERATORS = 500
POLL_EVERY_BEATS = 2  # a poll costs 0.12-0.25 ms (measured)
AUTOTUNE_OFF = "NotFoundError"  # Keras switches it off for PyDataset with workers
TOO_OLD = "before TensorFlow 2.18 only a profiler window tells, and none shows it"


class TooOldError(Exception):
    """TensorFlow has no get_model_proto here; 2.18 has."""


class Watched:
    """One iterator."""

    __slots__ = ("nodes", "number", "reference", "silent")

    def __init__(self, number: int, reference: Any) -> None:
        self.number, self.reference, self.silent = number, reference, False
        self.nodes: frozenset[int] = frozenset()  # of the last reading that was told


class Iterators:
    """All iterators of this process."""

    def __init__(self) -> None:
        self.watched: list[Watched] = []
        self.count = self.beats = 0


iterators = Iterators()


def hook(module: Any) -> None:
    """Replace the constructor of eager iterators."""
    kind = module.OwnedIterator
    original = kind.__init__

    @functools.wraps(original)
    def construct(self: Any, *args: Any, **kwargs: Any) -> None:
        with hidden.unseen:
            original(self, *args, **kwargs)
        try:
            if not core.process.off and tensorflow_module("eager.context").executing_eagerly():
                _watch(self, args[0] if args else kwargs.get("dataset"))
        except Exception as error:
            core.note_fault("pipeline", error)

    kind.__init__ = hidden.hide(construct, original)


def _watch(iterator: Any, dataset: Any) -> None:
    if iterators.count >= MOST_ITERATORS:
        return
    iterators.count += 1
    file, line, _, label = places.here(2)
    sites = call_sites.sites_of(dataset) if dataset is not None else []
    core.emit(
        "iterators",
        iterator=iterators.count,
        at=time.time(),
        label=label,
        file=file,
        line=line,
        site=sites[0] if sites else None,
    )
    iterators.watched.append(Watched(iterators.count, weakref.ref(iterator)))
    core.ensure_beating()


def _beat() -> None:
    iterators.beats += 1
    if iterators.beats % POLL_EVERY_BEATS == 0:
        poll()


def poll() -> None:
    """Read the model of every iterator that lives."""
    read = _reader()
    for watched in list(iterators.watched):
        iterator = watched.reference()
        if iterator is None or watched.silent:
            iterators.watched.remove(watched)
            continue
        try:
            tell_whole(watched, read(iterator))
        except Exception as error:
            _note(watched, error)
        del iterator


def _reader() -> Any:
    module = sys.modules.get("tensorflow.python.data.experimental.ops.iterator_model_ops")
    return getattr(module, "get_model_proto", _too_old)


def _too_old(_: Any) -> Any:
    raise TooOldError


def _note(watched: Watched, error: Exception) -> None:
    watched.silent = True
    autotune = type(error).__name__ == AUTOTUNE_OFF
    why = "autotune is off for this iterator" if autotune else f"{type(error).__name__}: {str(error)[:200]}"
    why = TOO_OLD if isinstance(error, TooOldError) else why
    core.emit("iterators", iterator=watched.number, unknown=why)


def tell_whole(watched: Watched, model: Any) -> None:
    """Tell the model, unless its input has ended meanwhile and taken nodes along: counts of two moments give no ratio."""
    nodes = frozenset(int(key) for key in model.nodes)
    if not nodes < watched.nodes:
        watched.nodes = nodes
        _tell(watched.number, model)


def _tell(number: int, model: Any) -> None:
    parents: dict[int, int] = {}
    for key, node in model.nodes.items():
        for each in node.inputs:
            parents[int(each)] = int(key)
    now = time.time()
    for key, node in model.nodes.items():
        if node.num_elements or int(key) not in parents:
            core.emit(
                "pipeline_nodes",
                iterator=number,
                node=int(key),
                at=now,
                name=str(node.name),
                parent=parents.get(int(key), -1),
                num_elements=int(node.num_elements),
                processing_s=node.processing_time / 1e9,
                buffered_elements=int(node.buffered_elements),
                buffered_bytes=int(node.buffered_bytes),
                bytes_produced=int(node.bytes_produced),
                parameters={each.name: [float(each.value), bool(each.tunable)] for each in node.parameters},
            )


core.every_beat.append(_beat)
core.before_end.append(poll)
core.after_fork.append(lambda: iterators.__dict__.update(Iterators().__dict__))
