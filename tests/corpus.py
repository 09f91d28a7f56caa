"""The corpus of public threads: each folder `fixtures/machines/forum-*` judged as `gpudoctor log` and `scan` judge it.

`python -m tests.corpus` prints the scores. `expected.toml`: `cause` ('' where it is none of ours: another maker's GPU), `first_fix` (ids, any of them), `must_not_advise`
(expressions that no fix may match), `also` (a cause that must be among the findings), `batch` (which collection; the later
ones were met only after the rules for the earlier ones stood), or `exempt` with the reason why no text or fact can settle it.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gpudoctor.cli.configuration import read_toml
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.from_text import judge_text
from gpudoctor.diagnose.registry import AnyCheck
from gpudoctor.model.finding import Finding
from gpudoctor.model.report import Report
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import load_machine

FOLDER = Path(__file__).parents[1] / "fixtures" / "machines"
HANDED = "handed"
NOISE = "harmless-line"  # told as such beside any text, and no cause
SURE = 0.8  # a wrong answer above this would be believed


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """One public thread: the machine, whether it has a text, and what the right answer is."""

    name: str
    folder: Path
    cause: str
    first_fix: tuple[str, ...]
    must_not_advise: tuple[str, ...]
    exempt: str
    also: str
    batch: str

    @property
    def has_text(self) -> bool:
        """Return whether there is a text of a run, or facts that somebody stated."""
        return (self.folder / "run.log").is_file() or '"stated"' in (self.folder / "snapshot.json").read_text("utf-8")

    def snapshot(self) -> Snapshot:
        """Return the machine."""
        return load_machine(self.folder)


def threads() -> tuple[Thread, ...]:
    """Return all threads, by name."""
    return tuple(_read(folder) for folder in sorted(FOLDER.glob("forum-*")))


def _read(folder: Path) -> Thread:
    told = read_toml(folder / "expected.toml")
    return Thread(
        name=folder.name,
        folder=folder,
        cause=told["cause"],
        first_fix=tuple(told.get("first_fix", ())),
        must_not_advise=tuple(told["must_not_advise"]),
        exempt=told.get("exempt", ""),
        also=told.get("also", ""),
        batch=told.get("batch", HANDED),
    )


def judged(snapshot: Snapshot, checks: tuple[AnyCheck, ...], *, text: bool) -> Report:
    """Return the report of a text, or of the facts alone."""
    return judge_text(snapshot, checks) if text else diagnose(snapshot, checks, level="quick")


def primary(report: Report) -> Finding | None:
    """Return the first finding that nothing explains."""
    return next((each for each in report.findings if each.caused_by is None), None)


def mistakes(thread: Thread, report: Report) -> list[str]:
    """Return what is wrong with the answer; nothing for a right one."""
    found = primary(report)
    wrong = [
        f"advises {fix.id} against {pattern!r}"
        for fix in report.fixes
        for pattern in thread.must_not_advise
        if re.search(pattern, f"{fix.id}\n{fix.title}\n{fix.text}")
    ]
    if thread.exempt or (not thread.cause and found is not None and found.cause == NOISE):
        return wrong
    if (found.cause if found is not None else "") != thread.cause:
        wrong.append(f"cause {found.cause if found is not None else 'none'}, not {thread.cause or 'none'}")
    if thread.also and not any(each.cause == thread.also for each in report.findings):
        wrong.append(f"does not tell of {thread.also}")
    first = report.fixes[0].id if report.fixes else "none"
    if first not in (thread.first_fix or ("none",)):
        wrong.append(f"first fix {first}, not {' or '.join(thread.first_fix)}")
    return wrong


def without_family(checks: Iterable[AnyCheck], cause: str) -> tuple[AnyCheck, ...]:
    """Return the checks as if nobody had known that cause: those that name it only are gone, the others never say it."""

    def muted(check: AnyCheck) -> AnyCheck:
        judge = check.judge

        def quiet(*args: Any, **kwargs: Any) -> Any:
            return (each for each in judge(*args, **kwargs) if (each.cause or check.causes[0]) != cause)

        return replace(check, judge=quiet)

    return tuple(muted(each) for each in checks if set(each.causes) != {cause})


def left_out(all_threads: Iterable[Thread], checks: tuple[AnyCheck, ...]) -> Counter[str]:
    """Return, over all families, how the cases of one are answered without its rules: nothing, unsure, or sure and wrong."""
    answers: Counter[str] = Counter()
    for thread in all_threads:
        if thread.exempt:
            continue
        report = judged(thread.snapshot(), without_family(checks, thread.cause), text=thread.has_text)
        found = primary(report)
        answers["silent" if found is None else "unsure" if found.confidence < SURE else "sure"] += 1
    return answers


def main() -> None:
    """Print the scores."""
    checks = registry.load().checks
    everything = threads()
    required = [each for each in everything if not each.exempt]
    wrong = {each.name: mistakes(each, judged(each.snapshot(), checks, text=each.has_text)) for each in everything}
    for name, why in wrong.items():
        if why:
            sys.stdout.write(f"{name}: {'; '.join(why)}\n")
    right = sum(not wrong[each.name] for each in required)
    families = {each.cause for each in required}
    worst = min(_rate([each for each in required if each.cause != family], wrong) for family in families)
    answers = left_out(everything, checks)
    for batch in dict.fromkeys(each.batch for each in sorted(required, key=lambda each: each.batch)):
        own = [each for each in required if each.batch == batch]
        sys.stdout.write(f"{batch}: {sum(not wrong[each.name] for each in own)} of {len(own)}\n")
    sys.stdout.write(
        f"cases {len(everything)}, exempt {len(everything) - len(required)}\n"
        f"right {right} of {len(required)} (cause, first fix, nothing forbidden)\n"
        f"leave one family out: worst score on the others {worst:.3f}; its own cases without its rules: "
        f"{answers['silent']} silent, {answers['unsure']} unsure, {answers['sure']} sure of another cause\n"
    )


def _rate(some: list[Thread], wrong: dict[str, list[str]]) -> float:
    return sum(not wrong[each.name] for each in some) / len(some)


if __name__ == "__main__":
    main()
