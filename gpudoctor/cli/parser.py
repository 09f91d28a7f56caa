"""The command line's grammar. An unknown word is answered with the nearest right one."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from itertools import zip_longest
from typing import NoReturn, cast

from gpudoctor import __version__
from gpudoctor.cli import grammar_examine, grammar_lookup, grammar_training
from gpudoctor.cli.arguments import Arguments
from gpudoctor.errors import UsageError

OPTION = re.compile(r"--[a-z][\w-]*")
WITH_VALUE = frozenset({"--python", "--session", "--json", "--fail-on"})  # options of `run` that take a word
NAMES_A_FILE = frozenset(
    {
        "-o",
        "--output",
        "--snapshot",
        "--save-snapshot",
        "--baseline",
        "--write-baseline",
        "--log",
        "--python",
        "--session",
    }
)
DESCRIPTION = "Why TensorFlow does not use your GPU, why it is slow, and which change helps how much."
EPILOG = "Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 usage, 3 expectation not met, 70 internal error."
COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "scan": ("find out what is wrong with this machine", grammar_examine.scan),
    "log": ("say what the text of a run shows: a file, several, or - for stdin", grammar_examine.log),
    "run": ("run a training script, unchanged, and say what makes it slow", grammar_training.run),
    "report": ("print the report of a recorded run", grammar_training.report),
    "sessions": ("list the recorded runs, or delete some", grammar_training.sessions),
    "probe": ("train the reference network and show what it measured", grammar_examine.probe),
    "monitor": ("watch GPUs, host and processes; scan and fix by keys", grammar_training.monitor),
    "env": ("print the environment, ready to paste into an issue", grammar_examine.env),
    "checks": ("list all checks", grammar_lookup.checks),
    "explain": ("explain a check or a cause", grammar_lookup.explain),
    "compare": ("show what changed between two reports or snapshots", grammar_lookup.compare),
    "bundle": ("pack a redacted archive for support", grammar_examine.bundle),
    "config": ("show the settings and where each comes from", grammar_lookup.config),
    "schema": ("print the JSON Schema of a document", grammar_lookup.schema),
}


class Parser(argparse.ArgumentParser):
    """Raises instead of exiting, so that one place prints errors and `--json` keeps its promise."""

    def error(self, message: str) -> NoReturn:
        """Raise the usage error."""
        raise UsageError(f"{message}; see `{self.prog} --help`")


def parse(words: Sequence[str]) -> Arguments | None:
    """Return the arguments; None where --help or --version answered.

    Raises UsageError for anything that is not understood.
    """
    parser = _build()
    if not words:
        if sys.stdin.isatty() and sys.stdout.isatty():
            return Arguments(command="monitor")
        parser.print_help()
        return None
    ours, script = _split(words)
    try:
        arguments, unknown = parser.parse_known_args(ours, namespace=Arguments(script=script))
    except SystemExit:
        return None
    _refuse_empty_names(ours)
    if unknown:
        raise UsageError(f"unknown option {unknown[0]!r}{_nearest(unknown[0], parser, arguments.command)}")
    return arguments


def _refuse_empty_names(words: Sequence[str]) -> None:
    """Refuse `-o ''`, which an unset variable of a shell leaves: to take it for "not given" would write elsewhere."""
    for word, following in zip_longest(words, words[1:], fillvalue="-"):
        name, equals, value = word.partition("=")
        if name in NAMES_A_FILE and (following if not equals else value) == "":
            raise UsageError(f"{name} '': the name is empty; give a file")


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return our words, and those of the command that `run` or `monitor --` starts.

    They begin behind `--`, or with the first that is no option of ours; argparse would take the command's options for ours.
    """
    if words[0] == "monitor" and "--" in words:
        place = words.index("--")
        return list(words[:place]), list(words[place + 1 :])
    if words[0] != "run":
        return list(words), []
    place = 1
    while place < len(words) and words[place].startswith("-") and words[place] not in {"-m", "--"}:
        place += 2 if words[place] in WITH_VALUE else 1
    skipped = place + 1 if words[place : place + 1] == ["--"] else place
    return list(words[:place]), list(words[skipped:])


def _nearest(word: str, parser: argparse.ArgumentParser, command: str) -> str:
    helps = [each.format_help() for each in (parser, _subparsers(parser).get(command)) if each is not None]
    known = [option for text in helps for option in OPTION.findall(text)]
    close = get_close_matches(word.partition("=")[0], known, n=1)
    where = f"gpudoctor {command}".strip()
    return f" (did you mean {close[0]}?)" if close else f"; see `{where} --help`"


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:  # noqa: SLF001  # argparse offers no public way to list sub-commands
        choices: object = action.choices
        if isinstance(choices, dict):
            return cast("dict[str, argparse.ArgumentParser]", choices)
    return {}


def _build() -> Parser:
    parser = Parser(prog="gpudoctor", description=DESCRIPTION, epilog=EPILOG, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"gpudoctor {__version__}")
    commands = parser.add_subparsers(
        prog="gpudoctor", dest="command", metavar="COMMAND", required=True, parser_class=Parser
    )
    for name, (summary, fill) in COMMANDS.items():
        fill(
            commands.add_parser(
                name, help=summary, description=summary, allow_abbrev=False, argument_default=argparse.SUPPRESS
            )
        )
    return parser
