"""Where a steady step's time goes, how sure that is, and in XProf's words how input-bound it makes the run.

The wait is what stamps saw. On a GPU, execution is asynchronous, so a wait may lie beside device work: without a device plane
it is an upper bound, which NVML's utilisation can only lower. Taking the wait alone would call many busy GPUs starved.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.model.missing import Maybe, Missing, either
from gpudoctor.model.phases import Calls
from gpudoctor.model.record import dataclass
from gpudoctor.model.run import (
    HIGHLY,
    MODERATELY,
    ON_PROFILED,
    UNFETCHED,
    Breakdown,
    GpuOverTime,
    HotLine,
    HotLines,
    MachineOverTime,
    StepTimes,
)
from gpudoctor.model.session import Session
from gpudoctor.profile.between import SAME, host_share, in_keras, outside
from gpudoctor.profile.seen_pipeline import SeenPipeline
from gpudoctor.profile.steps import Loop, Stretch, overlap, tracing_times

ENOUGH_STEPS = 20  # TraceML asks as many steady steps before it says "critical"
# Policy: confidence of the shares. A device plane or a CPU (synchronous) leaves no doubt of what waits for what.
TWO_METHODS, ONE_METHOD, NO_DEVICE_PLANE, DISAGREE, FEW_STEPS = 0.95, 0.85, 0.6, 0.5, 0.5
BETWEEN_EPOCHS = ("on_epoch", "on_train_begin", "on_train_end", "on_test")
FLOOR = 0.02  # less than this share of a step resolves nothing
NO_FETCH = Missing("the loop fetches nothing from TensorFlow: its input is made in Python")
FETCHES = Missing("the steps fetch their input from TensorFlow")
OTHER_CALLS = Missing("Keras's own calls run between the steps, and a window does not tell them from the user's Python")
HOST_WORK = ("numpy", "python", "io", "wait", "sync", "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowShare:
    """What a profiler window showed: input share of its steps, mean step, and whether it holds a device plane.

    `outside_share`: of the time from the first marked call to the last, what lies outside of TensorFlow. `pipeline`: only where
    tf.data tells no model of its own.
    """

    steps: int
    step_s: float
    input_share: Maybe[float]
    device_plane: bool = False
    device_share: Maybe[float] = Missing("no device plane")
    outside_share: Maybe[float] = Missing("no call is marked in the window")
    pipeline: SeenPipeline | None = None


def step_times(
    session: Session,
    loop: Loop,
    *,
    lines: HotLines | None,
    machine: MachineOverTime | None,
    calls: Calls | None = None,
    windows: Sequence[WindowShare] = (),
    steps_per_execution: int = 1,
) -> StepTimes:
    """Return the steady steps with their breakdown."""
    steps, span = sum(each.steps for each in loop.steady), loop.steady_s
    overlaps, called = steps_per_execution > 1 or loop.record.overlaps, loop.record.kind in UNFETCHED
    window, seen = _second_method(session, loop, windows)
    plane = _plane(session, windows, machine)
    stamped, device = _stamped(loop.steady, loop, span, overlaps=overlaps), _device(window, machine, plane)
    trusted = lines is not None and not (called and _confirmed(loop, seen))
    host = host_share(session, loop, _sampled(lines, calls), seen=trusted, device=device)
    waiting = _waiting(_fetching(stamped, loop, window), None if called else window, device, plane)
    shares = _shares(waiting, device, _traced(session, loop, span), host)
    own = host if called else stamped
    compared = _compared((own, _meanwhile(loop, overlaps=overlaps)), seen)
    agree = _agree(compared, seen)
    elsewhere = agree is True and _agree(own, seen) is not True
    confidence, basis = _confidence(
        _methods(own, window), agree, elsewhere=elsewhere, plane=plane, steps=steps, apart=loop.apart
    )
    return StepTimes(
        label=loop.record.label,
        kind=loop.record.kind,
        file=loop.record.file,
        line=loop.record.line,
        steps=steps if loop.apart else loop.steps,
        warm_up_steps=loop.steps - steps - sum(each.steps for each in loop.profiled) if loop.apart else 0,
        step_s=span / steps if steps and span > 0 else Missing("no steady step"),
        wait_s=waiting if isinstance(waiting, Missing) else waiting * span / max(1, steps),
        shares=shares,
        input_class=input_class(shares.input),
        methods=_methods(own, window),
        window_input_share=NO_FETCH if called else seen,
        stamped_input_share=NO_FETCH if called else compared,
        window_host_share=seen if called else FETCHES,
        stamped_host_share=compared if called else FETCHES,
        agree=agree,
        agree_elsewhere=elsewhere,
        device_plane=plane,
        confidence=confidence,
        basis=basis,
        steps_per_execution=steps_per_execution,
        loop_s=loop.total_s,
    )


def input_class(share: Maybe[float]) -> str:
    """Return XProf's class of an input share."""
    if isinstance(share, Missing):
        return "unknown"
    return "highly" if share >= HIGHLY else "moderately" if share >= MODERATELY else "not"


def _confirmed(loop: Loop, seen: Maybe[float]) -> bool:
    """Return whether a window shows that what lies between the calls is outside of TensorFlow."""
    return any(_agree(outside(each), seen) is True for each in (loop.steady, loop.profiled))


def _second_method(
    session: Session, loop: Loop, windows: Sequence[WindowShare]
) -> tuple[WindowShare | None, Maybe[float]]:
    """Return all windows as one, and the share in them that stamps are compared with."""
    called, keras = loop.record.kind in UNFETCHED, in_keras(session, loop)
    window = _window(windows, called=called) if keras <= FLOOR else None
    if window is not None:
        return window, _seen(window, called=called)
    return None, _no_window(session, loop) if keras <= FLOOR else OTHER_CALLS


def _methods(stamped: Maybe[float], window: WindowShare | None) -> tuple[str, ...]:
    stamps = () if isinstance(stamped, Missing) else ("stamps",)
    return stamps if window is None else (*stamps, "window")


def _window(windows: Sequence[WindowShare], *, called: bool) -> WindowShare | None:
    """Return all windows as one; long ones weigh more. `called`: what counts in them is what lies between the calls."""
    told = [(each, _seen(each, called=called)) for each in windows]
    usable = [each for each, share in told if each.steps and not isinstance(share, Missing)]
    total = sum(each.steps * each.step_s for each in usable)
    if not usable or total <= 0:
        return None

    def mean(of: Sequence[tuple[WindowShare, Maybe[float]]]) -> Maybe[float]:
        known = [(each.steps * each.step_s, value) for each, value in of if not isinstance(value, Missing)]
        weight = sum(each for each, _ in known)
        return sum(each * value for each, value in known) / weight if weight else Missing("no device plane")

    return WindowShare(
        steps=sum(each.steps for each in usable),
        step_s=total / sum(each.steps for each in usable),
        input_share=mean([(each, each.input_share) for each in usable]),
        device_plane=any(each.device_plane for each in usable),
        device_share=mean([(each, each.device_share) for each in usable]),
        outside_share=mean([(each, each.outside_share) for each in usable]),
    )


def _seen(window: WindowShare, *, called: bool) -> Maybe[float]:
    return window.outside_share if called else window.input_share


def _plane(session: Session, windows: Sequence[WindowShare], machine: MachineOverTime | None) -> str:
    if any(each.device_plane for each in windows):
        return "seen"
    uses_gpu = machine is not None and bool(machine.gpus)
    told = [each.value for each in session.settings if each.subject == "process" and each.name == "gpus"]
    if told and not any(told):
        uses_gpu = False
    if not uses_gpu:
        return "no device"
    return "closed" if windows else "not recorded"


def _stamped(stretches: Sequence[Stretch], loop: Loop, span: float, *, overlaps: bool) -> Maybe[float]:
    if loop.record.kind in UNFETCHED:
        between = outside(stretches)
        if not isinstance(between, Missing) and between < MODERATELY:
            return between  # whatever makes the batches, it takes no longer than that
        return NO_FETCH
    if overlaps:
        return Missing("with steps_per_execution > 1 fetches run beside compute; only a profiler window tells")
    if span <= 0:
        return Missing("no steady step")
    return min(1.0, sum(each.wait_s for each in stretches) / span)


def _meanwhile(loop: Loop, *, overlaps: bool) -> Maybe[float]:
    """Return what the stamps saw during the windows: a pipeline may be slower before or behind them."""
    if loop.record.kind in UNFETCHED:
        return outside(loop.profiled)
    return _stamped(loop.profiled, loop, sum(each.span_s for each in loop.profiled), overlaps=overlaps)


def _fetching(stamped: Maybe[float], loop: Loop, window: WindowShare | None) -> Maybe[float]:
    """Return the wait without the call of the step, which a scan's stamps count: the window tells the two apart.

    Between the end of one step and the start of the next a scan also calls its function (measured: 0.3 ms a step).
    """
    meanwhile = _meanwhile(loop, overlaps=loop.record.overlaps)
    if loop.record.kind != "scan" or window is None or isinstance(window.input_share, Missing):
        return stamped
    if isinstance(stamped, Missing) or isinstance(meanwhile, Missing):
        return stamped
    return max(0.0, stamped - max(0.0, meanwhile - window.input_share))


def _compared(stamped: Sequence[Maybe[float]], seen: Maybe[float]) -> Maybe[float]:
    """Return the stamps' share to hold against the window's: of the steady steps where they agree, else of those in it or nearer."""
    known = [each for each in stamped if not isinstance(each, Missing)]
    if not known or isinstance(seen, Missing):
        return Missing("one method only")
    agreeing = (each for each in known if abs(each - seen) <= SAME)
    return next(agreeing, min(known, key=lambda each: abs(each - seen)))


def _agree(stamped: Maybe[float], seen: Maybe[float]) -> Maybe[bool]:
    if isinstance(stamped, Missing) or isinstance(seen, Missing):
        return Missing("one method only")
    return abs(stamped - seen) <= SAME


def _no_window(session: Session, loop: Loop) -> Missing:
    """Return why there is no window."""
    why = [each.reason for each in session.windows if each.process == loop.record.process and each.reason]
    return Missing(why[-1] if why else "no profiler window")


def _shares(waiting: Maybe[float], device: Maybe[float], traced: float, host: float) -> Breakdown:
    """Return shares that add up: what is left after the wait, tracing and the user's Python is TensorFlow's."""
    rest = max(0.0, 1 - either(waiting, 0.0) - traced)
    host = min(rest, host)
    return Breakdown(input=waiting, host=host, tracing=traced, compute=max(0.0, rest - host), device=device)


def _waiting(stamped: Maybe[float], window: WindowShare | None, device: Maybe[float], plane: str) -> Maybe[float]:
    """Return the wait that counts: a window with a device plane outranks stamps; NVML's busy time lowers an upper bound."""
    seen = Missing("no window") if window is None else window.input_share
    if not isinstance(seen, Missing) and (plane == "seen" or isinstance(stamped, Missing)):
        return seen
    if isinstance(stamped, Missing) or isinstance(device, Missing):
        return stamped
    return min(stamped, max(0.0, 1 - device))


def _device(window: WindowShare | None, machine: MachineOverTime | None, plane: str) -> Maybe[float]:
    if window is not None and plane == "seen":
        return window.device_share
    held = _held(machine) if machine is not None and plane != "no device" else ()
    known = [each.busy_share for each in held if not isinstance(each.busy_share, Missing)]
    return max(known) if known else Missing("no GPU at work was seen")


def _held(machine: MachineOverTime) -> Sequence[GpuOverTime]:
    """Return the GPUs at which the run works alone, as far as it is known: another's work says nothing of its steps."""
    own = [each for each in machine.gpus if either(each.own_processes, 1) > 0]
    return [each for each in own if either(each.foreign_processes, 0) == 0]


def _traced(session: Session, loop: Loop, span: float) -> float:
    """Return the share of the steady time in which functions were traced."""
    if span <= 0:
        return 0.0
    spans = tracing_times(session, loop.record.process)
    return min(1.0, sum(overlap(spans, each.start, each.end) for each in loop.steady) / span)


def _sampled(lines: HotLines | None, calls: Calls | None) -> float:
    """Return the share of the user's own Python in the steps, as samples tell it.

    Stacks are sampled between epochs, too, not in validation: what callbacks took there is not the steps', nor is that time.
    """
    found = lines.lines if lines is not None else ()
    ends = sum(each.share for each in found if each.role == "main" and each.function.startswith(BETWEEN_EPOCHS))
    sampled = sum(each.share for each in found if own_work(each))
    between = calls.ends_share if calls is not None else 0.0
    left = max(0.0, between - ends)  # what callbacks called
    return max(0.0, sampled - left) / max(FLOOR, 1 - between)


def own_work(line: HotLine) -> bool:
    """Tell whether a line is work of the user's in the steps."""
    ends = line.function.startswith(BETWEEN_EPOCHS)
    return line.role == "main" and line.activity in HOST_WORK and not ends


def _confidence(
    methods: Sequence[str], agree: Maybe[bool], *, elsewhere: bool, plane: str, steps: int, apart: bool
) -> tuple[float, str]:
    """Return how sure the shares are, and why. `elsewhere`: the steady steps' own share is one method's alone."""
    if not methods:
        return 0.0, "no method saw the wait"
    words = (
        f"two methods agree{ON_PROFILED * elsewhere}"
        if agree is True
        else "methods disagree"
        if agree is False
        else f"one method only ({methods[0]})"
    )
    sure = DISAGREE if agree is False else TWO_METHODS if agree is True and not elsewhere else ONE_METHOD
    if plane in {"closed", "not recorded"}:
        sure = min(sure, NO_DEVICE_PLANE)
        words += f"; device plane {plane}: the wait is an upper bound"
    if steps < ENOUGH_STEPS:
        sure, words = min(sure, FEW_STEPS), f"{words}; only {steps} steady steps"
    if not apart:
        words += "; warm-up not set apart"
    return sure, words
