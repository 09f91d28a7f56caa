"""The counters of all loops: a resource in TensorFlow for stamps inside graphs, Python lists for those outside.

A `tf.Variable` would be shorter. It would be tracked by Keras, placed by strategies, saved with models, and, made while
TensorFlow is imported, it would initialise the devices before the user's own configuration calls: so raw operations, made
at the first stamp, held by their eager handle alone.
"""

from __future__ import annotations

import _thread
import sys
import time
from typing import Any, Optional, Tuple

from . import core, settings

ROWS, COLUMNS = 256, 4  # count, wait, sum of ends, last end (scan)
MOST_LOOPS = 4096
PARTS = ("function", "gradient", "update")  # kinds of rows that count parts of a step: of one loop there may be several

Sums = Tuple[int, Optional[float], Optional[float], Optional[float]]  # count, wait, ends, inside


def tensorflow_module(name: str) -> Any:
    """Return a module of TensorFlow's that has been loaded long since."""
    return sys.modules["tensorflow.python." + name]


def loaded(name: str) -> Any | None:
    """Return a module of TensorFlow's, or None where it is not loaded."""
    return sys.modules.get("tensorflow.python." + name)


class Loop:
    """One row. Outside graphs the sums live here; inside, in row `number` of the tables."""

    __slots__ = ("count", "ends", "in_graph", "inside", "kind", "label", "made_at", "number", "seen", "wait")

    def __init__(self, number: int, *, in_graph: bool, label: str = "", kind: str = "") -> None:
        self.number, self.in_graph, self.made_at = number, in_graph, time.time()
        self.label, self.kind = label, kind
        self.count = 0
        self.wait: float | None = 0.0
        self.ends: float | None = 0.0
        self.inside: float | None = None
        self.seen = -1


class Tables:
    """All loops of this process."""

    def __init__(self) -> None:
        self.lock = _thread.allocate_lock()
        self.loops: list[Loop] = []
        self.handles: list[Any] = []
        self.slots: list[Loop] = []
        self.by_key: dict[Any, Loop] = {}
        self.threads: set[int] = set()  # which run loops: those of traced functions run where they were traced


tables = Tables()


def new_loop(*, in_graph: bool, label: str, kind: str, **values: Any) -> Loop | None:
    """Add a loop and tell it; None when there are too many."""
    with tables.lock:
        if len(tables.loops) >= MOST_LOOPS:
            return None
        loop = Loop(len(tables.loops), in_graph=in_graph, label=label, kind=kind)
        tables.loops.append(loop)
        tables.threads.add(_thread.get_ident())
    core.quietly(settings.of_thread)
    core.emit("loops", loop=loop.number, made_at=loop.made_at, label=label, kind=kind, **values)
    core.ensure_beating()
    return loop


def steps_of(label: str) -> int:
    """Return the steps of all loops of a label; of the parts of steps the one that is called most often stands for all."""
    rows = [each for each in list(tables.loops) if each.label == label]
    most = max((each.count for each in rows if each.kind in PARTS), default=0)
    return most + sum(each.count for each in rows if each.kind not in PARTS)


def slot_of(loop: Loop) -> tuple[Any, int]:
    """Return the eager handle of a table and the row in it. To be called inside `init_scope` with eager execution."""
    with tables.lock:
        place = len(tables.slots)
        tables.slots.append(loop)
    if place // ROWS >= len(tables.handles):
        tables.handles.append(_new_table(place // ROWS))
    return tables.handles[place // ROWS], place % ROWS


def _new_table(number: int) -> Any:
    dtypes, constant_op = tensorflow_module("framework.dtypes"), tensorflow_module("framework.constant_op")
    gen, ops = tensorflow_module("ops.gen_resource_variable_ops"), tensorflow_module("framework.ops")
    with ops.device("CPU:0"):
        handle = gen.var_handle_op(
            dtype=dtypes.float64,
            shape=[ROWS, COLUMNS],
            shared_name=f"gpudoctor_stamps_{core.process.name}_{number}",
        )
        gen.assign_variable_op(handle, constant_op.constant([[0.0] * COLUMNS] * ROWS, dtype=dtypes.float64))
    return handle


def tell() -> None:
    """Queue the sums of all loops that moved."""
    at, rows = time.time(), _rows()
    for place, loop in enumerate(list(tables.slots)):
        if place < len(rows):
            loop.count, loop.wait, loop.ends = round(rows[place][0]), rows[place][1], rows[place][2]
    for loop in list(tables.loops):
        count = loop.count
        if count != loop.seen:
            loop.seen = count
            core.emit(
                "steps",
                loop=loop.number,
                at=at,
                count=count,
                wait_s=loop.wait,
                end_sum_s=loop.ends,
                inside_s=loop.inside,
            )


def _rows() -> list[list[float]]:
    if not tables.handles:
        return []
    gen, ops = tensorflow_module("ops.gen_resource_variable_ops"), tensorflow_module("framework.ops")
    double = tensorflow_module("framework.dtypes").float64
    with ops.init_scope(), ops.device("CPU:0"):
        return [row for handle in tables.handles for row in gen.read_variable_op(handle, double).numpy().tolist()]


def _forget() -> None:
    tables.__dict__.update(Tables().__dict__)


core.every_beat.insert(0, tell)
core.after_fork.append(_forget)
