"""Fold symptoms under their causes and put findings in order: the first without `caused_by` is the primary one.

Of equal severity, what stops all work stands before what only slows it, however deep the latter lies: a GPU that is hot is
not the first trouble of a program that does not reach it. The order of the fixes goes the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpudoctor.knowledge import causes
from gpudoctor.knowledge.rows.causes import CUDA_LIBRARIES
from gpudoctor.model.finding import Finding, Grade, Severity

RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
STOP_IMPORT = frozenset({"numpy2", "protobuf"})  # not even the CPU is used then
UNKNOWN_LAYER = 9  # a third party's own cause stands after those whose place is known


def fold(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings in order of importance, each symptom right after the finding that explains it."""
    ordered = sorted(findings, key=_importance)
    roots = {id(finding): _root_of(finding, ordered) for finding in ordered}
    result: list[Finding] = []
    for finding in ordered:
        if roots[id(finding)] is None:
            result.append(finding)
            result.extend(replace(each, caused_by=finding.code) for each in ordered if roots[id(each)] is finding)
    return tuple(result)


def _importance(finding: Finding) -> tuple[int, bool, float, float, float, str]:
    cost = round(finding.share, 1)  # a tenth more is more; closer ones are decided by how sure they are
    slows = bool(finding.fixes) and all(each.gain.grade is not Grade.UNBLOCKS for each in finding.fixes)
    return (RANK[finding.severity], slows, _place_of(finding.cause), -cost, -finding.confidence, finding.code)


def _place_of(cause: str) -> float:
    """Return the layer; what stops the import goes before the libraries that only a TensorFlow that imports looks for."""
    return min(layer_of(cause), CUDA_LIBRARIES - 0.5) if cause in STOP_IMPORT else layer_of(cause)


def layer_of(cause: str) -> int:
    """Return how deep a cause lies: 0 hardware ... 8 observation."""
    known = causes.cause(cause)
    return UNKNOWN_LAYER if known is None else known.layer


def _root_of(finding: Finding, ordered: Sequence[Finding]) -> Finding | None:
    """Follow the explanations up to a finding that nothing explains."""
    seen = {id(finding)}
    current, root = finding, None
    while (parent := _parent_of(current, ordered, finding.subject)) is not None and id(parent) not in seen:
        seen.add(id(parent))
        current = root = parent
    return root


def _parent_of(finding: Finding, ordered: Sequence[Finding], subject: str) -> Finding | None:
    """Return what explains the finding; never what is about another GPU than the symptom that the walk began with."""
    candidates = (
        each for each in ordered if each is not finding and not (subject and each.subject not in {"", subject})
    )
    return next((each for each in candidates if _explains(each, finding)), None)


def _explains(cause: Finding, symptom: Finding) -> bool:
    """Tell whether one finding explains another: no note, none of another GPU, never a graver one; one cause is one trouble."""
    if cause.subject and symptom.subject and cause.subject != symptom.subject:
        return False
    if cause.severity is Severity.INFO or RANK[cause.severity] > RANK[symptom.severity] or cause.code == symptom.code:
        return False
    if cause.cause == symptom.cause:
        return _importance(cause) < _importance(symptom)
    return causes.explains(cause.cause, symptom.cause)
