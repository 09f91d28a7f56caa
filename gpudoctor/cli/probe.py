"""`gpudoctor probe`: train the reference network and print what each trial measured, without judging the machine."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

from gpudoctor.cli import configuration
from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.examine import examined
from gpudoctor.cli.output import emit
from gpudoctor.codec import dumps, to_builtins
from gpudoctor.errors import UsageError
from gpudoctor.model.observed import Probe
from gpudoctor.present import trials as trials_text
from gpudoctor.probe.plan import at_level
from gpudoctor.probe.runner import KNOWN_TRIALS

BROKEN = frozenset({"failed", "crashed", "timeout", "oom"})


def run(arguments: Arguments) -> int:
    """Run the trials; exit 1 when one of them showed a fault."""
    level = arguments.level or "standard"
    chosen = tuple(dict.fromkeys(_known(name) for name in arguments.trial)) or at_level(level)
    settings = configuration.load(folder=Path.cwd(), environ=os.environ)
    result = examined(arguments, settings, (), level=level, trials=chosen, announce=not arguments.json)
    probe = result.snapshot.probe
    if probe is None:
        raise UsageError(f"the probe could not run: {result.snapshot.missing.get('probe', 'unknown reason')}")
    emit(_as_json(probe) if arguments.json else trials_text.render(probe, verbose=arguments.verbose), None)
    return 1 if any(trial.status in BROKEN for trial in probe.trials.values()) else 0


def _known(name: str) -> str:
    if name in KNOWN_TRIALS:
        return name
    close = get_close_matches(name, KNOWN_TRIALS, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(KNOWN_TRIALS)}"
    raise UsageError(f"no trial is called {name!r}; {hint}")


def _as_json(probe: Probe) -> str:
    missing: dict[str, str] = {}
    document = to_builtins(probe, missing)
    return dumps({"schema_version": 1, "probe": document, "missing": missing}) + "\n"
