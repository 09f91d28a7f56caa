"""`gpudoctor checks`: every check, by code, with the command that asks it, its trials and the plug-in that brings it."""

from __future__ import annotations

from collections import Counter

from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.output import emit
from gpudoctor.codec import dumps, to_builtins
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.registry import AnyCheck, Registry
from gpudoctor.present.style import printable

ASKED = {
    "scan": "of a machine, by `scan`, and by `log` where a text or --fact tells what they need",
    "run": "of a recorded training, by `run` and `report`",
    "log": "of a text, by `log` and `scan --log`",
}


def run(arguments: Arguments) -> int:
    """Print the list."""
    known = registry.load()
    emit(_as_json(known) if arguments.json else _as_text(known), None)
    return 0


def asked_by(check: AnyCheck) -> str:
    """Return the kind of command that asks the check: scan, run or log."""
    return "run" if check.needs_run else "log" if check.needs_text else "scan"


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
            "asked_by": asked_by(each),
            "thresholds": [to_builtins(threshold, {}) for threshold in each.thresholds],
        }
        for each in known.checks
    ]
    return dumps({"checks": checks, "plugins": [to_builtins(each, {}) for each in known.plugins]}) + "\n"


def _as_text(known: Registry) -> str:
    column = max((len(each.slug) for each in known.checks), default=0) + 2  # a plug-in's slugs may be long
    lines = [
        f"{each.code:<7}{asked_by(each):<6}{each.slug:<{column}}{printable(each.title)}{'  (needs the probe)' if each.needs_probe else ''}"
        for each in known.checks
    ]
    counts = Counter(asked_by(each) for each in known.checks)
    lines.append("")
    lines += [f"{word:<5} {counts[word]:>3} checks: {ASKED[word]}" for word in ASKED]
    lines.append("A report counts those that its command asked, less those with nothing to judge on this machine.")
    for plugin in known.plugins:
        state = f"broken: {plugin.error}" if plugin.error else f"{plugin.checks} checks"
        lines.append(f"plug-in {printable(plugin.name)} ({printable(plugin.module)}): {printable(state)}")
    return "\n".join(lines) + "\n"
