"""GD512: this run waited for files.

What it does
    Where steps wait for their input, looks whether reading is what holds the pipeline up: a reader is its slowest stage,
    or the sampled Python of the pipeline sits in file calls. It also notes how long the host itself waited for disks.

Why it matters
    Slow or remote storage sets the pace of the whole training, whatever the GPU. A first epoch may be slow only because
    nothing is in the page cache yet; where every epoch waits, the data are larger than the cache or come over a network.

How to fix
    Copy the data to a local disk, or store it as a few large TFRecord files and read several side by side:
    interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE). cache('/local/file') keeps the first epoch.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Evidence,
    Finding,
    Fix,
    HotLine,
    HotLines,
    Inconclusive,
    Location,
    MachineOverTime,
    Missing,
    Pipeline,
    Severity,
    Stage,
    StepTimes,
    Trial,
    check,
)
from gpudoctor_checks.recorded import at, bound, costs_from, percent, place, weigh_run

SURE = 0.85
READERS = ("TFRecord", "TextLine", "FixedLengthRecord")
MOST_OF_IT = 0.5  # SageMaker Debugger's IOBottleneck takes the same half


@check(
    code="GD512",
    slug="slow-reads",
    title="Steps wait for files",
    family="input",
    cause="storage",
    core=False,
)
def reading(
    steps: StepTimes,
    pipeline: Pipeline | None,
    hot_lines: HotLines | None,
    machine: MachineOverTime | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Tell whether reading holds the pipeline up."""
    share = steps.shares.input
    if isinstance(share, Missing):
        raise Inconclusive(f"the wait is unknown: {share.reason}")
    if steps.input_class != "highly":
        return
    stage, line = _reader(pipeline), _io_line(hot_lines)
    if stage is None and line is None:
        return
    weight = weigh_run(SURE, baseline, steps)
    what = f"{line.leaf} at {at(line.file, line.line)}" if line is not None else stage.name if stage is not None else ""
    yield Finding(
        summary=f"Reading files holds the input up: {what}.",
        severity=Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            *percent("waiting for input", share),
            *([_slowest(stage, pipeline)] if stage is not None and pipeline is not None else []),
            *(percent("pipeline's Python in file calls", line.share, "sampled stacks") if line is not None else ()),
            *(percent("host waiting for disks", machine.io_wait_share) if machine is not None else ()),
        ),
        location=_place(stage, line),
        fixes=(_copy(share),),
        share=share,
    )


def _slowest(stage: Stage, pipeline: Pipeline) -> Evidence:
    return Evidence(label="slowest stage", value=stage.name, source=costs_from(pipeline))


def _reader(pipeline: Pipeline | None) -> Stage | None:
    slowest = pipeline.slowest if pipeline is not None else None
    return slowest if slowest is not None and slowest.name.startswith(READERS) else None


def _io_line(lines: HotLines | None) -> HotLine | None:
    """Return the line that reads, where most of the pipeline's sampled Python does so."""
    found = lines.hottest("pipeline", "io") if lines is not None else ()
    worked = lines.total("pipeline", "io", "numpy", "python", "other", "wait") if lines is not None else 0.0
    return found[0] if found and sum(each.share for each in found) >= MOST_OF_IT * worked else None


def _place(stage: Stage | None, line: HotLine | None) -> Location | None:
    if line is not None:
        return place(line.file, line.line, line.snippet)
    return place(stage.file, stage.line, stage.snippet) if stage is not None else None


def _copy(share: float) -> Fix:
    return Fix(
        id="copy-data-to-local-disk",  # GD505 offers the same
        title="Copy the data to a local disk first",
        action="command",
        text='rsync -a --info=progress2 DATA/ "${TMPDIR:-/tmp}/data/"',
        gain=bound(share, "no step waits for files any more"),
        effort_minutes=15,
    )
