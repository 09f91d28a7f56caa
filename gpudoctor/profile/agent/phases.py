"""Keras's phases that are open in this process: a fit, its epochs, their ends, validations, evaluate and predict.

Who opens them hooks Keras; who asks whether an epoch is under way need not know of that.
"""

from __future__ import annotations

import _thread
import time
from typing import Any, List, Tuple

from . import core, places, settings, tables

Open = List[Tuple[int, str]]  # number and kind, innermost last


class Entered:
    """A call of `fit`, `evaluate` or `predict` under way: when it was entered, and the phase that it opened, 0 before that.

    Keras prepares its input before it tells of the begin: of a predict() on one sample that is half of its time (measured).
    """

    def __init__(self, kind: str) -> None:
        self.kind, self.at, self.phase = kind, time.time(), 0
        self.thread = _thread.get_ident()


class Phases:
    """The phases that are open, innermost last, the calls that open them, and how many there were."""

    def __init__(self) -> None:
        self.open: Open = []
        self.count = 0
        self.entered: list[Entered] = []
        self.calls = 0


phases = Phases()
core.after_fork.append(lambda: phases.__dict__.update(Phases().__dict__))


def under_way() -> Open:
    """Return the phases that are open now."""
    return list(phases.open)


def inside(kind: str) -> bool:
    """Return whether a phase of this kind is open."""
    return any(each == kind for _, each in phases.open)


def leave_all() -> None:
    """Forget what is open: an exception left it."""
    del phases.open[:]


def enter(kind: str) -> Entered:
    """Note that a call begins."""
    call = Entered(kind)
    phases.calls += 1
    phases.entered.append(call)
    return call


def leave(call: Entered) -> None:
    """Note that a call ends: so does its phase, once more."""
    if call in phases.entered:
        phases.entered.remove(call)
    if call.phase:
        core.emit("phases", phase=call.phase, kind=call.kind, ended_at=time.time())


def _entered_at(kind: str, number: int) -> float:
    """Return when the call of this thread that opens the phase was entered; now where none does."""
    own = [each for each in phases.entered if each.thread == _thread.get_ident()]
    if not own or own[-1].phase or own[-1].kind != kind:
        return time.time()
    own[-1].phase = number
    return own[-1].at


def begin(kind: str, number: int = 0, model: Any = None) -> None:
    """Open a phase."""
    file, line, _, _ = places.here(2)
    subject = settings.of_model(model) if model is not None else ""
    core.quietly(settings.of_thread)
    tables.tables.threads.add(_thread.get_ident())
    phases.count += 1
    phases.open.append((phases.count, kind))
    core.emit(
        "phases",
        phase=phases.count,
        kind=kind,
        number=number,
        subject=subject,
        file=file,
        line=line,
        started_at=_entered_at(kind, phases.count),
    )
    core.ensure_beating()
    core.quietly(tables.tell)


def finish(kind: str) -> None:
    """Close the innermost phase of this kind; what is still open inside was left by an exception."""
    core.quietly(tables.tell)
    place = next((at for at in range(len(phases.open) - 1, -1, -1) if phases.open[at][1] == kind), None)
    if place is not None:
        core.emit("phases", phase=phases.open[place][0], kind=kind, ended_at=time.time())
        del phases.open[place:]
