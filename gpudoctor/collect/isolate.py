"""What can be asked, and how it is asked: one source yields its parts and its answer, or why there is none.

Whatever a source raises is its answer; `gathering` asks several side by side and keeps their deadlines.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Literal, NamedTuple, Protocol, cast

from gpudoctor.model.missing import Missing
from gpudoctor.model.record import dataclass

SOURCE_DEADLINE_S = 3.0  # policy: what only reads answers in milliseconds; a GPU that has to wake takes a second or two
MAX_REASON = 300  # characters of an exception's text that a reason keeps

Answers = Mapping[str, object]


class Message(NamedTuple):
    """One word of a source: a part, at the end its answer or the reason of its failure; "ended": who asked it is gone."""

    kind: Literal["part", "done", "failed", "ended"]
    value: object
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Something to ask. A `collect` that is a generator hands over parts, which survive a later hang or crash.

    It starts when the sources in `after` have answered and receives their values; with one of them missing it is not asked.
    The sources in `then` are asked after it by the same child, which saves a start each; where the child does not survive,
    they get one of their own. `isolated=False`: it runs in this process; only for what can neither hang nor crash.
    """

    name: str
    collect: Callable[[Answers], object]
    deadline_s: float = SOURCE_DEADLINE_S
    after: tuple[str, ...] = ()
    then: tuple[Source, ...] = ()
    isolated: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a source answered: its value or Missing(reason), and the parts that it handed over until then."""

    value: object
    parts: tuple[object, ...] = ()
    duration_s: float = 0.0


class Carrier(Protocol):
    """Runs sources elsewhere and brings their messages."""

    def start(self, source: Source, answers: Answers) -> None:
        """Begin to ask the source."""
        ...

    def receive(self, timeout_s: float) -> Iterable[tuple[str, Message]]:
        """Return the messages that have come, by source name; wait at most so long for the first."""
        ...

    def abandon(self, name: str) -> None:
        """Let go of a source without waiting for it."""
        ...

    def finish(self) -> None:
        """Let go of everything."""
        ...


def blocked_by(source: Source, answers: Answers) -> str:
    """Return why the source cannot be asked: what it needs is missing; '' where nothing is."""
    needs = ((name, answers.get(name, Missing("not asked"))) for name in source.after)
    return next((f"{name}: {value.reason}" for name, value in needs if isinstance(value, Missing)), "")


def told_by(source: Source, answers: Answers) -> Generator[Message, None, None]:
    """Ask the source and then those that follow in the same child."""
    known = dict(answers)
    for each in (source, *source.then):
        blocked = blocked_by(each, known)
        for message in (Message("failed", blocked),) if blocked else messages_of(each, known):
            if message.kind != "part":
                known[each.name] = message.value if message.kind == "done" else Missing(str(message.value))
            yield message._replace(name=each.name)


def messages_of(source: Source, answers: Answers) -> Generator[Message, None, None]:
    """Ask the source; yield its parts and then its answer or its failure."""
    try:
        value = source.collect(answers)
        if isinstance(value, Generator):
            parts = cast("Generator[object, None, object]", value)
            while True:
                try:
                    part = next(parts)
                except StopIteration as stop:
                    value = stop.value
                    break
                yield Message("part", part)
        yield Message("done", value)
    except Exception as error:  # noqa: BLE001  # whatever a source raises is its answer
        yield Message("failed", failure(error))


def failure(error: BaseException) -> str:
    """Return the reason that stands for an exception: one short line."""
    text = " ".join(str(error).split())[:MAX_REASON]
    return f"failed: {type(error).__name__}: {text}" if text else f"failed: {type(error).__name__}"
