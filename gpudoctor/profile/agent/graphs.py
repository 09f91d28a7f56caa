"""What the graph under construction is: one to stamp or not, and which function of the user's it belongs to."""

from __future__ import annotations

import weakref
from typing import Any

from .tables import tensorflow_module

_numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_last = [0]
# In names of operations, those of tf.random.stateless_* included; Sample: a distorted bounding box, candidates of classes
RANDOM = ("Random", "Normal", "Uniform", "Multinomial", "Shuffle", "Sample")
CALLS_PYTHON = frozenset(["PyFunc", "PyFuncStateless", "EagerPyFunc"])
MOST_NESTED = 50


def current() -> Any | None:
    """Return the FuncGraph under construction; None in eager mode, in a TF1 graph, and where it will not run eagerly."""
    context = tensorflow_module("eager.context")
    if context.executing_eagerly():
        return None
    ops, func_graph = tensorflow_module("framework.ops"), tensorflow_module("framework.func_graph")
    graph = ops.get_default_graph()
    if not isinstance(graph, func_graph.FuncGraph):
        return None
    return graph if ops.executing_eagerly_outside_functions() else None


def from_outside(tensor: Any, graph: Any) -> bool:
    """Return whether an iterator or dataset comes from outside all functions: as argument, or captured.

    One that is made inside a function may be exported with it, and our handle must not be.
    """
    func_graph = tensorflow_module("framework.func_graph")
    for _ in range(MOST_NESTED):
        if hasattr(tensor, "numpy"):  # an eager tensor
            return True
        if tensor.op.type != "Placeholder":
            return False
        if tensor.graph is not graph and isinstance(tensor.graph, func_graph.FuncGraph):
            graph = tensor.graph
        outer = next((external for external, internal in graph.captures if internal is tensor), None)
        if outer is None:  # an argument: of the outermost function it comes from the caller
            return not isinstance(getattr(graph, "outer_graph", None), func_graph.FuncGraph)
        tensor, graph = outer, graph.outer_graph
    return False


def repeats(graph: Any) -> bool:
    """Return whether this graph stands in a loop inside a function: its next round's fetch then runs beside this one's step."""
    loops, func_graph = tensorflow_module("ops.control_flow_v2_func_graphs"), tensorflow_module("framework.func_graph")
    while isinstance(graph, func_graph.FuncGraph):
        if isinstance(graph, loops.WhileBodyFuncGraph):
            return True
        graph = getattr(graph, "outer_graph", None)
    return False


def outermost(graph: Any) -> str:
    """Return the name of the function that the user's call is traced into."""
    func_graph = tensorflow_module("framework.func_graph")
    while isinstance(getattr(graph, "outer_graph", None), func_graph.FuncGraph):
        graph = graph.outer_graph
    number = _numbers.get(graph)
    if number is None:
        _last[0] += 1
        number = _numbers[graph] = _last[0]
    return f"{graph.name}:{number}"


def _mapped(dataset: Any) -> Any | None:
    """Return the graph of a map's function; None where it is not there to be read."""
    return getattr(getattr(getattr(dataset, "_map_func", None), "function", None), "graph", None)


def draws_random(dataset: Any) -> bool | None:
    """Return whether the function of a map draws random numbers; None where it calls Python, or is not known."""
    graph = _mapped(dataset)
    if graph is None:
        return None
    types, unknown = {each.type for each in graph.get_operations()}, False
    for each in getattr(graph, "_functions", {}).values():  # bodies of conditions and loops
        definition = getattr(each, "cached_definition", None)
        unknown = unknown or definition is None
        types.update(node.op for node in getattr(definition, "node_def", ()))
    if any(word in each for each in types for word in RANDOM):
        return True
    return None if unknown or types & CALLS_PYTHON else False


def does_nothing(dataset: Any) -> bool:
    """Return whether the function of a map gives back what it is given, in order: tf.data takes such a map out."""
    graph = _mapped(dataset)
    if graph is None or len(graph.outputs) != len(graph.inputs):
        return False
    return all(_behind_identities(result) is given for given, result in zip(graph.inputs, graph.outputs))


def _behind_identities(tensor: Any) -> Any:
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor
