"""The command line's grammar. An unknown word is answered with the nearest right one."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NoReturn, cast

from gpudoctor import __version__
from gpudoctor.cli import trial_names
from gpudoctor.errors import UsageError

OPTION = re.compile(r"--[a-z][\w-]*")
WITH_VALUE = frozenset({"--python", "--session", "--json", "--fail-on"})  # options of `run` that take a word
LEVELS = ("quick", "standard", "full")
FORMATS = ("text", "json", "jsonl", "junit", "github", "markdown")
# Policy: faster, the watching becomes a load of its own (nvtop issue 365); slower, the plots are mostly holes.
SHORTEST_INTERVAL_S, LONGEST_INTERVAL_S = 0.25, 60.0
DESCRIPTION = "Why TensorFlow does not use your GPU, why it is slow, and which change helps how much."
EPILOG = "Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 usage, 3 expectation not met, 70 internal error."


@dataclass(slots=True)
class Arguments(argparse.Namespace):
    """Everything the sub-commands read; each uses its part."""

    command: str = ""
    json: bool = False
    verbose: bool = False
    level: str | None = None
    select: list[str] = field(default_factory=list[str])
    ignore: list[str] = field(default_factory=list[str])
    fail_on: str | None = None
    strict: bool = False
    expect_gpus: int | None = None
    timeout: float | None = None
    python: str | None = None
    force: bool = False
    snapshot: str | None = None
    log: list[str] = field(default_factory=list[str])
    fact: list[str] = field(default_factory=list[str])
    no_machine: bool = False
    save_snapshot: str | None = None
    include_identifiers: bool = False
    output: str | None = None
    outputs: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    baseline: str | None = None
    write_baseline: str | None = None
    yes: bool = False
    overwrite: bool = False
    script: list[str] = field(default_factory=list[str])
    session: str | None = None
    quiet: bool = False
    json_file: str | None = None
    format: str = "text"
    files: list[str] = field(default_factory=list[str])
    older_than: float | None = None
    max_regression: float | None = None
    action: str = "show"
    trial: list[str] = field(default_factory=list[str])
    once: bool = False
    csv: bool = False
    interval: float = 1.0
    theme: str = "dark"
    readonly: bool = False
    demo: bool = False
    screenshot: str | None = None
    view: str | None = None
    name: str = ""
    document: str = "report"


class _Output(argparse.Action):
    """Keeps `--format`, `--json` and `-o` in the order in which they are given: they pair up by it."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002  # argparse's signature
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        """Note the format or the place; `const` is the format that the option itself stands for."""
        kind = "place" if self.dest == "output" else "format"
        told: list[tuple[str, str]] = getattr(namespace, "outputs", [])  # a sub-command starts from an empty namespace
        namespace.outputs = [*told, (kind, self.const or str(values))]
        namespace.json = any(value == "json" for kind, value in namespace.outputs if kind == "format")


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
    if unknown:
        raise UsageError(f"unknown option {unknown[0]!r}{_nearest(unknown[0], parser, arguments.command)}")
    return arguments


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


def _scan(parser: argparse.ArgumentParser) -> None:
    _target(parser)
    parser.add_argument(
        "--format", action=_Output, choices=FORMATS, help="format of the report (default: text); repeat it for several"
    )
    parser.add_argument("--json", action=_Output, nargs=0, const="json", help="short for --format json")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every check, its reason and the time spent")
    parser.add_argument(
        "--level", choices=LEVELS, help="quick: no TensorFlow, no load; standard (default); full: more pairs"
    )
    parser.add_argument(
        "--select", type=_names, action="extend", metavar="CODES", help="only these checks (codes, prefixes, slugs)"
    )
    parser.add_argument("--ignore", type=_names, action="extend", metavar="CODES", help="leave these checks out")
    parser.add_argument(
        "--fail-on", choices=("error", "warning", "info", "never"), help="lowest severity that exits 1 (default: error)"
    )
    parser.add_argument("--strict", action="store_true", help="exit 3 where an important check could not judge")
    parser.add_argument("--expect-gpus", type=_count, metavar="N", help="exit 3 unless exactly N GPUs are usable")
    parser.add_argument("--force", action="store_true", help="probe a GPU that others use")
    parser.add_argument("--snapshot", metavar="FILE", help="judge a saved snapshot instead of this machine")
    parser.add_argument("--log", action="append", metavar="FILE", help="judge the text of a run, too (repeatable)")
    _stated(parser)
    parser.add_argument("--save-snapshot", metavar="FILE", help="also save the snapshot")
    parser.add_argument("--baseline", metavar="FILE", help="accept the findings that FILE lists; only others count")
    parser.add_argument("--write-baseline", metavar="FILE", help="write all findings to FILE and accept them")
    _privacy(parser)
    parser.add_argument(
        "-o", "--output", action=_Output, metavar="FILE", help="write the report to FILE; one for each --format"
    )


def _log(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="text of a run, gzip or not; - reads stdin")
    _stated(parser)
    parser.add_argument(
        "--format", action=_Output, choices=FORMATS, help="format of the report (default: text); repeat it for several"
    )
    parser.add_argument("--json", action=_Output, nargs=0, const="json", help="short for --format json")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every check and its reason")
    parser.add_argument("--select", type=_names, action="extend", metavar="CODES", help="only these checks")
    parser.add_argument("--ignore", type=_names, action="extend", metavar="CODES", help="leave these checks out")
    parser.add_argument(
        "--fail-on", choices=("error", "warning", "info", "never"), help="lowest severity that exits 1 (default: error)"
    )
    parser.add_argument("--snapshot", metavar="FILE", help="the saved snapshot of the machine that the text is from")
    parser.add_argument("--save-snapshot", metavar="FILE", help="also save what was read and stated as a snapshot")
    _target(parser)
    _privacy(parser)
    parser.add_argument("-o", "--output", action=_Output, metavar="FILE", help="write the report to FILE")


def _stated(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fact",
        action="append",
        metavar="KEY=VALUE",
        help="state a fact of the machine: gpu='RTX 3090', driver=550.54, tf=2.15, os=windows ... (repeatable)",
    )
    parser.add_argument("--no-machine", action="store_true", help="leave this machine's own facts out")


def _target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--python", metavar="PATH", help="the interpreter to examine (default: the active environment)")
    parser.add_argument(
        "--timeout", type=_seconds, metavar="S", help="deadline of each source in seconds (default: 3; libraries 30)"
    )


def _privacy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--include-identifiers", action="store_true", help="keep UUIDs, user names, command lines and paths"
    )


def _probe(parser: argparse.ArgumentParser) -> None:
    _target(parser)
    parser.add_argument("--trial", action="append", metavar="NAME", help="run only this trial (repeatable)")
    parser.add_argument("--json", action="store_true", help="print the trials as JSON")
    parser.add_argument("--level", choices=LEVELS[1:], help="standard (default); full: more pairs, more trials")
    parser.add_argument("--force", action="store_true", help="probe a GPU that others use")
    parser.add_argument("-v", "--verbose", action="store_true", help="show notes and every arm")
    parser.epilog = trial_names.TEXT
    _privacy(parser)


def _env(parser: argparse.ArgumentParser) -> None:
    _target(parser)
    _privacy(parser)


def _checks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the list as JSON")


def _explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="CODE|SLUG|CAUSE", help="for example GD203, missing-cuda-libs")


def _compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs=2, metavar="FILE", help="a report, a snapshot or a bundle; - is stdin")
    parser.add_argument(
        "--max-regression", type=_percent, metavar="PCT", help="exit 1 where a step takes more than PCT %% longer"
    )
    parser.add_argument("--json", action="store_true", help="print the differences as JSON")


def _bundle(parser: argparse.ArgumentParser) -> None:
    _target(parser)
    parser.add_argument("--level", choices=LEVELS, help="how far to examine first, as for scan (default: standard)")
    parser.add_argument("--snapshot", metavar="FILE", help="pack a saved snapshot instead of examining this machine")
    parser.add_argument("-o", "--output", metavar="FILE", help="the archive (default: gpudoctor-bundle-TIME.tar.gz)")
    parser.add_argument("--yes", action="store_true", help="write without asking")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")
    parser.add_argument("--force", action="store_true", help="probe a GPU that others use")
    _privacy(parser)


def _config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("show",), nargs="?", default="show", help="show: each value and its source")
    parser.add_argument("--json", action="store_true", help="print the settings as JSON")


def _run(parser: argparse.ArgumentParser) -> None:
    parser.usage = "gpudoctor run [options] [--] COMMAND [ARGUMENT ...]"
    parser.add_argument("--python", metavar="PATH", help="the interpreter for a bare script (default: as for scan)")
    parser.add_argument("--session", metavar="FILE", help="record into FILE (default: the user's state folder)")
    parser.add_argument("--json", dest="json_file", metavar="FILE", help="also write the report as JSON to FILE")
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "info", "never"),
        help="exit 1 for findings from this severity on, where the command itself ended with 0 (default: never)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing of gpudoctor's")


def _sessions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--delete", dest="files", action="append", metavar="ID", help="delete a session (repeatable)")
    parser.add_argument("--older-than", type=float, metavar="DAYS", help="delete those that began before that")
    parser.add_argument("--json", action="store_true", help="print the list as JSON")


def _report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="SESSION", help="a file, or an id's beginning (default: the newest)")
    parser.add_argument("--format", choices=("text", "json", "markdown"), help="default: text")
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the report to FILE instead of stdout")


def _schema(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("document", choices=("report", "snapshot"), nargs="?", default="report")


def _monitor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--once", action="store_true", help="print one reading and end")
    parser.add_argument("--json", action="store_true", help="print one reading as JSON")
    parser.add_argument("--csv", action="store_true", help="print one reading as CSV, a line for each GPU")
    _privacy(parser)
    parser.add_argument("--interval", type=_interval, metavar="S", help="seconds between readings (default: 1)")
    parser.add_argument("--theme", choices=("dark", "light", "contrast"), help="colours (default: dark)")
    parser.add_argument("--readonly", action="store_true", help="no signals to processes")
    parser.add_argument("--python", metavar="PATH", help="the interpreter that a scan examines")
    parser.add_argument("--snapshot", metavar="FILE", help="show a saved snapshot instead of this machine")
    parser.add_argument("--demo", action="store_true", help="play the recording of an invented machine")
    parser.add_argument(
        "--session", metavar="FILE", help="show a recorded run (file or id): play it, or follow it live"
    )
    parser.add_argument("--view", choices=("machine", "doctor", "run"), help="the view to begin with")
    parser.add_argument("--screenshot", metavar="FILE", help="write a picture of the dashboard as SVG and end")
    parser.usage = "%(prog)s [options] [-- COMMAND ...]"
    parser.epilog = "Behind -- a training script and its arguments: it is started and recorded as by `gpudoctor run`."


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "scan": ("find out what is wrong with this machine", _scan),
    "log": ("say what the text of a run shows: a file, several, or - for stdin", _log),
    "run": ("run a training script, unchanged, and say what makes it slow", _run),
    "report": ("print the report of a recorded run", _report),
    "sessions": ("list the recorded runs, or delete some", _sessions),
    "probe": ("train the reference network and show what it measured", _probe),
    "monitor": ("watch GPUs, host and processes; scan and fix by keys", _monitor),
    "env": ("print the environment, ready to paste into an issue", _env),
    "checks": ("list all checks", _checks),
    "explain": ("explain a check or a cause", _explain),
    "compare": ("show what changed between two reports or snapshots", _compare),
    "bundle": ("pack a redacted archive for support", _bundle),
    "config": ("show the settings and where each comes from", _config),
    "schema": ("print the JSON Schema of a document", _schema),
}


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        message = "an empty name"
        raise argparse.ArgumentTypeError(message)
    return names


def _count(text: str) -> int:
    if not text.isdecimal():
        message = f"a whole number is expected, not {text!r}"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def _interval(text: str) -> float:
    value = _seconds(text)
    if not SHORTEST_INTERVAL_S <= value <= LONGEST_INTERVAL_S:
        message = f"{SHORTEST_INTERVAL_S:g} to {LONGEST_INTERVAL_S:g} seconds are possible, not {text}"
        raise argparse.ArgumentTypeError(message)
    return value


def _percent(text: str) -> float:
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < sys.maxsize:
        message = f"a percentage of 0 or more is expected, not {text!r}"
        raise argparse.ArgumentTypeError(message)
    return value


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < sys.maxsize:
        message = f"a number of seconds above 0 is expected, not {text!r}"
        raise argparse.ArgumentTypeError(message)
    return value
