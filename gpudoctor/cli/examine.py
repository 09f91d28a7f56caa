"""How the command line asks for an examination: its words and settings in, a line about the target and a bar meanwhile."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.configuration import Settings
from gpudoctor.cli.output import emit, flush
from gpudoctor.cli.progress import Bar, bar_on
from gpudoctor.collect.target import Target, choose_target
from gpudoctor.examine.machine import Examined, Judges, Request, examine_here
from gpudoctor.model.words import Level
from gpudoctor.present.headers import target_line
from gpudoctor.present.style import shorten

WIDTH = 80


class _Teller:
    """Tells the terminal."""

    def __init__(self, bar: Bar | None, *, announce: bool) -> None:
        self._bar, self._announce = bar, announce

    def target(self, named: Mapping[str, str]) -> None:
        """Print at once which interpreter it is: a wrong one is seen before the probe trains in it."""
        if self._announce:
            emit(shorten(target_line(named), WIDTH) + "\n", None)
            flush()

    def trial(self, name: str, done: int, total: int, left_s: float) -> None:
        if self._bar is not None:
            self._bar.trial(name, done, total, left_s)


def examined(
    arguments: Arguments,
    settings: Settings,
    checks: Judges,
    *,
    level: Level,
    trials: tuple[str, ...] | None = None,
    announce: bool = False,
    identifiers: bool | None = None,
) -> Examined:
    """Examine this machine. Raises UsageError for an interpreter that cannot be used.

    `announce`: print at once which interpreter it is. `identifiers`: keep them whatever the arguments say.
    """
    root = Path(os.environ.get("GPUDOCTOR_SYSROOT") or "/")
    request = Request(
        target=_target(arguments, settings, root),
        level=level,
        root=root,
        timeout_s=arguments.timeout or settings.timeout,
        force=arguments.force,
        trials=trials,
    )
    kept = arguments.include_identifiers if identifiers is None else identifiers
    with bar_on(sys.stderr) as bar:
        return examine_here(request, checks, _Teller(bar, announce=announce), identifiers=kept)


def _target(arguments: Arguments, settings: Settings, root: Path) -> Target:
    python = arguments.python or settings.python
    target = choose_target(python, environ=os.environ, folder=Path.cwd(), proc=root / "proc")
    if settings.python and not arguments.python:
        return replace(target, chosen_by="--python, from the configuration")  # a project's file chose what is started
    return target
