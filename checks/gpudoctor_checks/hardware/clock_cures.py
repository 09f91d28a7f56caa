"""What raises lowered clocks again, and at most by how much: the bound stands at the cure, never at a command that looks."""

from __future__ import annotations

import math

from gpudoctor.sdk import Fix, Gain, Gpu, Grade, either


def slowed(gpu: Gpu) -> float:
    """Return how much higher the core clock could be; 1 where it is unknown, or low because the GPU is idle."""
    now, most = either(gpu.clocks.sm_mhz, 0), either(gpu.clocks.sm_max_mhz, 0)
    at_work = "GpuIdle" not in either(gpu.throttle_reasons, ())
    return round(most / now, 2) if now and most > now and at_work else 1.0


def cures(gpu: Gpu, restore_w: float) -> tuple[Fix, ...]:
    """Return the cure with the bound of what it brings, rounded up as a bound must be, then where to look."""
    gain = Gain(grade=Grade.UNPROVEN, basis="the clock at work is unknown")
    if (times := slowed(gpu)) > 1:
        bound = math.ceil(times * 10) / 10
        gain = Gain(grade=Grade.BOUND, speedup=bound, basis="highest core clock over the present one")
    name, board = f"clocks-of-gpu-{gpu.index}", f"nvidia-smi -i {gpu.index}"
    if restore_w:
        text = f"sudo {board} -pl {restore_w:.0f}"
        return (Fix(id=name, title="Restore the board's own limit", action="command", text=text, gain=gain),)
    look = Fix(
        id=f"read-{name}",
        title="Read what it says of heat and power",
        action="command",
        text=f"{board} -q -d TEMPERATURE,PERFORMANCE,POWER",
        gain=Gain(grade=Grade.UNPROVEN, basis="names the reason; changes nothing"),
        risk="none",
        effort_minutes=1,
    )
    return (Fix(id=name, title=_cure(gpu)[0], action="manual", text=_cure(gpu)[1], gain=gain, effort_minutes=30), look)


def _cure(gpu: Gpu) -> tuple[str, str]:
    """Return title and text: a power brake is pulled from outside the board, all else is heat first."""
    if "HwPowerBrakeSlowdown" in either(gpu.throttle_reasons, ()):
        return "See to its power supply", "Check power cables and supply; in a server, the power budget of the chassis"
    return "Cool it", "Free the air path, clean dust and see that the fans turn; till then lower the power limit"
