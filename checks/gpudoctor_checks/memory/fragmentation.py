"""GD402: GPU memory is free, but in pieces that are too small.

What it does
    Reads the dump that TensorFlow's allocator prints when it runs out of memory: was more memory free than was asked for?
    And it lets the probe train on batches of many sizes and measure, in three ways that must agree, how free memory lies
    in this machine's allocator. Fragmentation is 1 - largest free chunk / total free. The pieces that the probe makes are
    an instrument, never your fault.

Why it matters
    A request needs one piece. When none is large enough, training ends out of memory although gigabytes are free, often
    where the shapes of batches vary. TensorFlow prints its hint about fragmentation at every such end, also where memory
    is simply full, so the hint proves nothing; the dump does.

How to fix
    TF_GPU_ALLOCATOR=cuda_malloc_async lets the driver join free pieces. Give batches few different shapes: pad or bucket
    lengths, drop_remainder=True. A fresh process starts with one piece.
    Memory growth does not help: it grows the pool in separate regions, so it tends to leave more pieces, not fewer.
    Fragmentation ends or slows a run; it cannot change a loss.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Environment,
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    Inconclusive,
    Log,
    LogEvent,
    Severity,
    Skip,
    Trial,
    check,
    unblocks,
)

COUNTED = 0.9  # the allocator's own chunks were counted
COUNTED_AND_TRIED = 0.95  # and the same allocator reports the truth in the probe
CUT = 0.7  # the dump is cut: the sums are known, the largest piece is not
ASYNC = "cuda_malloc_async"
ON_HOST = "Host memory is free only in pieces"

USE_ASYNC = Fix(
    id="async-allocator",
    title="Let the driver join free pieces",
    action="setting",
    text=f"export TF_GPU_ALLOCATOR={ASYNC}",
    gain=unblocks("the request that failed gets its memory"),
    effort_minutes=1,
)
FEWER_SHAPES = Fix(
    id="fewer-shapes",
    title="Give batches few different shapes",
    action="diff",
    text="dataset = dataset.bucket_by_sequence_length(\n"
    "    lambda x, y: tf.shape(x)[0], bucket_boundaries=[64, 128, 256], bucket_batch_sizes=[128, 64, 32, 16],\n"
    "    pad_to_bucket_boundary=True, drop_remainder=True)  # none longer than the last\n"
    "# or one shape: dataset.padded_batch(128, padded_shapes=([256], []), drop_remainder=True)",
    gain=Gain(grade=Grade.UNPROVEN, basis="pieces of equal size are used again"),
    effort_minutes=30,
)


@check(
    code="GD402",
    slug="fragmentation",
    title="GPU memory is free only in pieces",
    family="memory",
    cause="fragmentation",
    trials=("fragmentation",),
    core=False,
)
def fragmented(log: Log | None, env: Environment | None, fragmentation: Trial | None) -> Iterator[Finding]:
    """Believe the allocator's dump; the trial alone can only find the allocator itself at fault."""
    events = [event for event in (log.events if log is not None else ()) if _in_pieces(event)]
    if events:
        yield _ended(max(events, key=_share), len(events), env, fragmentation)
    if fragmentation is not None and fragmentation.status == "failed":
        yield _unhealthy(fragmentation)
    elif not events and log is None and fragmentation is None:
        raise Skip("neither the log of a run nor the probe's trial of the allocator")
    elif not events and (fragmentation is None or fragmentation.status != "ok"):
        raise Inconclusive("the allocator was not tried" if fragmentation is None else fragmentation.reason)


def _in_pieces(event: LogEvent) -> bool:
    return event.kind == "oom" and event.values.get("shortage") == "fragmentation"


def _share(event: LogEvent) -> float:
    return float(event.values.get("fragmentation_share", 0))


def _on_host(event: LogEvent) -> bool:
    return any(word in event.values.get("allocator", "").lower() for word in ("cpu", "host"))


def _ended(event: LogEvent, count: int, env: Environment | None, trial: Trial | None) -> Finding:
    asked, free = int(event.values["asked_bytes"]), int(event.values["free_bytes"])
    tried = trial is not None and trial.status == "ok"
    whole = COUNTED_AND_TRIED if tried else COUNTED
    figures = (("asked for", "asked_bytes"), ("free", "free_bytes"), ("largest free piece", "largest_free_bytes"))
    already = env is not None and env.get("TF_GPU_ALLOCATOR") == ASYNC
    return Finding(
        title=ON_HOST if _on_host(event) else "",
        summary=f"Out of memory with {free / 2**20:.0f} MiB free: no piece of {asked / 2**20:.0f} MiB.",
        severity=Severity.ERROR,
        confidence=whole if event.values.get("dump") == "complete" else CUT,
        basis="the allocator's dump" + ("; the probe found the allocator itself sound" if tried else ""),
        evidence=(
            *(
                Evidence(label=label, value=int(event.values[name]), unit="bytes", source=f"log, line {event.line}")
                for label, name in figures
                if name in event.values
            ),
            Evidence(label="fragmentation", value=_share(event), unit="share", source="1 - largest free / free"),
            Evidence(label="times", value=count, source="log"),
        ),
        fixes=(FEWER_SHAPES,) if already or _on_host(event) else (USE_ASYNC, FEWER_SHAPES),
    )


def _unhealthy(trial: Trial) -> Finding:
    return Finding(
        summary=f"The allocator itself is at fault{trial.reason and f': {trial.reason}'}.",
        severity=Severity.WARNING,
        confidence=COUNTED,
        basis="the probe asked for the block that the allocator lists as free",
        evidence=tuple(
            Evidence(label=name.replace("_", " "), value=value, source="probe, trial fragmentation")
            for name, value in trial.values.items()
        ),
        fixes=(USE_ASYNC,),
    )
