"""What checks of a recorded run share: how sure they are, a place in the user's code, small diffs, and bounds.

A share of time that vanishes bounds the gain (Amdahl); nothing here promises that it can vanish.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.sdk import (
    BROKEN,
    MODERATELY,
    Evidence,
    Gain,
    Grade,
    HotLine,
    Location,
    Missing,
    Pipeline,
    Settings,
    StepPart,
    StepTimes,
    Tracings,
    Trial,
    Weight,
)

TRUST_LEFT_WHERE_BROKEN = 0.8  # policy, as for all remarks about pace: what broke the probe comes first
DOUBT_LEFT_WHERE_SOUND = 0.8  # policy: the probe trains here, so the script itself is left as the reason
CLOSED = frozenset({"closed", "not recorded"})
CLOSED_AT_MOST = 0.6  # policy: without a device plane the wait is an upper bound
EAGER = frozenset({"eager", "gradient", "update"})  # kinds of loops whose steps may be without a graph
# Parts of a step: outside of a function they are called operation by operation
TRAINS = frozenset({"gradient", "update"})
SHOWN = 0.005  # display: less rounds to none
WHOLE = 0.98  # a share above it bounds nothing: 50 times faster is not a promise to make


def weigh_run(static: float, trial: Trial | None, times: StepTimes | None = None) -> Weight:
    """Weigh what a run showed with what the probe did on the same machine; `times`: it rests on their shares."""
    most, basis = 1.0, "seen in the run"
    if times is not None:
        static, basis = min(static, times.confidence), times.basis
        most = CLOSED_AT_MOST if times.device_plane in CLOSED else 1.0
    if trial is not None and trial.status in BROKEN:
        kept = round(static * TRUST_LEFT_WHERE_BROKEN, 3)
        return Weight(confidence=kept, basis=f"{basis}; the probe {trial.status}, which comes first")
    if trial is not None and trial.status == "ok":
        surer = round(1 - (1 - static) * DOUBT_LEFT_WHERE_SOUND, 3)
        return Weight(confidence=min(most, surer), basis=f"{basis}; the probe trains well here")
    return Weight(confidence=min(most, static), basis=basis)


def place(file: str, line: int, snippet: str = "") -> Location | None:
    """Return a location, None where the line is not known."""
    return Location(file=file, line=line, snippet=snippet) if file and line else None


def at(file: str, line: int) -> str:
    """Return a place as short as it stays findable: train.py:41."""
    return f"{file.replace(chr(92), '/').rpartition('/')[2]}:{line}" if file else "?"


def bound(share: float, basis: str) -> Gain:
    """Return the most that the end of a share of the time can bring."""
    return Gain(grade=Grade.BOUND, speedup=round(1 / (1 - min(share, WHOLE)), 2), basis=basis)


def estimate(low: float, high: float, basis: str) -> Gain:
    """Return a gain by a model, between two speed-ups; in its middle, as ratios have it, stands the one that ranks."""
    return Gain(
        grade=Grade.ESTIMATE,
        speedup=round((low * high) ** 0.5, 2),
        low=round(low, 2),
        high=round(high, 2),
        basis=basis,
    )


def percent(label: str, share: float | Missing, source: str = "run") -> tuple[Evidence, ...]:
    """Return a share as evidence, nothing where it is unknown."""
    if isinstance(share, Missing):
        return ()
    return (Evidence(label=label, value=round(share, 3), unit="share", source=source),)


def known_share(share: float | Missing) -> float:
    """Return a share, 0 where it is unknown: unknown time accuses nobody."""
    return 0.0 if isinstance(share, Missing) else share


def hottest_lines(lines: tuple[HotLine, ...]) -> Iterator[Evidence]:
    """Yield the three hottest lines with their share of the time."""
    for each in [each for each in lines if each.share >= SHOWN][:3] or lines[:1]:
        words = f"{each.leaf or each.function} {each.share:.0%} of the time"
        yield Evidence(label=at(each.file, each.line), value=words, source="sampled stacks")


def on_gpu(settings: Settings | None) -> bool:
    """Return whether TensorFlow had a GPU in this run."""
    return settings is not None and settings.number("gpus") > 0


def loop_without_graph(steps: StepTimes, tracings: Tracings | None) -> bool | None:
    """Return whether a loop of the user's own ran operation by operation, None where that is not known."""
    if steps.label != "loop" or steps.kind not in EAGER:
        return False
    if any(each.kind in TRAINS for each in steps.parts):
        return not any(each.kind == "function" for each in steps.parts)
    return None if tracings is None else not tracings.functions


def outside_graph(steps: StepTimes) -> tuple[StepPart, ...]:
    """Return the gradients and updates that Python calls outside of a graph, in steps of which another part is in one."""
    if steps.label != "loop" or not any(each.kind == "function" for each in steps.parts):
        return ()
    return tuple(each for each in steps.parts if each.kind in TRAINS and each.share >= MODERATELY)


def with_argument(snippet: str, method: str, argument: str, of: str = "") -> str:
    """Return a source line with an argument added to the call of a method, '' where the call does not end on the line."""
    start, end = call_span(snippet, method, of)
    if argument.partition("=")[0] in snippet[start:end]:
        return ""
    return f"{snippet[:end]}, {argument}{snippet[end:]}" if start else ""


def with_call(snippet: str, method: str, arguments: str, of: str = "") -> str:
    """Return a source line with other arguments in the call of a method, '' where the call does not end on the line."""
    start, end = call_span(snippet, method, of)
    return f"{snippet[:start]}{arguments}{snippet[end:]}" if start else ""


def call_span(snippet: str, method: str, of: str = "") -> tuple[int, int]:
    """Return where the arguments of a method's call begin and end on the line, zeros where they do not, or it is not known which.

    `of`: what the call is given first, where the method is called several times on the line.
    """
    marks = [found.end() for found in re.finditer(rf"\.{method}\(", snippet)]
    if len(marks) > 1 and of:
        name = re.compile(rf"\s*([\w.]+\.)?{re.escape(of)}\b")
        marks = [each for each in marks if name.match(snippet, each)]
    if not marks or (of and len(marks) > 1):
        return 0, 0
    start, depth = marks[0], 1
    for place_ in range(start, len(snippet)):
        depth += (snippet[place_] in "([{") - (snippet[place_] in ")]}")
        if depth == 0:
            return start, place_
    return 0, 0


def costs_from(pipeline: Pipeline) -> str:
    """Return what tells the costs of a pipeline's stages."""
    few = pipeline.window_batches
    known = f"{few} batches in profiler windows" if few else "tf.data's own model"
    return "call sites" if isinstance(pipeline.batch_s, Missing) else known


def diff(old: str, *new: str) -> str:
    """Return a small diff; an old line that is not known is left out.

    A line that is only the beginning of a statement, and gives its value elsewhere than our words do (`return`), stays: what is
    to be there stands below it, without a name of ours.
    """
    if _goes_on(old) and not _goes_on(new[-1]) and old.partition(" = ")[0] != new[-1].partition(" = ")[0]:
        wanted = new[-1].partition(" = ")[2] or new[-1]
        rows = [f"  {old}", *(f"+ {each}" for each in new[:-1]), f"+ # the statement that begins here: {wanted}"]
        return "\n".join(rows)
    return "\n".join([*([f"- {old}"] if old else []), *(f"+ {each}" for each in new)])


def _goes_on(line: str) -> bool:
    """Return whether a statement goes on behind the line."""
    code = line.partition("#")[0].rstrip()
    return code.endswith("\\") or sum((each in "([{") - (each in ")]}") for each in code) > 0
