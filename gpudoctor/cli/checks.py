"""`gpudoctor checks`: every check, by code, with the trials that it weighs and the plug-in that brings it."""

from __future__ import annotations

from gpudoctor.cli.output import emit
from gpudoctor.cli.parser import Arguments
from gpudoctor.codec import dumps, to_builtins
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.registry import Registry
from gpudoctor.present.style import printable


def run(arguments: Arguments) -> int:
    """Print the list."""
    known = registry.load()
    emit(_as_json(known) if arguments.json else _as_text(known), None)
    return 0


def _as_json(known: Registry) -> str:
    checks = [
        {
            "code": each.code,
            "slug": each.slug,
            "title": each.title,
            "family": each.family,
            "causes": list(each.causes),
            "trials": list(each.trials),
            "needs_probe": each.needs_probe,
            "core": each.core,
        }
        for each in known.checks
    ]
    return dumps({"checks": checks, "plugins": [to_builtins(each, {}) for each in known.plugins]}) + "\n"


def _as_text(known: Registry) -> str:
    lines = [
        f"{each.code:<7}{each.slug:<26}{printable(each.title)}{'  (needs the probe)' if each.needs_probe else ''}"
        for each in known.checks
    ]
    for plugin in known.plugins:
        state = f"broken: {plugin.error}" if plugin.error else f"{plugin.checks} checks"
        lines.append(f"plug-in {printable(plugin.name)} ({printable(plugin.module)}): {printable(state)}")
    return "\n".join(lines) + "\n"
