"""A step of which only a part is in a tf.function: what GD611 tells of it.

The forward pass alone in a function is common, and looks compiled: its gradient goes through one function, too. But the update of
each variable is then called by Python, operation by operation.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import HIGHLY, Evidence, Finding, Fix, Severity, StepTimes, Weight
from gpudoctor_checks.recorded import at, outside_graph, percent, place


def partly(steps: StepTimes, weight: Weight, fix: Fix) -> Finding:
    """Return the finding; grave where what is not in a graph takes much of the step."""
    left = outside_graph(steps)
    share = min(1.0, sum(each.share for each in left))
    names = " and ".join(dict.fromkeys(f"{each.name} ({at(each.file, each.line)})" for each in left))
    return Finding(
        summary=f"Only part of the step is in a graph: {names} {'is' if len(left) == 1 else 'are'} not.",
        severity=Severity.WARNING if share >= HIGHLY else Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=tuple(_evidence(steps)),
        location=place(left[0].file, left[0].line),
        fixes=(fix,),
        share=share,
    )


def _evidence(steps: StepTimes) -> Iterator[Evidence]:
    for each in outside_graph(steps):
        yield from percent(each.name, each.share)
    inside = next(each for each in steps.parts if each.kind == "function")
    yield Evidence(label="in a graph", value=f"{inside.name} at {at(inside.file, inside.line)}", source="run")
