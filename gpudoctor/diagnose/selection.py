"""Which checks to run: codes, prefixes, slugs and families, as ruff users know it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from gpudoctor.diagnose.registry import AnyCheck
from gpudoctor.errors import UsageError


def select(
    checks: Sequence[AnyCheck], *, chosen: Iterable[str] = (), ignored: Iterable[str] = ()
) -> tuple[AnyCheck, ...]:
    """Return the checks that `chosen` names (all when empty) less those that `ignored` names.

    Raises UsageError for a name that names nothing, with the nearest right one.
    """
    wanted = _named(checks, chosen)
    unwanted = _named(checks, ignored)
    return tuple(each for each in checks if (not wanted or each.code in wanted) and each.code not in unwanted)


def _named(checks: Sequence[AnyCheck], names: Iterable[str]) -> set[str]:
    codes: set[str] = set()
    for name in names:
        hits = {each.code for each in checks if matches(each, name)}
        if not hits:
            raise UsageError(f"no check is called {name!r}{nearest(checks, name)}; `gpudoctor checks` lists them")
        codes |= hits
    return codes


def matches(check: AnyCheck, name: str) -> bool:
    """Return whether a name (code, prefix of one, slug or family) means the check."""
    return check.code.startswith(name.upper()) if name[-1:].isdigit() else name in {check.slug, check.family}


def nearest(checks: Sequence[AnyCheck], name: str) -> str:
    """Return ` (did you mean ...?)` or nothing."""
    known = [word for each in checks for word in (each.code, each.slug, each.family)]
    close = get_close_matches(name.upper(), known, n=1) or get_close_matches(name.lower(), known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
