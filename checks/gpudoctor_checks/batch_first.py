"""What it costs to call Python once for each example, and what one call, or one yield, for each batch would leave of it.

A call from tf.data into Python, a map's or for a generator's next item, costs more than a small function's own lines:
arguments become arrays, a thread waits for the interpreter's lock, the result becomes a tensor. How much of a call is its own
lines is measured in the run (sampled stacks against tf.data's own clock); the rest is paid once for each call.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpudoctor.sdk import Evidence, Fix, HotLines, Missing, Pipeline, Stage, StepTimes, shared_cores
from gpudoctor_checks.pipeline_diffs import function_of, swapped
from gpudoctor_checks.pipeline_fixes import COLUMN
from gpudoctor_checks.recorded import call_span, diff, estimate, known_share, with_call

OWN_AT_MOST = 0.5  # policy: what is most of a call names its cause
# Measured: of 15 ms that 64 calls of a map took beside their lines 10 to 12 went with one call for all; of a generator's 12 all.
SAVED_AT_LEAST = 0.5
# Measured: where the calls and the step share two cores, part of what a call takes is waiting for one: 1.3 times came, where
# half would have made 1.4.
SAVED_BESIDE_WORK = 0.33
UNEVEN = frozenset({"padded_batch", "ragged_batch", "bucket_by_sequence_length"})
WORTH = 1.05  # policy, as for the other changes of a pipeline: a best case below it is not shown
# Measured: one operation of TensorFlow's on 64 numbers in a py_function, 70 us a call alone, 60 to 125 beside other calls
DISPATCH_S = 150e-6
UNSEEN_S = 0.001  # policy: a longer call that no sample of stacks saw was not seen; it need not do nothing
WORK = ("numpy", "python", "other", "io", "wait")  # the activities of the user's own lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """The calls of one function, or generator, of Python: how many for a batch, how long each, and how long its own lines.

    `abreast`: how many of them are under way at a time.
    """

    count: int
    call_s: float
    own_s: float
    items: bool = False  # of a generator
    abreast: float = 1.0
    eager: bool = False  # its lines ask TensorFlow, operation by operation

    @property
    def paid_s(self) -> float:
        """Return what a batch pays beside the function's own lines."""
        return max(0.0, self.call_s - self.own_s) * self.count / self.abreast

    @property
    def dear(self) -> bool:
        """Return whether the calls cost more than what they do."""
        return self.count > 1 and self.own_s < OWN_AT_MOST * self.call_s


def calls_of(pipeline: Pipeline, lines: HotLines, steps: StepTimes) -> Calls | None:
    """Return the calls of the slowest stage's function; None where a batch's time or its own lines are not known.

    None, too, where batches are padded: examples of many shapes do not go into one call, or one array.
    """
    stage = pipeline.slowest
    if any(each.method in UNEVEN or each.name.startswith("PaddedBatch") for each in pipeline.stages):
        return None
    if stage is None or isinstance(pipeline.bottleneck, Missing) or isinstance(steps.step_s, Missing):
        return None
    if stage.python == "python function" and stage.method in {"interleave", "flat_map"}:
        return None  # an interleave calls it for each data set, not for each example
    after = pipeline.stages[pipeline.bottleneck + 1 : pipeline.bottleneck + 2]
    fused = stage.name.startswith("MapAndBatch")  # one element of it is a batch, with a call for each that comes in
    count = round(after[0].visits if fused and after else stage.visits)
    if count < 1 or stage.batch_s <= 0 or lines.sampled_s <= 0:
        return None
    whole_s = stage.batch_s * stage.parallelism  # of all calls that run side by side
    own_s = min(_own_s(lines, steps.step_s, count), whole_s)
    if not own_s and whole_s > UNSEEN_S * count:
        return None
    return Calls(
        count=count,
        call_s=whole_s / count,
        own_s=own_s / count,
        items=stage.python == "generator",
        abreast=stage.parallelism,
        eager=lines.total("pipeline", "tensorflow") > lines.total("pipeline", *WORK),
    )


def _own_s(lines: HotLines, step_s: float, count: int) -> float:
    """Return the time of a batch's own lines: an operation that Python asks TensorFlow for costs its asking, once a call."""
    asked = lines.total("pipeline", "tensorflow") * step_s
    return lines.total("pipeline", *WORK) * step_s + max(0.0, asked - DISPATCH_S * count)


def evidence(calls: Calls) -> Evidence:
    """Return what a call takes and how much of it is its own lines."""
    words = f"{calls.call_s * 1e6:.0f} us each, {calls.own_s * 1e6:.0f} us of them in its own lines"
    return Evidence(
        label=f"{calls.count} {'items' if calls.items else 'calls'} a batch",
        value=words,
        source="tf.data's model, sampled stacks",
    )


def batch_first(stage: Stage, calls: Calls, steps: StepTimes) -> tuple[Fix, ...]:
    """Return the fix that calls once for each batch, where its best case is worth it.

    At least a part of what the calls cost goes from the step; at best nothing but the function's own lines is left of the input.
    """
    step_s = 0.0 if isinstance(steps.step_s, Missing) else steps.step_s
    least = step_s * (1 - known_share(steps.shares.input))
    if not step_s or not least:
        return ()
    shared = steps.device_plane == "no device" and not calls.items
    saved = (SAVED_BESIDE_WORK if shared else SAVED_AT_LEAST) * calls.paid_s
    low = step_s / max(least, stage.batch_s - saved, step_s - saved)
    rest = shared_cores.left_of(least, shared_cores.relief_s(calls.count, calls.call_s)) if shared else least
    high = step_s / max(rest, calls.own_s * calls.count / calls.abreast)
    if high < WORTH:
        return ()
    made = stage.python == "generator"
    title = "Yield whole batches" if made else "Batch first, one call a batch"
    return (
        Fix(
            id="pipeline-batch-first",
            title=f"{title} :{stage.line}"[:COLUMN],
            action="diff",
            text=_yielded(stage, function_of(stage)) if made else swapped(stage, whole=calls.eager),
            gain=estimate(
                low, high, f"{calls.count} calls a batch cost {calls.paid_s * 1000:.3g} ms beside what they do"
            ),
            effort_minutes=10,
        ),
    )


def _yielded(stage: Stage, name: str) -> str:
    """Return the diff of a generator that yields what a batch holds; its signature is the user's to widen."""
    wanted = f"# {name}_batches: yours to write: {name}() that yields whole batches, np.stack() of each"
    shapes = "# each shape in output_signature gets a first None, and no .batch() follows"
    call = with_call(stage.snippet, "from_generator", f"{name}_batches, output_signature=batch_signature")
    return diff(stage.snippet, wanted, shapes, _unbatched(call) or "ds = tf.data.Dataset.from_generator(...)")


def _unbatched(line: str) -> str:
    start, end = call_span(line, "batch")
    return f"{line[: start - len('.batch(')]}{line[end + 1 :]}" if end else line
