"""`gpudoctor monitor`: the dashboard on a terminal; elsewhere, and with --once, one reading as text, JSON or CSV.

Textual is loaded only for the dashboard: `--once` is what scripts call every few seconds.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gpudoctor.cli.arguments import Arguments
from gpudoctor.errors import UsageError

if TYPE_CHECKING:
    from gpudoctor.cli.configuration import Settings
    from gpudoctor.tui.options import Options


def run(arguments: Arguments) -> int:
    """Show the dashboard, or print one reading."""
    piped = not all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))  # Textual draws on stderr
    piped = piped or os.environ.get("TERM") == "dumb"  # it can move no cursor
    once = arguments.once or arguments.json or arguments.csv
    _refuse_nonsense(arguments, drawn=not once and (not piped or bool(arguments.screenshot)))
    if arguments.screenshot:
        _check_picture(arguments.screenshot)
    root = os.environ.get("GPUDOCTOR_SYSROOT") or "/"
    if once or (piped and not arguments.screenshot):
        if not once:
            sys.stderr.write(
                "gpudoctor: not a terminal, so one reading instead of the dashboard (--once says the same)\n"
            )
        return _once(arguments, root)
    from gpudoctor.tui.start import start  # noqa: PLC0415  # Textual, which nothing else may load

    return start(_options(arguments, root), arguments.screenshot)


def _check_picture(path: str) -> None:
    """Raise UsageError where the name of the picture cannot hold one."""
    from gpudoctor.cli.promise import keep_promise  # noqa: PLC0415  # --once makes no picture

    if path == "-":
        raise UsageError("--screenshot -: a picture is not written to stdout; choose a file")
    keep_promise(path, (".svg",), what="a picture is an SVG", option="--screenshot")


def _once(arguments: Arguments, root: str) -> int:
    form = "json" if arguments.json else "csv" if arguments.csv else "text"
    if arguments.demo:
        from gpudoctor.tui.once_demo import print_demo  # noqa: PLC0415  # --once of a machine does not need it

        sys.stderr.write("gpudoctor: --demo: the figures are those of an invented machine\n")
        return print_demo(form)
    from gpudoctor.tui.once import print_once  # noqa: PLC0415  # the dashboard does not need it

    return print_once(root, form=form, identifiers=arguments.include_identifiers)


def _options(arguments: Arguments, root: str) -> Options:
    from gpudoctor.cli import configuration  # noqa: PLC0415  # --once judges nothing, so it reads no settings
    from gpudoctor.cli.sessions import path_of  # noqa: PLC0415
    from gpudoctor.profile.record import default_folder, spool_folder  # noqa: PLC0415
    from gpudoctor.profile.spool import Spool  # noqa: PLC0415
    from gpudoctor.tui.options import Options  # noqa: PLC0415

    settings = configuration.load(folder=Path.cwd(), environ=os.environ)
    if arguments.snapshot:
        _check_snapshot(arguments.snapshot)
    session = path_of(arguments.session) if arguments.session else None
    over = session is not None and not Spool(spool_folder(session)).owner_alive()
    return Options(
        root=root,
        interval_s=arguments.interval,
        theme=arguments.theme,
        readonly=arguments.readonly,
        python=arguments.python or settings.python,
        judging=_judging(settings),
        snapshot=arguments.snapshot,
        demo=arguments.demo,
        session=None if session is None else str(session.absolute()),
        over=over,
        script=_command(arguments),
        sessions=default_folder(),
        view=arguments.view or ("run" if session is not None or arguments.script else "machine"),
    )


def _check_snapshot(path: str) -> None:
    """Raise what is wrong with the snapshot: the screen that shows it could only wait for it."""
    from gpudoctor.examine.saved import read_snapshot  # noqa: PLC0415  # a live machine needs none

    if path == "-":
        raise UsageError("--snapshot -: the dashboard takes keys from the terminal; save the snapshot in a file")
    read_snapshot(path)


def _command(arguments: Arguments) -> tuple[str, ...]:
    """Return the command to start. Raises UsageError where there is no such command: the screen must not hide it."""
    if not arguments.script:
        return ()
    if sys.platform == "win32":
        raise UsageError("to start a run needs Linux (or WSL)")
    from gpudoctor.collect.target import choose_target  # noqa: PLC0415  # only where the command names no interpreter
    from gpudoctor.profile import command  # noqa: PLC0415

    return tuple(
        command.completed(
            arguments.script,
            lambda: str(choose_target(arguments.python, environ=os.environ, folder=Path.cwd()).executable),
        )
    )


def _judging(settings: Settings) -> tuple[str, ...]:
    """Return the settings that choose checks, severities and thresholds, as the words that the examiner takes: one answer at all doors."""
    words = [f"--select={each}" for each in settings.select] + [f"--ignore={each}" for each in settings.ignore]
    words += [f"--severity={code}={each.value}" for code, each in settings.severities.items()]
    moved = [(code, name, value) for code, rule in settings.thresholds.items() for name, value in rule.items()]
    return (*words, *(f"--threshold={code}={name}={value!r}" for code, name, value in moved))


def _refuse_nonsense(arguments: Arguments, *, drawn: bool) -> None:
    """Raise UsageError for options that exclude each other, and for those that only the dashboard understands."""
    if arguments.json and arguments.csv:
        raise UsageError("--json and --csv exclude each other")
    named = {
        "--snapshot": arguments.snapshot,
        "--demo": arguments.demo,
        "--session": arguments.session,
        "a command": arguments.script,
    }
    chosen = [name for name, value in named.items() if value]
    if len(chosen) > 1:
        raise UsageError(f"{chosen[0]} and {chosen[1]} exclude each other")
    cures = {
        "--snapshot": "use `gpudoctor scan --snapshot FILE`",
        "--session": "use `gpudoctor report SESSION`",
        "a command": "use `gpudoctor run -- COMMAND`",
    }
    if not drawn and chosen and chosen[0] in cures:
        raise UsageError(f"one reading is of this machine, and {chosen[0]} needs the dashboard; {cures[chosen[0]]}")
