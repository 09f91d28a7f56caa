"""`gpudoctor explain CODE|SLUG|CAUSE`: a check's own page, or what is known about a cause and who looks for it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.output import emit
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.registry import AnyCheck, Registry
from gpudoctor.errors import UsageError
from gpudoctor.knowledge import causes
from gpudoctor.sdk import Limits


def run(arguments: Arguments) -> int:
    """Print the page."""
    known = registry.load()
    emit(page(known, arguments.name), None)
    return 0


def page(known: Registry, name: str) -> str:
    """Return the text for a code, slug or cause. Raises UsageError with the nearest right name."""
    checks = known.find(name)
    cause = causes.cause(name)
    if len(checks) == 1 and (cause is None or checks[0].slug == name):
        return _check_page(checks[0])
    if cause is not None:
        return _cause_page(cause, checks)
    if checks:
        return _check_page(checks[0])
    raise UsageError(f"nothing is called {name!r}{_nearest(known, name)}; `gpudoctor checks` lists all checks")


def _check_page(check: AnyCheck) -> str:
    facts = [
        f"{need.fact.__name__}{' (optional)' if need.optional else ''}"
        for need in check.needs
        if not need.trial and need.fact is not Limits
    ]
    lines = [
        check.page,
        "",
        f"Name     {check.code} {check.slug}",
        f"Causes   {', '.join(check.causes)}",
        f"Facts    {', '.join(facts) or 'none'}",
        f"Trials   {', '.join(check.trials) or 'none'}",
        *_thresholds(check),
    ]
    return "\n".join(lines) + "\n"


def _thresholds(check: AnyCheck) -> Iterator[str]:
    """Yield what the configuration may move, as it would stand there."""
    if not check.thresholds:
        return
    yield from ("", "Thresholds, to be moved in gpudoctor.toml (defaults shown)", f"  [rules.{check.code}]")
    for each in check.thresholds:
        yield f"  {each.name} = {each.default}  # {each.bounds}{each.unit and f' {each.unit}'}"
        yield f"      {each.meaning}"
        yield f"      ({each.source})"


def _cause_page(cause: causes.Cause, checks: tuple[AnyCheck, ...]) -> str:
    lines = [f"{cause.id}: {cause.title}", "", f"Settled by  {', '.join(cause.settled_by)}"]
    if cause.explains:
        lines.append(f"Explains    {', '.join(cause.explains)}")
    lines.append(f"Checks      {', '.join(f'{each.code} {each.slug}' for each in checks) or 'none yet'}")
    if checks:
        lines += ["", f"Read on: `gpudoctor explain {checks[0].code}`"]
    return "\n".join(lines) + "\n"


def _nearest(known: Registry, name: str) -> str:
    words = [word for each in known.checks for word in (each.code, each.slug)] + [each.id for each in causes.CAUSES]
    close = get_close_matches(name, words, n=1) or get_close_matches(name.upper(), words, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
