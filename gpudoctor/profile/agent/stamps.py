"""Count fetches of batches and the wait for them, inside graphs and outside.

Inside a graph the clock is read before and after the fetch, and both go into one row of a table per tracing: that is where
Keras waits for its input, and Python is not asked per step. The graph's random operations keep their seeds: they are counted
by themselves.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

from . import core, graphs, hidden, places, step_parts, training
from .tables import Loop, new_loop, slot_of, tables, tensorflow_module

NAMES = ("iterator_get_next", "iterator_get_next_sync", "iterator_get_next_as_optional")


def hook(module: Any) -> None:
    """Replace the fetching operations of `gen_dataset_ops`; all callers look them up late."""
    for name in NAMES:
        original = getattr(module, name, None)
        if original is not None:
            setattr(module, name, _stamped(original, optional=name.endswith("optional")))


def _stamped(original: Callable[..., Any], *, optional: bool) -> Callable[..., Any]:
    @functools.wraps(original)
    def fetch(*args: Any, **kwargs: Any) -> Any:
        if core.process.off:
            with hidden.unseen:
                return original(*args, **kwargs)
        stamp: GraphStamp | None = None
        eager = False
        try:
            eager = tensorflow_module("eager.context").executing_eagerly()
            if not eager:
                stamp = GraphStamp.begin(args[0] if args else kwargs["iterator"], optional=optional)
        except Exception as error:
            core.note_fault("stamps", error)
        if eager:
            begin = time.perf_counter()
            with hidden.unseen:
                fetched = original(*args, **kwargs)  # the end of the data raises, and is none
            _count(args[0] if args else kwargs.get("iterator"), fetched if optional else None, begin)
            return fetched
        if stamp is None:
            with hidden.unseen:
                return original(*args, **kwargs)
        with hidden.unseen, tensorflow_module("framework.ops").control_dependencies([stamp.start]):
            fetched = original(*args, **kwargs)
        try:
            return stamp.finish(fetched)
        except Exception as error:
            core.note_fault("stamps", error)
        return fetched

    return hidden.hide(fetch, original)


class GraphStamp:
    """One stamped fetch in a graph."""

    def __init__(self, loop: Loop, handle: Any, row: int, start: Any, *, optional: bool) -> None:
        self.loop, self.handle, self.row, self.start, self.optional = loop, handle, row, start, optional

    @classmethod
    def begin(cls, iterator: Any, *, optional: bool) -> GraphStamp | None:
        """Read the clock before the fetch; None where the graph is not one to stamp."""
        graph = graphs.current()
        if graph is None or not graphs.from_outside(iterator, graph):
            return None
        loop = loop_of(graph, kind="graph")
        return None if loop is None else cls(loop, *handle_of(loop), clock(), optional=optional)

    def finish(self, fetched: Any) -> Any:
        """Read the clock again behind the fetch, and add to the row; return the batch.

        What is returned comes behind the clock: else the step starts beside it, takes all cores, and its time counts as wait
        (measured: 0.8 ms too much at 5 ms steps compiled by XLA on two cores).
        """
        ops, gen_array_ops = tensorflow_module("framework.ops"), tensorflow_module("ops.gen_array_ops")
        tensors: Any = [*fetched] if isinstance(fetched, (list, tuple)) else [fetched]
        with ops.control_dependencies(tensors):
            end = clock()
        with on_host():
            count = _one(fetched if self.optional else None)
            wait = end - self.start
            add(
                self.handle,
                self.row,
                gen_array_ops.pack([count, wait * count, (end - self.loop.made_at) * count, count * 0.0]),
            )
        with ops.control_dependencies([end]):
            behind = [_same(each) for each in tensors]
        return behind if isinstance(fetched, (list, tuple)) else behind[0]


def _same(tensor: Any) -> Any:
    ops = tensorflow_module("framework.ops")
    with ops.colocate_with(tensor.op):
        return tensorflow_module("ops.gen_array_ops").identity(tensor)


def _one(optional: Any) -> Any:
    """Return 1.0, or for an optional whether it holds a batch: the end marker is none."""
    double = tensorflow_module("framework.dtypes").float64
    if optional is None:
        return tensorflow_module("framework.constant_op").constant(1.0, double)
    has_value = tensorflow_module("ops.gen_optional_ops").optional_has_value(optional)
    return tensorflow_module("ops.math_ops").cast(has_value, double)


def on_host() -> Any:
    """Return a scope in which operations stand on the host, colocated with nothing."""
    return _OnHost()


class _OnHost:
    def __enter__(self) -> None:
        ops = tensorflow_module("framework.ops")
        self._scopes = [ops.colocate_with(None, ignore_existing=True), ops.device("CPU:0")]
        for each in self._scopes:
            each.__enter__()

    def __exit__(self, *error: object) -> None:
        for each in reversed(self._scopes):
            each.__exit__(*error)


def clock() -> Any:
    """Return the operation that reads the clock."""
    with on_host():
        return tensorflow_module("ops.gen_logging_ops").timestamp()


def add(handle: Any, row: int, values: Any) -> Any:
    """Return the operation that adds to a row of a table."""
    return tensorflow_module("ops.gen_resource_variable_ops").resource_scatter_add(handle, row, values)


def handle_of(loop: Loop) -> tuple[Any, int]:
    """Return the table's eager handle (captured by the graph as an argument of the function) and the row."""
    with tensorflow_module("framework.ops").init_scope():
        return slot_of(loop)


def loop_of(graph: Any, *, kind: str) -> Loop | None:
    """Return a new row, labelled from the Python stack of the tracing; None for what is counted as a call."""
    name = graphs.outermost(graph)
    file, line, function, label, replicated = places.of_fetch(3)
    if label in places.CALLS:
        return None
    if label == "loop":
        training.fetches_inside()
    number, repeats = 0, graphs.repeats(graph)
    if replicated:
        key = (name, repeats, line)
        number = _replicas[key] = _replicas.get(key, -1) + 1
    return new_loop(
        in_graph=True,
        label=label,
        kind=kind,
        file=file,
        line=line,
        function=function,
        graph=name,
        replica=number,
        overlaps=kind == "graph" and repeats,
    )


_replicas: dict[Any, int] = {}


def _count(iterator: Any, optional: Any, begin: float) -> None:
    """Count a fetch outside graphs, unless it brought an end marker."""
    try:
        wait, now = time.perf_counter() - begin, time.time()
        if optional is None or bool(tensorflow_module("ops.gen_optional_ops").optional_has_value(optional)):
            loop = eager_loop(iterator)
            if loop is not None:
                if loop.label == "loop":
                    step_parts.fetched()
                loop.count += 1
                loop.wait = (loop.wait or 0.0) + wait
                loop.ends = (loop.ends or 0.0) + now - loop.made_at
    except Exception as error:
        core.note_fault("stamps", error)


def eager_loop(iterator: Any) -> Loop | None:
    """Return the row of the user's line that fetches; under a strategy each replica has its own. None: counted as a call."""
    file, line, function, label, replicated = key = places.of_fetch(3)
    if label in places.CALLS:
        return None
    place: Any = (key, str(getattr(iterator, "device", ""))) if replicated else key
    loop = tables.by_key.get(place)
    if loop is None:
        number = sum(1 for each in tables.by_key if each[0] == key)
        loop = new_loop(
            in_graph=False, label=label, kind="eager", file=file, line=line, function=function, replica=number
        )
        if loop is not None:
            tables.by_key[place] = loop
    return loop
