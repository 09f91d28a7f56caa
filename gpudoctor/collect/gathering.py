"""Ask sources side by side, each under its own deadline: one that hangs, crashes or raises becomes Missing(reason).

Each source runs in a child forked from this warm process, for a driver call stuck in the kernel ends with nothing but the
machine: such a child is killed and then abandoned, never waited for. Threads or `multiprocessing` would be less code; but
a crash in a thread takes this process along, and a pool joins its workers at exit. Threads serve only where there is no
fork, or where other threads already run (a fork could copy a held lock): a program with threads gathers before it starts them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from time import monotonic

from gpudoctor.collect.isolate import Answers, Carrier, Message, Outcome, Source, blocked_by, messages_of, told_by
from gpudoctor.model.missing import Missing


class _Asked:
    """A source that is being asked. `head`: the one that its child was started for; `rest`: what that child asks next."""

    __slots__ = ("head", "parts", "rest", "source", "started")

    def __init__(self, source: Source, head: str = "", rest: tuple[Source, ...] = ()) -> None:
        self.source, self.head, self.rest = source, head or source.name, rest
        self.started = monotonic()
        self.parts: list[object] = []

    @property
    def left_s(self) -> float:
        return self.started + self.source.deadline_s - monotonic()

    def ended(self, value: object) -> Outcome:
        return Outcome(value=value, parts=tuple(self.parts), duration_s=round(monotonic() - self.started, 4))


class Gathering:
    """Sources that are being asked. The children work while this process does something else before `finish`."""

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        on_done: Callable[[str, Outcome], None] | None = None,
        carrier: Carrier | None = None,
    ) -> None:
        self._pending, self._asked = list(sources), dict[str, _Asked]()
        self._outcomes: dict[str, Outcome] = {}
        self._on_done, self._carrier = on_done, carrier or _carrier()
        self._start()

    def finish(self) -> dict[str, Outcome]:
        """Return by name what each source answered; wait for it until its deadline, which runs since its start."""
        try:
            while self._pending or self._asked:
                for name, outcome in _progress(self._pending, self._asked, self._carrier):
                    self._end(name, outcome)
                self._start()
        finally:
            self.abandon()
        return self._outcomes

    def abandon(self) -> None:
        """Let go of all that has not answered."""
        self._carrier.finish()

    def _start(self) -> None:
        while ended := _start_ready(self._pending, self._asked, self._outcomes, self._carrier):
            for name, outcome in ended:
                self._end(name, outcome)

    def _end(self, name: str, outcome: Outcome) -> None:
        self._outcomes[name] = outcome
        if self._on_done is not None:
            self._on_done(name, outcome)


def gather(
    sources: Sequence[Source],
    *,
    on_done: Callable[[str, Outcome], None] | None = None,
    carrier: Carrier | None = None,
) -> dict[str, Outcome]:
    """Ask all sources; return by name what each answered. Never raises for a source, never outlasts its deadline."""
    return Gathering(sources, on_done=on_done, carrier=carrier).finish()


def _start_ready(
    pending: list[Source], asked: dict[str, _Asked], outcomes: Mapping[str, Outcome], carrier: Carrier
) -> list[tuple[str, Outcome]]:
    """Start what can start, the children before what runs here; return what has ended by that."""
    ended: list[tuple[str, Outcome]] = []
    ready = [each for each in pending if all(name in outcomes for name in each.after)]
    if not ready and not asked:
        ready = list(pending)  # needs that nobody brings: said as missing below
    pending[:] = [each for each in pending if each not in ready]
    for source in sorted(ready, key=lambda each: not each.isolated):
        answers = {name: outcomes[name].value if name in outcomes else Missing("not asked") for name in source.after}
        blocked = blocked_by(source, answers)
        if blocked:
            ended.append((source.name, Outcome(value=Missing(blocked))))
            pending += source.then
        elif source.isolated:
            try:
                asked[source.name] = _Asked(source, rest=source.then)
                carrier.start(source, answers)
            except OSError as error:  # no more processes or files for this user
                ended.append((source.name, asked.pop(source.name).ended(Missing(f"failed: {error}"))))
                pending += source.then
        else:
            ended.append((source.name, _ask_here(source, answers)))
    return ended


def _ask_here(source: Source, answers: Answers) -> Outcome:
    here = _Asked(source)
    last = Message("failed", "no answer")
    for last in messages_of(source, answers):
        if last.kind == "part":
            here.parts.append(last.value)
    return here.ended(last.value if last.kind == "done" else Missing(str(last.value)))


def _progress(pending: list[Source], asked: dict[str, _Asked], carrier: Carrier) -> list[tuple[str, Outcome]]:
    """Take what has come, give up what is over its deadline; return what has ended by that."""
    ended: list[tuple[str, Outcome]] = []
    if not asked:
        return ended
    for teller, message in carrier.receive(max(0.0, min(each.left_s for each in asked.values()))):
        name = teller if teller in asked else next((each for each in asked if asked[each].head == teller), "")
        if not name:
            continue
        if message.kind == "part":
            asked[name].parts.append(message.value)
            continue
        told = asked.pop(name)
        ended.append((name, told.ended(message.value if message.kind == "done" else Missing(str(message.value)))))
        if message.kind != "ended" and told.rest:
            asked[told.rest[0].name] = _Asked(told.rest[0], told.head, told.rest[1:])
        else:
            carrier.abandon(told.head)
            pending += told.rest
    for name in [name for name, each in asked.items() if each.left_s <= 0]:
        late = asked.pop(name)
        carrier.abandon(late.head)
        pending += late.rest
        ended.append((name, late.ended(Missing(f"timeout after {late.source.deadline_s:g} s"))))
    return ended


def _carrier() -> Carrier:
    threading = sys.modules.get("threading")
    alone = threading is None or threading.active_count() == 1
    if hasattr(os, "fork") and alone:
        from gpudoctor.collect.isolate_fork import Forks  # noqa: PLC0415  # only one of the two is ever needed

        return Forks(told_by)
    from gpudoctor.collect.isolate_threads import Threads  # noqa: PLC0415  # see above

    return Threads(told_by)
