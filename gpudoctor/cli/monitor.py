"""`gpudoctor monitor`: the dashboard on a terminal; elsewhere, and with --once, one reading as text, JSON or CSV.

Textual is loaded only for the dashboard: `--once` is what scripts call every few seconds.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gpudoctor.cli.parser import Arguments
from gpudoctor.errors import UsageError

if TYPE_CHECKING:
    from gpudoctor.cli.configuration import Settings


def run(arguments: Arguments) -> int:
    """Show the dashboard, or print one reading."""
    _refuse_nonsense(arguments)
    root = os.environ.get("GPUDOCTOR_SYSROOT") or "/"
    piped = not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))  # Textual draws on stderr
    if arguments.once or arguments.json or arguments.csv or (piped and not arguments.screenshot):
        if piped and not (arguments.once or arguments.json or arguments.csv):
            sys.stderr.write(
                "gpudoctor: not a terminal, so one reading instead of the dashboard (--once says the same)\n"
            )
        from gpudoctor.tui.once import print_once  # noqa: PLC0415  # the dashboard does not need it

        form = "json" if arguments.json else "csv" if arguments.csv else "text"
        return print_once(root, form=form, identifiers=arguments.include_identifiers)
    from gpudoctor.cli import configuration  # noqa: PLC0415  # --once judges nothing, so it reads no settings
    from gpudoctor.tui.start import start  # noqa: PLC0415  # Textual, which nothing else may load

    settings = configuration.load(folder=Path.cwd(), environ=os.environ)
    return start(
        root=root,
        interval_s=arguments.interval,
        theme=arguments.theme,
        readonly=arguments.readonly,
        python=arguments.python or settings.python,
        judging=_judging(settings),
        snapshot=arguments.snapshot,
        demo=arguments.demo,
        screenshot=arguments.screenshot,
    )


def _judging(settings: Settings) -> tuple[str, ...]:
    """Return the settings that choose checks and severities, as the words that the examiner takes: one answer at all doors."""
    words = [f"--select={each}" for each in settings.select] + [f"--ignore={each}" for each in settings.ignore]
    return (*words, *(f"--severity={code}={each.value}" for code, each in settings.severities.items()))


def _refuse_nonsense(arguments: Arguments) -> None:
    if arguments.json and arguments.csv:
        raise UsageError("--json and --csv exclude each other")
    if arguments.snapshot and arguments.demo:
        raise UsageError("--snapshot and --demo exclude each other")
    if (arguments.once or arguments.json or arguments.csv) and (arguments.snapshot or arguments.demo):
        raise UsageError("--once reads this machine; for a saved one use `gpudoctor scan --snapshot FILE`")
