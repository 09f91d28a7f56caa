"""How much of a step threads waited for a turn at the interpreter, while Python of the input worked beside the steps.

By the conservation of work: what should run at the same time, TensorFlow's part, the loop's own Python and the input's, less
the processor time that the command really used, and the GPU's work. Cores that others took are no wait for the interpreter.
"""

from __future__ import annotations

from gpudoctor.sdk import HIGHLY, UNFETCHED, HotLines, MachineOverTime, Missing, Pipeline, StepTimes
from gpudoctor_checks.recorded import known_share

HOLD = ("numpy", "python", "tensorflow")  # activities of sampled lines that keep the interpreter, most of their time
EVERY = (*HOLD, "other", "io", "wait", "sync")


def held_share(steps: StepTimes, pipeline: Pipeline, lines: HotLines) -> float:
    """Return the share of a step in which Python of the input's slowest stage works: as its lines work, not as they wait."""
    slowest = pipeline.slowest
    if slowest is None or not slowest.python or steps.kind in UNFETCHED or isinstance(steps.step_s, Missing):
        return 0.0
    everything = lines.total("pipeline", *EVERY)
    working = lines.total("pipeline", *HOLD) / everything if everything else 0.0
    return min(1.0, slowest.batch_s / steps.step_s) * working


def waiting_for_a_turn(steps: StepTimes, held: float, lines: HotLines, machine: MachineOverTime) -> float | Missing:
    """Return the share of a step that waited for a turn: no more of it than the input's Python can have caused."""
    shares = steps.shares
    if (
        isinstance(machine.cores_used, Missing)
        or isinstance(shares.compute, Missing)
        or isinstance(shares.input, Missing)
    ):
        return Missing("the processor time, or how long steps wait for data, is unknown")
    if steps.device_plane != "no device" and isinstance(shares.device, Missing):
        return Missing(f"how long the GPU works in a step is unknown: {shares.device.reason}")
    working = max(0.0, known_share(shares.host) - lines.total("main", "wait", "io"))  # a host that sleeps wants no core
    wanted = shares.compute + working + held
    free = wanted if isinstance(machine.free_cores, Missing) else machine.free_cores
    waits = min(wanted, free) - machine.cores_used - known_share(shares.device)
    if free < wanted and waits < HIGHLY <= wanted - machine.cores_used:
        return Missing("other processes used the cores: who waits for a turn, and who for a core, is not told apart")
    return max(0.0, min(held, waits))


def takes_turns(
    steps: StepTimes, pipeline: Pipeline | None, lines: HotLines | None, machine: MachineOverTime | None
) -> bool:
    """Return whether what looks like TensorFlow's own time is, to a large share of a step, waiting for a turn."""
    if pipeline is None or lines is None or machine is None:
        return False
    waits = waiting_for_a_turn(steps, held_share(steps, pipeline, lines), lines, machine)
    return known_share(waits) >= HIGHLY
