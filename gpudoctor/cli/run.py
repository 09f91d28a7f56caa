"""`gpudoctor run`: run the user's command as it is, record its training beside it, and report at the end.

The exit code is the command's own. Nothing of ours may stand between the command and that: a recording that cannot be made
is said in a sentence, and the command runs all the same.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from gpudoctor import __version__
from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.output import check_place
from gpudoctor.diagnose.gate import EXIT_CLEAN, EXIT_FINDINGS, counts
from gpudoctor.errors import OutputError, UsageError
from gpudoctor.profile import command as commands
from gpudoctor.profile import placing
from gpudoctor.profile.record import SUFFIX, SessionWriter, default_folder

if TYPE_CHECKING:
    from gpudoctor.collect.target import Target


def run(arguments: Arguments) -> int:
    """Run it and return its exit code."""
    if sys.platform == "win32":
        raise UsageError("`gpudoctor run` needs Linux (or WSL); use `gpudoctor scan` on Windows")
    if not arguments.script:
        raise UsageError("nothing to run; for example `gpudoctor run -- python train.py`")
    _check_rules()
    target = _target(arguments) if commands.names_no_interpreter(arguments.script) else None
    try:
        command = commands.completed(arguments.script, lambda: str(target.executable) if target is not None else "")
    except commands.NotRunnableError as error:
        sys.stderr.write(f"gpudoctor: {error}\n")
        return error.exit_code
    if commands.is_off(os.environ):
        _become(command)
    return _recorded(arguments, command, target.chosen_by if target is not None else "")


def _check_rules() -> None:
    """Tell a mistake in the configuration before the command is started: after its end it would be told too late."""
    from gpudoctor.cli import configuration  # noqa: PLC0415  # most runs have no configuration

    settings = configuration.load(folder=Path.cwd(), environ=os.environ)
    if settings.severities or settings.thresholds:
        from gpudoctor.cli.judging import with_rules  # noqa: PLC0415  # loads all checks
        from gpudoctor.diagnose import registry  # noqa: PLC0415

        with_rules(registry.load(), settings)


def _target(arguments: Arguments) -> Target:
    from gpudoctor.collect.target import choose_target  # noqa: PLC0415  # only where the command names no interpreter

    return choose_target(arguments.python, environ=os.environ, folder=Path.cwd())


def _become(command: Sequence[str]) -> NoReturn:
    from gpudoctor.profile.launch import replace_process  # noqa: PLC0415  # POSIX only

    replace_process(command, os.environ)


def _recorded(arguments: Arguments, command: Sequence[str], chosen_by: str) -> int:
    from gpudoctor.cli.recording import Recording  # noqa: PLC0415  # POSIX only

    if arguments.json_file is not None:
        _check_report_place(arguments.json_file, (arguments.session or "", *command))
    try:
        wanted = _place(arguments)
        writer = _opened(wanted, command, chosen_by)
    except (OSError, sqlite3.Error) as error:
        told = (isinstance(error, OSError) and error.strerror) or error
        why = f"the session cannot be written ({arguments.session or default_folder()}: {told})"
        if arguments.session:
            raise UsageError(f"{why}; name another file with --session") from error
        with suppress(OSError):
            sys.stderr.write(f"gpudoctor: {why}; your command runs without a recording\n")
            sys.stderr.flush()
        _become(command)
    recording = Recording(writer, command, quiet=arguments.quiet, wanted=wanted)
    code = recording.run(_reporter(arguments))
    return code or _gate(arguments, recording.path)


def _check_report_place(path: str, others: Sequence[str]) -> None:
    """Tell before the command starts that its report could not be written. Raises UsageError or OutputError.

    `others`: the session and the words of the command; `run --json train.py train.py` must not replace the script.
    """
    if path == "-":
        return
    if not path:
        raise UsageError("--json '': the name is empty; give a file")
    check_place(path, option="--json")
    place = os.path.realpath(path)
    if any(each and os.path.realpath(each) == place for each in others):
        raise UsageError(f"{path}: the report would replace it; choose another file with --json")


def _opened(wanted: Path, command: Sequence[str], chosen_by: str) -> SessionWriter:
    """Return the session with its first words. Raises OSError or sqlite3.Error."""
    root = Path(os.environ.get("GPUDOCTOR_SYSROOT") or "/")
    writer = SessionWriter(placing.place_for(wanted, lambda path: placing.file_system(path, root)))
    writer.note(
        session=writer.path.name.removesuffix(SUFFIX),
        tool_version=__version__,
        command=list(command),
        folder=str(Path.cwd()),
        chosen_by=chosen_by,
        started_at=time.time(),
        outcome="running",
    )
    return writer


def _place(arguments: Arguments) -> Path:
    if arguments.session == "-":
        raise UsageError("--session -: a session is a database, not a stream; name a file")
    if arguments.session:
        return Path(arguments.session)
    folder = default_folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder / f"{secrets.token_hex(4)}{SUFFIX}"


def _gate(arguments: Arguments, path: Path) -> int:
    """Return 1 where `--fail-on` asks for it; a command that failed by itself is not asked."""
    if arguments.fail_on in {None, "never"} or not path.exists():
        return EXIT_CLEAN
    from gpudoctor.cli import session_report  # noqa: PLC0415  # after the command's end

    made = session_report.report(path)
    found = any(counts(each, arguments.fail_on or "never") for each in made.findings)
    return EXIT_FINDINGS if found else EXIT_CLEAN


def _reporter(arguments: Arguments) -> Callable[[Path], None]:
    def report(path: Path) -> None:
        from gpudoctor.cli import session_report  # noqa: PLC0415  # after the command's end

        if not arguments.quiet:
            with suppress(OSError):
                sys.stderr.write(session_report.rendered(path, "text"))
                sys.stderr.flush()
        if arguments.json_file:
            try:
                session_report.write(path, "json", arguments.json_file, option="--json")
            except OutputError as error:  # the place was there before the command started
                why = str(error).partition("; choose")[0]
                raise OutputError(f"{why}; `gpudoctor report {path} --json -o FILE` writes it elsewhere") from error

    return report
