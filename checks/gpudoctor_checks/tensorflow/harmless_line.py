"""GD354: lines of the log that look like trouble and are none.

What it does
    Lists the lines of a text that are known noise: NUMA nodes, factories that register twice, TensorRT that is not
    installed, CPU instructions, the end of a data set, the allocator's standing hint, a request for memory whose
    caller says that it is not a failure.

Why it matters
    People chase these lines for days, some of them bear an E. They are told apart from what is wrong, and no fix rests on
    them.

How to fix
    Leave them. TensorRT is not needed to train. Look at the other lines of the log for the cause.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Fix, Gain, Grade, Log, LogEvent, Severity, Trial, check
from gpudoctor_checks.said import events, log_finding, weigh_program

SOFT = "oom_soft"  # the allocator's words where the caller has another way
WARNED = "host_allocation"
# What makes a warning about the host's memory more than one.
FAILED = ("host_oom", "oom", "oom_tensor", "oom_bare", "oom_device", "process_killed")
MEANING = {
    WARNED: "a large block of host memory was taken, and TensorFlow only says so; nothing failed",
    SOFT: "the operation took a way that needs less memory, as it says; a smaller batch may be faster, and nothing failed",
    "numa": "the kernel names no NUMA node for the GPU; nothing is lost",
    "duplicate-factory": "libraries register twice inside TensorFlow; the GPU is used all the same",
    "xla-devices": "an old kind of XLA device is not made; nobody needs it",
    "onednn": "oneDNN tells how it rounds; it concerns the CPU",
    "cpu-instructions": "it concerns the CPU only",
    "tensorrt": "TensorRT is optional and no part of training",
    "log": "it tells where log lines go",
    "optimizer": "an optimization of the graph was left out; the result is the same",
    "compiler": "the compiler tells how it worked; the code is right",
    "autograph": "a function runs as it is written",
    "end-of-data": "a data set was read to its end, as it should be",
    "generic-allocator-hint": "it is printed at every end out of memory, so it proves nothing",
}
IGNORE = Fix(
    id="ignore-line",
    title="Ignore these lines",
    action="manual",
    text="Nothing has to be changed because of them",
    gain=Gain(grade=Grade.UNPROVEN, basis="they change nothing"),
    risk="none",
    effort_minutes=0,
)


@check(
    code="GD354",
    slug="harmless-line",
    title="Lines that are no trouble",
    family="tensorflow",
    cause="harmless-line",
    core=False,
)
def harmless(log: Log, baseline: Trial | None) -> Iterator[Finding]:
    """Tell each kind of noise once."""
    topics: dict[str, list[LogEvent]] = {}
    quiet = () if events(log, *FAILED) else (WARNED,)
    for event in events(log, "harmless", SOFT, *quiet):
        topics.setdefault(event.values.get("topic", "") if event.kind == "harmless" else event.kind, []).append(event)
    for topic, found in topics.items():
        yield log_finding(
            f"Not your problem (line {found[0].line}): {MEANING.get(topic, 'known noise')}.",
            weigh_program(0.9, baseline),
            found,
            IGNORE,
            cause="harmless-line",
            severity=Severity.INFO,
        )
