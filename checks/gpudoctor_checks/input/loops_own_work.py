"""Work of Python's in the loop, between the steps: what GD513 proposes for it.

It need not vanish to cost nothing: in a pipeline's thread it runs while a step does, for TensorFlow gives the interpreter free
while it computes.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import UNFETCHED, Fix, HotLine, StepTimes
from gpudoctor_checks.recorded import at, bound, diff

BESIDE = """+ ds = tf.data.Dataset.from_generator(batches, output_signature=...)
+ for x in ds.prefetch(tf.data.AUTOTUNE):  # batches: a generator of yours, with what the loop does for each batch"""


HEADS = ("for ", "while ", "with ", "if ")  # what they hold on the same line is not all of the line


def out_of_the_loop(line: HotLine, share: float, steps: StepTimes) -> Iterator[Fix]:
    """Yield the fixes; where no step fetches from tf.data, batches may be made beside the steps as they are."""
    yield Fix(
        id="out-of-the-loop",
        title=f"Take it out of the loop: {at(line.file, line.line)}"[:46],
        action="diff",
        text=diff(
            "" if line.snippet.startswith(HEADS) else line.snippet,
            f"# as_tf: yours to write: what line {line.line} does, with tf.* ops on one example",
            "ds = ds.map(as_tf, num_parallel_calls=tf.data.AUTOTUNE)",
        ),
        gain=bound(share, "the loop does none of it any more"),
        effort_minutes=30,
    )
    if steps.kind in UNFETCHED:
        yield Fix(
            id="batches-beside-steps",
            title="Make the next batch while a step runs",
            action="diff",
            text=BESIDE,
            gain=bound(min(share, 1 - share), "batch and step run side by side, the longer one is left"),
            effort_minutes=10,
        )
