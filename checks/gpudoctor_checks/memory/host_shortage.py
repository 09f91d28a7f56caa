"""A training that ran out of the host's memory: the CPU's allocators, and the pinned memory from which a GPU copies.

The words are those of a GPU's shortage, and TensorFlow's own names mislead: `bfc_cpu_allocator_for_gpu` and `gpu_host_bfc`
are host memory. What frees GPU memory (float16 activations, layers on the CPU, memory growth) does nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpudoctor.sdk import Finding, Fix, Log, LogEvent, Missing, Trial
from gpudoctor_checks.memory.dump_need import from_dump, sizes
from gpudoctor_checks.memory.memory_remedies import SMALLER
from gpudoctor_checks.memory.oom_events import on_host
from gpudoctor_checks.memory.ways_out import Need, ways
from gpudoctor_checks.said import change, events, log_finding, unproven, weigh_program

TITLE = "The log ends out of host memory"
SAVE_ON_HOST = ("gradient-accumulation", "smaller-batch")  # of the ways out, those that need less of any memory
# The variable that bounds each pool, and its unit in bytes. process_state.cc, gpu_process_state.cc (1.14
# renamed pool and variable, read in both wheels), mkl_cpu_allocator.h.
LIMITS = {
    "gpu_host_bfc": ("TF_GPU_HOST_MEM_LIMIT_IN_MB", 1 << 20),
    "cuda_host_bfc": ("TF_CUDA_HOST_MEM_LIMIT_IN_MB", 1 << 20),
    "bfc_cpu_allocator_for_gpu": ("TF_CPU_BFC_MEM_LIMIT_IN_MB", 1 << 20),
    "mklcpu": ("TF_MKL_ALLOC_MAX_BYTES", 1),
}
PINNED = frozenset({"gpu_host_bfc", "cuda_host_bfc"})
LESS = change(
    "smaller-host-buffers",
    "Keep less of the data in host memory",
    "dataset = dataset.shuffle(1000).cache('/tmp/cache')  # or np.load(path, mmap_mode='r') and read in batches",
    why="buffers and cache() hold whole elements in host memory",
    minutes=20,
)
SEE_HOST = "free -h; ulimit -l; cat /sys/fs/cgroup/memory.max; sudo dmesg | grep -i 'out of memory' | tail -n 3"


def of_the_host(log: Log) -> tuple[LogEvent, ...]:
    """Return the lines in which an allocator of the host runs out; bare words are the host's where none is of a GPU."""
    told = [each for each in events(log, "oom", "oom_tensor") if on_host(each)]
    of_gpu = [each for each in events(log, "oom", "oom_tensor") if not on_host(each)]
    if of_gpu or events(log, "oom_device", "copy_failed", "slices_on_device"):
        return ()
    warned = events(log, "host_allocation") if not events(log, "gpu_created", "gpu_found") else ()
    return (*told, *(events(log, "oom_bare") if told or warned else ()))


def model_on_host(lines: Sequence[LogEvent], trial: Trial | None) -> Iterator[Finding]:
    """Yield what a model's own tensors on the host show; GD402 tells where its pool is free, but in pieces."""
    tensors = [each for each in lines if each.kind == "oom_tensor"]
    dumps = [each for each in lines if each.kind == "oom" and "dump" in each.values]
    if any(each.values.get("shortage") == "fragmentation" for each in dumps) or not (tensors or dumps):
        return
    whole = next((each for each in reversed(dumps) if each.values.get("shortage") in {"full", "split_pool"}), None)
    need = from_dump(whole, tensors)
    allocator = next((name for each in (*dumps, *tensors) if (name := each.values.get("allocator", ""))), "")
    found = log_finding(
        _summary(allocator, whole is not None),
        weigh_program(0.85 if whole else 0.65, trial),
        lines,
        *_fixes(need, allocator),
        cause="batch-too-large",
        know=SEE_HOST,
        more=sizes(whole, tensors),
    )
    yield replace(found, title=TITLE)


def _summary(allocator: str, counted: bool) -> str:
    if allocator in PINNED:
        return "The host's pinned memory ran out, not the GPU's: it is RAM from which the GPU copies."
    if counted and allocator in LIMITS:
        return "The CPU allocator's pool is full: the host's memory ran out, not the GPU's."
    return "Model and batch need more memory than the host has: they run on the CPU."


def _fixes(need: Need, allocator: str) -> Iterator[Fix]:
    if isinstance(need.low, Missing):
        yield SMALLER
    else:
        yield from (each for each in ways(need) if each.id in SAVE_ON_HOST)
        if allocator in LIMITS and not isinstance(need.limit, Missing):
            variable, unit = LIMITS[allocator]
            text = f"export {variable}={-(-need.low // unit)}  # at least, and only where the machine has it free"
            yield unproven(
                change("raise-host-pool", "Or raise the limit of that pool", text, why="", minutes=1),
                f"the pool ends at {need.limit / 2**20:.0f} MiB",
            )
    yield unproven(LESS, "where buffers or cache() hold what the model lacks")
