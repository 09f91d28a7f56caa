"""GD403: the GPU looks full because TensorFlow reserved it; that is no leak and no need of the model.

What it does
    Looks for a process of yours that holds all of a GPU but for the reserve that TensorFlow leaves, by TensorFlow's own
    rule for the size of its pool.

Why it matters
    Without memory growth TensorFlow maps nearly all free memory at its first use of the GPU and keeps it until the
    process ends. "Memory used" in nvidia-smi then shows the pool: it says nothing of the model's need, does not fall
    after del model, and is no sign that the GPU works. People shrink batches or hunt for leaks because of it.

How to fix
    Nothing is broken. What the model really needs: tf.config.experimental.get_memory_info('GPU:0'), current and peak.
    To see the need from outside, or to share the GPU, set TF_FORCE_GPU_ALLOW_GROWTH=true before the process starts;
    the pool then grows as needed, and still never shrinks. The memory comes back when the process ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Finding,
    Fix,
    Gain,
    Gpu,
    GpuProcess,
    Gpus,
    Grade,
    Missing,
    Severity,
    Skip,
    Trial,
    check,
    either,
    memory_pool,
)
from gpudoctor_checks.figures import known
from gpudoctor_checks.usage import weigh_pace

BY_THE_RULE = 0.7  # the size fits TensorFlow's rule; another framework may reserve as much
ASK_TENSORFLOW = Fix(
    id="ask-tensorflow-for-memory",
    title="Ask TensorFlow what the model needs",
    action="setting",
    text="print(tf.config.experimental.get_memory_info('GPU:0'))   # in the training process",
    gain=Gain(grade=Grade.UNPROVEN, basis="tells the real need; changes nothing"),
    risk="none",
)


@check(
    code="GD403",
    slug="reserved-not-used",
    title="Memory used is TensorFlow's reservation",
    family="memory",
    cause="not-a-leak",
    core=False,
)
def reserved(gpus: Gpus, baseline: Trial | None) -> Iterator[Finding]:
    """Recognise TensorFlow's pool by what it leaves: its own reserve, and what others already held."""
    unknown: list[str] = []
    found = False
    for gpu in gpus:
        why = _unknown(gpu)
        holder = None if why else _pool_holder(gpu)
        unknown += [f"GPU {gpu.index}: {why}"] if why else []
        if holder is not None:
            found = True
            yield _finding(gpu, holder, baseline)
    if not found and (unknown or not len(gpus)):
        raise Skip("; ".join(unknown) or "NVML lists no GPU")


def _unknown(gpu: Gpu) -> str:
    if isinstance(gpu.processes, Missing):
        return f"processes unknown ({gpu.processes.reason})"
    own = [each for each in gpu.processes if each.kind == "compute" and each.own is not False]
    if not own:
        return ""
    if isinstance(gpu.memory.total_bytes, Missing) or isinstance(gpu.compute_capability, Missing):
        return "size or compute capability unknown"
    return "the memory of your process is unknown" if any(isinstance(p.memory_bytes, Missing) for p in own) else ""


def _pool_holder(gpu: Gpu) -> GpuProcess | None:
    """Return your process that left at most TensorFlow's reserve, apart from what the driver and others hold."""
    listed, total = either(gpu.processes, ()), either(gpu.memory.total_bytes, 0)
    driver = either(gpu.memory.reserved_bytes, 0)
    for each in listed:
        others = sum(either(p.memory_bytes, 0) for p in listed if p is not each)
        free = total - driver - others
        pool = memory_pool.pool_bytes(free, either(gpu.compute_capability, "9.0"))
        if each.kind == "compute" and each.own is True and 0 < pool <= either(each.memory_bytes, 0):
            return each
    return None


def _finding(gpu: Gpu, holder: GpuProcess, baseline: Trial | None) -> Finding:
    weight = weigh_pace(BY_THE_RULE, baseline)
    size, total = either(holder.memory_bytes, 0), either(gpu.memory.total_bytes, 0)
    name = either(holder.name, "process").rpartition("/")[2]
    return Finding(
        subject=f"GPU {gpu.index}",
        summary=f"GPU {gpu.index}: the {size / 2**30:.1f} of {total / 2**30:.1f} GiB of your {name} are a reservation.",
        severity=Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=known(
            "NVML",
            (f"pid {holder.pid} holds", size, "bytes"),
            ("GPU memory", total, "bytes"),
            ("busy now", gpu.utilization.gpu_percent, "%"),
        ),
        fixes=(ASK_TENSORFLOW,),
    )
