"""Entry point: parse, run one sub-command, and be the only place that prints errors and chooses exit codes.

Sub-commands are imported when they run: `--help` must not pay for what it does not use.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.output import flush
from gpudoctor.cli.parser import parse
from gpudoctor.errors import GpudoctorError, UsageError

INTERNAL_ERROR = GpudoctorError.exit_code
SIGNALLED = 128  # what a shell adds to the number of the signal that ended a command
LONG_LIVED = frozenset({"run", "monitor"})  # with signals of their own: for a training, for a terminal to restore
EXAMINES = frozenset({"scan", "env", "probe", "bundle"})  # an interpreter, which is started before the rest is imported
LONGEST_MESSAGE = 500  # a value that is quoted may be a megabyte long


class Ended(KeyboardInterrupt):
    """SIGTERM or SIGHUP: unwinds as Ctrl-C does, so that children and folders of a probe go."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def command() -> NoReturn:
    """Be the installed command: run, then end at once. To take the interpreter down costs 17 ms of a quick scan (measured)."""
    code = main()
    if sys.argv[1:2] and sys.argv[1] in LONG_LIVED:
        sys.exit(code)
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    _open_closed_streams()
    gc.disable()  # what a short life would collect dies with the process (measured: 3 % of a quick scan)
    try:
        return _guarded(words)
    except BrokenPipeError:
        _abandon_stdout()
        return 0
    except Ended as end:
        return _fail(words, f"ended by {signal.Signals(end.number).name}", SIGNALLED + end.number)
    except KeyboardInterrupt:
        return _fail(words, "interrupted", SIGNALLED + signal.SIGINT)
    finally:
        gc.enable()


def _open_closed_streams() -> None:
    """Give each standard stream that the caller closed (`>&-`) a place: a file opened later must not become stdout."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this stream's
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  # for the whole run


def _guarded(words: list[str]) -> int:
    try:
        arguments = parse(words)
        code = 0 if arguments is None else _dispatch(arguments)
        flush()
    except GpudoctorError as error:
        return _fail(words, str(error), error.exit_code)
    except (BrokenPipeError, KeyboardInterrupt, SystemExit):
        raise
    except Exception as error:  # the boundary: a fault of ours has its own exit code and never looks like a finding
        if os.environ.get("GPUDOCTOR_DEBUG"):
            raise
        return _fail(
            words, f"internal error: {type(error).__name__}: {error} (GPUDOCTOR_DEBUG=1 shows where)", INTERNAL_ERROR
        )
    return code


def _end(number: int, _: object) -> None:
    raise Ended(number)


def _dispatch(arguments: Arguments) -> int:
    try:
        os.getcwd()  # noqa: PTH109  # no path is wanted, only whether there is one
    except OSError as error:
        raise UsageError("the current folder is gone; cd to one that exists") from error
    if arguments.command in LONG_LIVED:
        gc.enable()
    else:
        for name in ("SIGTERM", "SIGHUP"):
            with suppress(AttributeError, ValueError):  # not on this system, or not in the main thread
                signal.signal(getattr(signal, name), _end)
    if arguments.command in EXAMINES and not (arguments.snapshot or arguments.no_machine):
        import_module("gpudoctor.cli.early").begin(arguments.python)
    module = import_module(f"gpudoctor.cli.{arguments.command}")
    code: int = module.run(arguments)
    return code


def _fail(words: list[str], message: str, code: int) -> int:
    """Say what went wrong, on stderr and as a document where one was asked for; never raises: the code must come out."""
    style = import_module("gpudoctor.present.style")  # messages quote file names, keys and values of others
    with suppress(OSError):
        sys.stderr.write(f"gpudoctor: {style.shorten(message, LONGEST_MESSAGE)}\n")
        sys.stderr.flush()
    try:
        # Behind `run` stdout is the command's, and its words are not ours to read.
        if words[:1] != ["run"] and any(word.startswith(("--json", "--format")) for word in words):
            import_module("gpudoctor.cli.failure").write(words, message, code)
        sys.stdout.flush()
    except (OSError, GpudoctorError):  # stdout is closed or full, and stderr has said what is wrong
        _abandon_stdout()
    return code


def _abandon_stdout() -> None:
    """Give stdout a place to flush to, so that the interpreter's own exit does not complain about the pipe or disk."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
