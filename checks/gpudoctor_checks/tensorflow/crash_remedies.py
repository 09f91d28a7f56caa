"""Where to look when training crashes and nothing names the reason: each of these narrows it down and changes nothing."""

from __future__ import annotations

from gpudoctor.sdk import Fix, Gain, Grade

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
