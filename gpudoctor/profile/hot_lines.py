"""The user's lines that held the loop or the pipeline, from sampled stacks.

Weights are seconds between samples, so shares stay right where the sampler was starved by code that holds the GIL.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from gpudoctor.model.missing import Missing
from gpudoctor.model.run import Blocked, HotLine, HotLines
from gpudoctor.model.sampled import StackLine
from gpudoctor.model.session import Session
from gpudoctor.profile.loop_bodies import line_of_work
from gpudoctor.profile.steps import Loop

MOST = 20
LEAST = 0.1  # of the sampled time is left, however long the gaps were
OF_ANYTHING = frozenset({"float", "int", "bool"})  # what takes a text as well as a tensor
Read = Callable[[str, int], str]  # a line of a source file, '' where it cannot be read


def hot_lines(session: Session, loop: Loop, read: Read) -> HotLines | Missing:
    """Return the lines of the process that ran the main loop, largest first."""
    process, steps, loop_s = loop.record.process, loop.steps, loop.total_s
    sampled = sum(each.duration_s for each in session.bursts if each.process == process)
    if sampled <= 0:
        return Missing("stacks were not sampled")
    everything = [each for each in session.stack_lines if each.process == process and each.weight_s > 0]
    asked = {(each.file, each.line) for each in session.syncs if each.process == process}
    told = [_unless_of_text(each, asked) for each in everything if not _is_gap(each, loop)]
    rows = _at_work(told)
    sampled = max(sampled - sum(each.weight_s for each in everything if _is_gap(each, loop)), sampled * LEAST)
    lines = [
        HotLine(
            file=each.file,
            line=each.line,
            function=each.function,
            role=each.role,
            activity=each.activity,
            leaf=each.leaf,
            share=min(1.0, each.weight_s / sampled),
            snippet=read(each.file, each.line),
        )
        for each in sorted(rows, key=lambda each: -each.weight_s)[:MOST]
    ]
    blocked = [
        Blocked(
            file=each.file,
            line=each.line,
            per_step=each.count / max(1, steps),
            share=min(1.0, each.seconds_s / loop_s) if loop_s > 0 else 0.0,
        )
        for each in session.syncs
        if each.process == process
    ]
    return HotLines(
        lines=tuple(lines), sampled_s=sampled, blocked=tuple(sorted(blocked, key=lambda each: -each.share)[:MOST])
    )


def _unless_of_text(line: StackLine, asked: Collection[tuple[str, int]]) -> StackLine:
    """Return a call of float() or int() as plain Python where its line never asked a tensor: texts become numbers, too."""
    numbers = line.activity == "sync" and line.leaf in OF_ANYTHING and (line.file, line.line) not in asked
    return replace(line, activity="python") if numbers else line


def _at_work(rows: Sequence[StackLine]) -> list[StackLine]:
    """Return the rows with a loop's head in place of which its body worked, those of one line as one."""
    found: dict[tuple[str, int, str, str, str, str], StackLine] = {}
    for each in rows:
        own = each.activity == "python" and not each.leaf
        line = line_of_work(each.file, each.line) if own else each.line
        key = (each.file, line, each.function, each.role, each.activity, each.leaf)
        before = found.get(key, replace(each, weight_s=0.0, samples=0))
        found[key] = replace(
            each, line=line, weight_s=before.weight_s + each.weight_s, samples=before.samples + each.samples
        )
    return list(found.values())


def _is_gap(line: StackLine, loop: Loop) -> bool:
    """Tell whether Python itself was at work: on the loop's own line it collects garbage (of graphs: seconds, measured)."""
    own = (line.file, line.line) == (loop.record.file, loop.record.line)
    return line.role == "main" and line.activity == "python" and not line.leaf and own
