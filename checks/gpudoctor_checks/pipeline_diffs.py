"""Small diffs of the user's own pipeline line: a map behind the batch, a cache in front of the repeat."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.sdk import Stage
from gpudoctor_checks.recorded import call_span, diff

LAMBDA = "lambda"
MOVED = {"shuffle": "else each epoch has the order of the first", "repeat": "in front of it the cache never fills"}


def function_of(stage: Stage) -> str:
    """Return the name of the function that does the work, f where it is not known; of a Sequence its class.

    That is what numpy_function or py_function calls back, where a mapped function does: it is Python that is to be rewritten.
    """
    owner, _, name = (stage.python_function or stage.callee).rpartition(".")
    return (owner if name.startswith("__") else name).strip("<>") or "f"


def first_of(stage: Stage) -> str:
    """Return what the stage's call is given first, as it stands in the source: a name, or the word lambda."""
    return stage.callee.rpartition(".")[2].strip("<>")


def successor_of(stage: Stage, suffix: str) -> str:
    """Return a name for what replaces the mapped function; a lambda's is that of the function that it calls back."""
    name = stage.callee.rpartition(".")[2].strip("<>")
    named = function_of(stage) if name in {"", LAMBDA} or stage.python in {"generator", "sequence"} else name
    return f"{'f' if named == LAMBDA else named}_{suffix}"


def swapped(stage: Stage, *, whole: bool = True) -> str:
    """Return the diff with the map behind the batch: of the user's own line where both stand on it and no map between them.

    `whole`: its operations take a batch at once, as TensorFlow's do.
    """
    line, name = stage.snippet, successor_of(stage, "batch")
    mapped, batched = call_span(line, "map", first_of(stage)), call_span(line, "batch")
    call = f".map({name}{_more_arguments(line[mapped[0] : mapped[1]])})"
    if mapped[1] and batched[0] > mapped[1] and ".map(" not in line[mapped[1] : batched[0]]:
        head = line[: mapped[0] - len(".map(")]
        moved = f"{head}{line[mapped[1] + 1 : batched[1] + 1]}{call}{line[batched[1] + 1 :]}"
        return diff(line, _wanted(stage, name, whole=whole), moved)
    behind = "# the later .batch() goes; a map in between takes batches, too"
    return diff(line, _wanted(stage, name, whole=whole), behind, f"ds = ds.batch(batch_size){call}")


def _wanted(stage: Stage, name: str, *, whole: bool) -> str:
    """Say what the new function is."""
    what = function_of(stage)
    what = "the lambda" if what == LAMBDA else f"{what}()"
    if not whole:
        return f"# {name}: yours to write: {what} with NumPy on the whole batch (or one by one, and np.stack())"
    return f"# {name}: yours to write: {what} on a whole batch, whose shapes have one dimension more"


def _more_arguments(arguments: str) -> str:
    """Return what a call has behind its first argument, comma included."""
    depth = 0
    for at, each in enumerate(arguments):
        depth += (each in "([{") - (each in ")]}")
        if each == "," and not depth and not arguments[:at].lstrip().startswith(LAMBDA):
            return arguments[at:]
        if each == "=" and not depth and arguments[at - 1].isidentifier() and "," in arguments[:at]:
            return arguments[arguments.rindex(",", 0, at) :]
    return ""


def cached(stage: Stage, below: Sequence[Stage]) -> str:
    """Return the diff that caches right behind the stage; what lies under it and must not be kept moves behind the cache.

    A shuffle, or every epoch would have the order of the first; a repeat, or the cache would never fill.
    """
    line, moved, notes = stage.snippet, "", list[str]()
    for method, why in MOVED.items():
        under = next((each for each in below if method.capitalize() in each.name), None)
        if under is None:
            continue
        line, call = _taken_out(line, method) if under.line == stage.line else (line, "")
        moved += call or f".{method}({'buffer_size' if method == 'shuffle' else ''})"
        notes.append(f"# the .{method}() of line {under.line} moves behind the cache: {why}")
    end = call_span(line, stage.method, first_of(stage))[1] if stage.method else 0
    if end:
        return diff(stage.snippet, *notes, f"{line[: end + 1]}.cache(){moved}{line[end + 1 :]}")
    method = f"the {stage.method}" if stage.method else "the end"
    return diff(
        "", *notes, f"ds = ds.cache(){moved}  # right behind {method} of line {stage.line}, before any .repeat()"
    )


def _taken_out(line: str, method: str) -> tuple[str, str]:
    """Return a line without the call of a method, and the call; "" where it does not end on the line."""
    start, end = call_span(line, method)
    if not end:
        return line, ""
    begin = start - len(f".{method}(")
    return f"{line[:begin]}{line[end + 1 :]}", line[begin : end + 1]
