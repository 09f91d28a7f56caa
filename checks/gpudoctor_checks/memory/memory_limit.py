"""What a memory limit can do about a shortage, with the peak that it leaves: it saves nothing, it divides a GPU.

Between two processes, or between TensorFlow's pool and what has to lie outside it. For a training that alone needs more
than the GPU has it is no way out: the pool only becomes smaller, so it is not offered there.
"""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.sdk import Fix, Gpu, Gpus, Maybe, Missing, Peak, memory_pool
from gpudoctor_checks.memory.memory_remedies import FREE_GPU
from gpudoctor_checks.memory.ways_out import Need, ways
from gpudoctor_checks.said import change, unproven

MIB = 1 << 20
NOT_TOLD = Missing("what the training needs is not told")
WHICH = Missing("the GPUs differ, and the text does not tell which one it was")
NO_GPU = Missing("the size of the GPU is not known")
LARGEST_RESERVE_MIB = memory_pool.reserve_bytes(1 << 40, "9.0") // MIB
LIMIT = (
    "gpu = tf.config.list_physical_devices('GPU')[0]\n"
    "tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit={})])"
)


def the_gpu(gpus: Gpus | None) -> Maybe[Gpu]:
    """Return the GPU that a text must be about; an instance of MIG has less than the GPU tells."""
    known = {(each.memory.total_bytes, each.compute_capability): each for each in reversed(tuple(gpus or ()))}
    if len(known) > 1:
        return WHICH
    ((total, capability), gpu) = next(iter(known.items()), ((NO_GPU, NO_GPU), None))
    if gpu is None or isinstance(total, Missing) or isinstance(capability, Missing) or gpu.mig_mode == "enabled":
        return NO_GPU
    return gpu


def pool_of(gpu: Maybe[Gpu], less_bytes: int = 0) -> Maybe[int]:
    """Return the pool that TensorFlow takes of all that is left of the GPU when so much is gone."""
    if isinstance(gpu, Missing):
        return gpu
    total, capability = gpu.memory.total_bytes, gpu.compute_capability
    if isinstance(total, Missing) or isinstance(capability, Missing):
        return NO_GPU
    return memory_pool.pool_bytes(max(0, total - less_bytes), capability)


def beside_another(need: Need, gpus: Gpus | None) -> tuple[Fix, ...]:
    """Return the ways out for a training that got a rest of the GPU only; without a dump nothing is predicted."""
    if isinstance(need.low, Missing):
        return (FREE_GPU,)
    gpu = the_gpu(gpus)
    peak = Peak(low_bytes=need.low, high_bytes=need.high, basis=need.basis, bound=True)
    smaller = next(each for each in ways(need) if each.id == "smaller-batch")
    return (
        _ended(peak, pool_of(gpu), need.low),
        _other_limited(peak, gpu, need.low),
        unproven(replace(_own_raised(need.low), peak=peak)),
        replace(smaller, title="Or a smaller batch, if the other must stay"),
    )


def _ended(peak: Peak, pool: Maybe[int], low: int) -> Fix:
    if isinstance(pool, Missing):
        return replace(FREE_GPU, peak=peak)
    then = f"the pool is then {pool / 2**30:.1f} GiB"
    if low > pool:
        return unproven(replace(FREE_GPU, peak=peak), f"not enough by itself: {then}")
    return replace(FREE_GPU, peak=peak, gain=replace(FREE_GPU.gain, basis=f"{FREE_GPU.gain.basis}; {then}"))


def _other_limited(peak: Peak, gpu: Maybe[Gpu], low: int) -> Fix:
    """Return the other process's limit: the pool that TensorFlow would take of what this training and its reserve leave."""
    pool = pool_of(gpu)
    taken = low if isinstance(gpu, Missing) or isinstance(pool, Missing) else low + _total(gpu) - pool
    left = pool_of(gpu, taken)
    size = f"GPU_MIB - {-(-low // MIB)}" if isinstance(left, Missing) else f"{left // MIB}"
    where = "  # in the other process, right after its import; MiB, at most"
    fix = change(
        "memory-limit-of-other",
        "Or share: a memory limit in the other process",
        LIMIT.format(size) + where + (": GPU_MIB is the GPU's size" if isinstance(left, Missing) else ""),
        why="it then leaves what this training needs at least",
    )
    return replace(unproven(fix, "how much more this training needs is not known"), peak=peak)


def _total(gpu: Gpu) -> int:
    total = gpu.memory.total_bytes
    return 0 if isinstance(total, Missing) else total


def _own_raised(low: int) -> Fix:
    return change(
        "raise-memory-limit",
        "Or raise your own limit, where you set one",
        f"tf.config.LogicalDeviceConfiguration(memory_limit={-(-low // MIB)})  # MiB, at least",
        why="a limit leaves the same rest as another process",
    )


def reserve(gpus: Gpus | None) -> Fix:
    """Return a limit that leaves room for what lies outside the pool: policy, twice the reserve that TensorFlow leaves by itself."""
    gpu = the_gpu(gpus)
    pool = pool_of(gpu)
    limit = pool if isinstance(gpu, Missing) or isinstance(pool, Missing) else pool_of(gpu, _total(gpu) - pool)
    known = not isinstance(limit, Missing)
    fix = change(
        "memory-limit",
        "Leave a reserve with a memory limit",
        LIMIT.format(limit // MIB if not isinstance(limit, Missing) else f"GPU_MIB - {2 * LARGEST_RESERVE_MIB}")
        + ("  # MiB" if known else "  # MiB; GPU_MIB is the GPU's size"),
        why="what lies above the limit stays for the libraries",
    )
    return replace(fix, peak=Peak(low_bytes=NOT_TOLD, high_bytes=limit, basis=fix.gain.basis, bound=True))
