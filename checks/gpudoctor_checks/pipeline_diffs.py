"""Small diffs of the user's own pipeline line: a map behind the batch, a cache in front of the repeat."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.sdk import Stage
from gpudoctor_checks.recorded import call_span, diff

LAMBDA = "lambda"


def function_of(stage: Stage) -> str:
    """Return the name of the function that does the work, f where it is not known; of a Sequence its class.

    That is what numpy_function or py_function calls back, where a mapped function does: it is Python that is to be rewritten.
    """
    owner, _, name = (stage.python_function or stage.callee).rpartition(".")
    return (owner if name.startswith("__") else name).strip("<>") or "f"


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
    mapped, batched = call_span(line, "map"), call_span(line, "batch")
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
        return f"# {name}: yours to write: {what} for each of a batch, np.stack() of the results"
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
    """Return the diff that caches right behind the stage; a repeat under it moves behind the cache, or it never fills."""
    line = stage.snippet
    under = next((each for each in below if "Repeat" in each.name), None)
    after = ".cache().repeat()" if under is not None else ".cache()"
    notes: list[str] = []
    if under is not None:
        notes.append(f"# the .repeat() of line {under.line} goes: a cache behind it never fills")
        start, end = call_span(line, "repeat")
        if end and under.line == stage.line:
            line = f"{line[: start - len('.repeat(')]}{line[end + 1 :]}"
    if any("Shuffle" in each.name for each in below):
        notes.append("# and .shuffle() moves behind it: what is cached keeps its order in every epoch")
    end = call_span(line, stage.method)[1] if stage.method else 0
    if end:
        return diff(stage.snippet, *notes, f"{line[: end + 1]}{after}{line[end + 1 :]}")
    method = f"the {stage.method}" if stage.method else "the end"
    return diff("", *notes, f"ds = ds{after}  # right behind {method} of line {stage.line}, before any .repeat()")
