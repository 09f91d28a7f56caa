"""Lay configured thresholds over the checks that declare them; a mistake is told with what would be right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from gpudoctor.diagnose.registry import AnyCheck, Registry
from gpudoctor.diagnose.selection import nearest
from gpudoctor.errors import UsageError
from gpudoctor.model.threshold import Limits, Threshold

Moved = Mapping[str, Mapping[str, Any]]  # by code, then by name: the values as the configuration has them


def tuned(known: Registry, moved: Moved) -> Registry:
    """Return the registry with these thresholds in force.

    Raises UsageError for a code, a name or a value that does not fit, before anything is examined.
    """
    codes = {each.code for each in known.checks}
    for code in moved:
        if code not in codes:
            raise no_such(known, code)
    if not moved:
        return known
    return replace(known, checks=tuple(_tuned(each, moved.get(each.code, {})) for each in known.checks))


def no_such(known: Registry, code: str) -> UsageError:
    """Return the error for a rule that no check's code fits, with the code where it is a check's name."""
    named = next((each.code for each in known.checks if each.slug == code.lower()), "")
    if named:
        return UsageError(f"rules.{code}: rules go by the check's code: write [rules.{named}]")
    return UsageError(f"rules.{code}: no check has this code{nearest(known.checks, code)}")


def _tuned(check: AnyCheck, moved: Mapping[str, Any]) -> AnyCheck:
    if not moved:
        return check
    by_name = {each.name: each for each in check.thresholds}
    for name, value in moved.items():
        if name not in by_name:
            raise UsageError(f"rules.{check.code}: {_unknown(name, tuple(by_name))}")
        if not by_name[name].takes(value):
            raise UsageError(f"rules.{check.code}.{name} must be {_wanted(by_name[name])}, not {value!r:.80}")
    return replace(check, limits=Limits(moved=dict(moved)))


def _unknown(name: str, known: tuple[str, ...]) -> str:
    words = ("severity", *known)
    close = get_close_matches(name, words, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(words)}"
    return f"unknown key {name!r:.80}; {hint}"


def _wanted(threshold: Threshold) -> str:
    kind = "a whole number" if threshold.whole else "a number"
    unit = f" ({threshold.unit})" if threshold.unit else ""
    return f"{kind}{unit} {threshold.bounds}"
