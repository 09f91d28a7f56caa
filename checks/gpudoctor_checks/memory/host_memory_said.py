"""GD454: the log shows that the host's memory ran out.

What it does
    Reads NumPy's and C++'s failed allocations, the kernel's out-of-memory killer, and a shell's "Killed" from a text.

Why it matters
    A shuffle buffer, cache() or a generator that keeps what it made fills the host's memory, not the GPU's; the process is
    then killed without an error of its own. Settings of GPU memory do not matter here.

How to fix
    Smaller shuffle buffer (elements, not bytes), cache to a file, memory-mapped arrays, batches read from files.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Log, Trial, check
from gpudoctor_checks.said import change, events, log_finding, trained_on, weigh_program

LESS = change(
    "smaller-host-buffers",
    "Keep less of the data in host memory",
    "dataset = dataset.shuffle(1000).cache('/tmp/cache')  # or np.load(path, mmap_mode='r') and read in batches",
    why="buffers and cache() hold whole elements in host memory",
    minutes=20,
)


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
    sure = events(log, "host_oom")
    host = [
        each
        for each in events(log, "oom_tensor", "oom")
        if "cpu" in (each.values.get("allocator", "") + each.values.get("device", "")).lower()
    ]
    if any(each.kind == "oom_tensor" for each in host):
        return  # a tensor of the model itself: see GD451
    if trained_on(log):
        host = []  # a pool with a limit of its own was full, wherever it lies: see GD451 and GD402
    sure = sure or (events(log, "host_allocation") if events(log, "process_killed") else ())
    killed = events(log, "process_killed")
    if sure or host or killed:
        yield log_finding(
            "The host's memory ran out, not the GPU's."
            if sure or host
            else "The process was killed, mostly for host memory.",
            weigh_program(0.9 if sure or host else 0.6, baseline),
            (*sure, *host, *killed),
            LESS,
            cause="host-ram",
            know="" if sure or host else "sudo dmesg | grep -i 'out of memory' | tail -n 3",
        )
