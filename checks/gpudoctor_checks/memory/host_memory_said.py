"""GD454: the log shows that the host's memory ran out.

What it does
    Reads NumPy's and C++'s failed allocations, the kernel's out-of-memory killer, and a shell's "Killed" from a text.

Why it matters
    A shuffle buffer, cache() or a generator that keeps what it made fills the host's memory, not the GPU's; the process is
    then killed without an error of its own. Settings of GPU memory do not matter here.

How to fix
    Smaller shuffle buffer (elements, not bytes), cache to a file, memory-mapped arrays, batches read from files; a smaller
    batch where the model itself runs on the CPU. TensorFlow's "Allocation of N exceeds 10% of free system memory" alone is
    a warning: nothing has failed.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Log, Trial, check
from gpudoctor_checks.memory.host_shortage import LESS, SEE_HOST, of_the_host
from gpudoctor_checks.memory.memory_remedies import SMALLER
from gpudoctor_checks.said import events, log_finding, trained_on, weigh_program

# policy: an allocator says it, a warning before the end does, nothing but the end is told
SURE, LIKELY, MAYBE = 0.9, 0.65, 0.6


@check(
    code="GD454",
    slug="host-memory-in-log",
    title="The log: host memory ran out",
    family="memory",
    cause="host-ram",
    core=False,
)
def host_full(log: Log, baseline: Trial | None) -> Iterator[Finding]:
    """Weigh a bare "Killed" less: it may have other senders."""
    # a dump's pool with a limit of its own was full: see GD451 and GD402
    outside = () if trained_on(log) else of_the_host(log)
    if any(each.kind == "oom_tensor" for each in outside):
        return  # a tensor of the model itself: see GD451
    refused = (*events(log, "host_oom"), *(each for each in outside if each.kind == "oom"))
    killed, bare = events(log, "process_killed"), [each for each in outside if each.kind == "oom_bare"]
    warned = events(log, "host_allocation") if killed or bare else ()
    if not (refused or warned or killed):
        return
    pinned = any("on host" in each.text or "pinned" in each.text for each in refused)
    yield log_finding(
        "Pinned host memory ran out, not the GPU's: it is RAM from which the GPU copies."
        if pinned
        else "The host's memory ran out, not the GPU's."
        if refused or warned
        else "The process was killed, mostly for host memory.",
        weigh_program(SURE if refused or (warned and killed) else LIKELY if warned else MAYBE, baseline),
        (*refused, *warned, *bare, *killed),
        LESS,
        *((SMALLER,) if warned else ()),
        cause="host-ram",
        know=SEE_HOST,
    )
