"""Where to look when training crashes and nothing names the reason: each of these narrows it down and changes nothing."""

from __future__ import annotations

from gpudoctor.sdk import Fix, Gain, Grade, Trial, either

KILLED = "killed by the kernel"  # how the probe tells a shortage of the host's own memory
LOOKS = Gain(grade=Grade.UNPROVEN, basis="narrows the reason down; changes nothing")
ON_CPU = Fix(
    id="train-on-cpu-to-compare",
    title="Does it train without the GPU?",
    action="command",
    text="CUDA_VISIBLE_DEVICES=-1 gpudoctor probe --trial baseline",
    gain=LOOKS,
    risk="none",
    effort_minutes=1,
)
NAME_OPERATION = Fix(
    id="name-failing-operation",
    title="Let it name the operation that fails",
    action="command",
    text="CUDA_LAUNCH_BLOCKING=1 TF_CPP_MIN_LOG_LEVEL=0 gpudoctor probe --trial baseline",
    gain=LOOKS,
    risk="none",
    effort_minutes=1,
)

SEE_STATE = Fix(
    id="see-gpu-state",
    title="Read its clocks, heat, power and who uses it",
    action="command",
    text="nvidia-smi -q -d CLOCK,PERFORMANCE,TEMPERATURE,POWER; nvidia-smi",
    gain=LOOKS,
    risk="none",
    effort_minutes=1,
)

SEE_HOLDERS = Fix(
    id="see-memory-holders",
    title="See who holds the GPU's memory",
    action="command",
    text="nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory --format=csv; nvidia-smi",
    gain=LOOKS,
    risk="none",
    effort_minutes=1,
)
GROW_TO_COMPARE = Fix(
    id="train-with-growth-to-compare",
    title="Does it train with memory growth?",
    action="command",
    text="TF_FORCE_GPU_ALLOW_GROWTH=true gpudoctor probe --trial baseline --trial batch_ladder",
    gain=LOOKS,
    risk="none",
    effort_minutes=2,
)
SEE_HOST_MEMORY = Fix(
    id="see-host-memory",
    title="See how much memory this machine has",
    action="command",
    text="free -h; cat /sys/fs/cgroup/memory.max; sudo dmesg | grep -i -m 5 'out of memory'",
    gain=LOOKS,
    risk="none",
    effort_minutes=1,
)


def who_has_memory(baseline: Trial) -> tuple[Fix, ...]:
    """Return what tells who has the memory: the network needs a few megabytes, and no operation is to blame."""
    host = either(baseline.reason, "").startswith(KILLED)
    return (SEE_HOST_MEMORY,) if host else (SEE_HOLDERS, GROW_TO_COMPARE)
