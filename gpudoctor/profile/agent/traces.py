"""Tracings of Python functions into graphs: how long, called from where, and what differs from the last time."""

from __future__ import annotations

import functools
import threading
import time
from typing import Any

from . import core, hidden, places

MOST_TRACES = 2000
MOST_TEXT = 400
_local = threading.local()
_seen: dict[tuple[str, str, int], tuple[dict[str, str], int]] = {}
_count = [0]


def hook(module: Any) -> None:
    """Replace the one function that makes a graph."""
    original = getattr(module, "_create_concrete_function", None)
    if original is None:
        core.emit("events", at=time.time(), kind="agent_limit", text="tracings are not seen: unknown TensorFlow")
        return

    @functools.wraps(original)
    def create(function_type: Any, type_context: Any, func_graph: Any, tracing_options: Any) -> Any:
        depth = getattr(_local, "depth", 0)
        _local.depth = depth + 1
        core.process.tracing += 1
        graphs = _length(tracing_options)
        start = time.perf_counter()
        try:
            with hidden.unseen:
                return original(function_type, type_context, func_graph, tracing_options)
        finally:
            _local.depth = depth
            core.process.tracing -= 1
            try:
                if not core.process.off and _count[0] < MOST_TRACES:
                    _tell(function_type, tracing_options, graphs, time.perf_counter() - start, nested=depth > 0)
            except Exception as error:
                core.note_fault("traces", error)

    module._create_concrete_function = hidden.hide(create, original)  # looked up late by its only caller


def _length(tracing_options: Any) -> int:
    try:
        return len(tracing_options.function_cache)
    except Exception:
        return 0


def _tell(function_type: Any, tracing_options: Any, graphs: int, seconds: float, *, nested: bool) -> None:
    _count[0] += 1
    name = str(tracing_options.name)
    defined_name, defined_file, defined_line = places.of_function(tracing_options.python_function)
    file, line, _, _ = places.here(2)
    types = {key: str(each.type_constraint) for key, each in function_type.parameters.items()}
    key = (name, defined_file, defined_line)
    reason = _reason(_seen.get(key), types, graphs)
    _seen[key] = (types, graphs)
    core.emit(
        "traces",
        at=time.time(),
        name=name or defined_name,
        kind="dataset" if name.startswith("Dataset_") else "function",
        file=file,
        line=line,
        defined_file=defined_file,
        defined_line=defined_line,
        duration_s=seconds,
        signature=str(function_type)[:MOST_TEXT],
        reason=reason[:MOST_TEXT],
        graphs=graphs,
        nested=nested,
    )


def _reason(last: Any, types: dict[str, str], graphs: int) -> str:
    if last is None:
        return "first"
    before, _ = last
    changed = [
        "{}: {} -> {}".format(name, before.get(name, "absent"), types.get(name, "absent"))
        for name in dict.fromkeys((*before, *types))
        if before.get(name) != types.get(name)
    ]
    if graphs == 0:
        return "rebuilt" + ("; " + "; ".join(changed) if changed else "")
    return "; ".join(changed) or "same types: a captured value or the scope differs"
