"""`for batch in dataset` inside a `tf.function`: autograph makes a scan of it, in which no fetch exists to be stamped.

The wait is what lies between the end of one step and the start of the next, so the row also keeps the last end. Before the
loop it is set to now, or the pause between two epochs would count as wait.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from . import core, graphs, hidden, stamps
from .tables import Loop, tensorflow_module


def hook(module: Any) -> None:
    """Replace autograph's own scan."""
    original = getattr(module, "_general_purpose_scan", None)
    if original is None:
        return

    @functools.wraps(original)
    def scan(ds: Any, init_state: Any, body: Callable[..., Any]) -> Any:
        stamped = body
        try:
            if not core.process.off:
                stamped = _prepared(ds, body)
        except Exception as error:
            core.note_fault("scan", error)
        with hidden.unseen:
            return original(ds, init_state, stamped)

    module._general_purpose_scan = hidden.hide(scan, original)  # the place where autograph looks it up


def _prepared(ds: Any, body: Callable[..., Any]) -> Callable[..., Any]:
    graph = graphs.current()
    if graph is None or not graphs.from_outside(ds._variant_tensor, graph):
        return body
    loop = stamps.loop_of(graph, kind="scan")
    if loop is None:
        return body
    handle, row = stamps.handle_of(loop)
    now = stamps.clock()
    with stamps.on_host():
        stamps.add(handle, row, _stack(0.0, 0.0, 0.0, now - _last_end(handle, row)))

    @functools.wraps(body)  # as a function of TensorFlow's autograph calls it, not a copy with frames of its own
    def stamped(state: Any, inputs: Any) -> Any:
        begun = _begin(handle, row)
        if begun is None:
            with hidden.unseen:
                return body(state, inputs)
        with hidden.unseen, tensorflow_module("framework.ops").control_dependencies([begun.start, begun.last]):
            result = body(state, inputs)
        _finish(loop, handle, row, begun)
        return result

    return hidden.hide(stamped, body)


class Begun(NamedTuple):
    """A step's start: the operations that read the clock and the last end, and how many operations there were."""

    start: Any
    last: Any
    graph: Any
    known: int


def _begin(handle: Any, row: int) -> Begun | None:
    ops = tensorflow_module("framework.ops")
    try:
        graph, start = ops.get_default_graph(), stamps.clock()
        with ops.control_dependencies([start]), stamps.on_host():
            last = _last_end(handle, row)
        return Begun(start, last, graph, len(graph.get_operations()))
    except Exception as error:
        core.note_fault("scan", error)
        return None


def _finish(loop: Loop, handle: Any, row: int, begun: Begun) -> None:
    try:
        added = begun.graph.get_operations()[begun.known :]
        with tensorflow_module("framework.ops").control_dependencies(added):
            end = stamps.clock()
        with stamps.on_host():
            wait, ended = begun.start - begun.last, begun.start - loop.made_at
            stamps.add(handle, row, _stack(1.0, wait, ended, end - begun.last))
    except Exception as error:
        core.note_fault("scan", error)


def _last_end(handle: Any, row: int) -> Any:
    double = tensorflow_module("framework.dtypes").float64
    gather = tensorflow_module("ops.gen_resource_variable_ops").resource_gather
    return gather(handle, row, dtype=double)[3]


def _stack(*values: Any) -> Any:
    double, convert = (
        tensorflow_module("framework.dtypes").float64,
        tensorflow_module("framework.ops").convert_to_tensor,
    )
    return tensorflow_module("ops.gen_array_ops").pack([convert(each, dtype=double) for each in values])
