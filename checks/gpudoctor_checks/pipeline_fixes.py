"""The changes of an input pipeline that apply to a run, as small diffs of the user's own lines, each with its estimate.

Two checks see the same pipeline (who waits, and whose function makes it wait); the fix of one trouble has one id.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.sdk import Change, Fix, Pipeline, Stage
from gpudoctor_checks.pipeline_diffs import cached, first_of, function_of, successor_of, swapped
from gpudoctor_checks.recorded import bound, diff, estimate, with_argument, with_call

AUTOTUNE = "num_parallel_calls=tf.data.AUTOTUNE"
WORKERS = {
    "worker_threads": ("Worker threads", "workers=os.cpu_count()"),
    "worker_processes": ("Worker processes", "workers=os.cpu_count(), use_multiprocessing=True"),
}
COLUMN = 42  # what a fix's title may take in the report


def pipeline_fixes(pipeline: Pipeline | None, *kinds: str) -> tuple[Fix, ...]:
    """Return the fixes of all changes, or of those kinds, in the order of the changes."""
    chosen = [each for each in pipeline.changes if each.stage >= 0] if pipeline is not None else []
    return tuple(
        _fix(each, pipeline.stages[each.stage], pipeline.stages[each.stage + 1 :])
        for each in chosen
        if pipeline is not None and (not kinds or each.kind in kinds)
    )


def faster_input(share: float, code: str, basis: str) -> Fix:
    """Return the fix of an input for which no change of its stages is known; `share`: of a step, that goes at most."""
    return Fix(
        id="faster-input",
        title="Make the input faster, or do it beforehand",
        action="manual",
        text=f"# what it does for each batch: less of it, or once before the training\ngpudoctor explain {code}",
        gain=bound(share, basis),
        effort_minutes=60,
    )


def _fix(change: Change, stage: Stage, below: Sequence[Stage]) -> Fix:
    title, text, minutes = _words(change.kind, stage, below)
    where = f" :{stage.line}" if stage.line else ""
    return Fix(
        id=f"pipeline-{change.kind.replace('_', '-')}",
        title=title + where if len(title) + len(where) <= COLUMN else title[:COLUMN],
        action="diff",
        text=text,
        gain=estimate(change.low, change.high, change.basis),
        risk="medium" if change.kind == "cache" else "low",
        effort_minutes=minutes,
    )


def _words(kind: str, stage: Stage, below: Sequence[Stage]) -> tuple[str, str, float]:
    """Return title, diff and minutes."""
    name = function_of(stage)
    if kind == "tf_ops":
        whose = "Keras's generator" if stage.made_by == "library" else f"{name[:16]}()"
        return f"{whose} in TF ops, parallel map", _in_tf_ops(name, stage), 60.0
    if kind == "batch_first":
        return "Batch first, map whole batches", swapped(stage), 10.0
    if kind == "parallel_map":
        method = (
            stage.method if stage.method == "interleave" else "map"
        )  # what it opens runs side by side, maps in it too
        parallel = with_argument(stage.snippet, method, AUTOTUNE, first_of(stage))
        title = "Parallel map" if method == "map" else "Parallel interleave"
        return title, diff(stage.snippet, parallel or f"ds = ds.{method}({name}, {AUTOTUNE})"), 2.0
    if kind in WORKERS:
        return WORKERS[kind][0], _workers(name, stage, WORKERS[kind][1]), 5.0
    if kind == "parallel_reads":
        reads = f"ds = files.interleave(tf.data.TFRecordDataset, {AUTOTUNE})"
        return "Read several files side by side", diff(stage.snippet, reads), 15.0
    if kind == "prefetch":
        return "Prefetch as the last step", diff("", "ds = ds.prefetch(tf.data.AUTOTUNE)"), 1.0
    title = "cache(): nothing in it is random" if stage.random is False else "cache(), if nothing in it is random"
    return title, cached(stage, below), 2.0


def _workers(name: str, stage: Stage, asked: str) -> str:
    """Return the diff that asks for workers where that Keras takes it."""
    if stage.method == "Sequence":  # Keras 2: of fit
        return diff(stage.snippet, with_argument(stage.snippet, "fit", asked) or f"model.fit(..., {asked})")
    if stage.made_by == "user":
        return f"  # in {name}.__init__(), beside what it passes on already:\n+ super().__init__({asked})"
    return diff("", *(f"data.{each}  # of what fit is given" for each in asked.replace("=", " = ").split(", ")))


def _in_tf_ops(name: str, stage: Stage) -> str:
    """Return the diff for a function that has to be written anew, and say so: a name that is nowhere is no fix."""
    if stage.python in {"generator", "sequence"}:
        # Keras's item is a batch; a generator's, where one is fetched for each (the last readings may lie one apart)
        each_once = stage.elements > 0 and round(stage.visits) <= 1  # not where no figures are known
        whole = ".batch(batch_size)" if stage.python == "sequence" or each_once else ""
        return diff(
            "" if whole else stage.snippet,
            "# items, load_tf: yours to write: what it reads one by one, and one of it with tf.* ops",
            f"ds = tf.data.Dataset.from_tensor_slices(items).map(load_tf, {AUTOTUNE}){whole}",
            *([f"# ds in place of {name}() in line {stage.line}"] if whole else []),
        )
    where = f" (:{stage.callee_line})" if stage.callee_line else ""
    new = successor_of(stage, "tf")
    call = with_call(stage.snippet, "map", f"{new}, {AUTOTUNE}", first_of(stage)) or f"ds = ds.map({new}, {AUTOTUNE})"
    if stage.method in {"interleave", "flat_map"}:  # what it is given makes data sets: only the Python in it goes
        call = with_argument(stage.snippet, "interleave", AUTOTUNE) or stage.snippet
    return diff(stage.snippet, f"# {new}: yours to write: {name}(){where} with tf.* ops", call)
