"""GD453: the log shows an array that is embedded in the graph.

What it does
    Reads protobuf's and TensorFlow's words about a graph or a constant above 2 GB.

Why it matters
    An array that a traced function uses becomes a constant of its graph, and a graph cannot hold more than 2 GB. Smaller
    ones cost memory twice.

How to fix
    Feed the array in pieces: tf.data from a generator or files, or batches from memory-mapped arrays, and hand arrays to
    functions as arguments instead of closing over them.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Log, Trial, check
from gpudoctor_checks.said import change, events, log_finding, weigh_program

FEED = change(
    "feed-in-pieces",
    "Feed the array in pieces",
    "dataset = tf.data.Dataset.from_generator(lambda: zip(x, y), output_signature=signature).batch(64).prefetch(tf.data.AUTOTUNE)"
    "  # x may be np.load(path, mmap_mode='r'), or TFRecord files",
    why="nothing of it then stands in the graph",
    minutes=20,
)


@check(
    code="GD453",
    slug="graph-constant-in-log",
    title="The log: an array stands in the graph",
    family="memory",
    cause="graph-constant",
    core=False,
)
def embedded(log: Log, baseline: Trial | None) -> Iterator[Finding]:
    """Believe the message: it has one cause."""
    found = events(log, "graph_constant")
    if found:
        summary = "An array above 2 GB is embedded in the graph as a constant."
        yield log_finding(summary, weigh_program(0.95, baseline), found, FEED, cause="graph-constant")
