"""Options that several commands share, and the types of their values."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpudoctor.model.words import FailOn, Level

LEVELS: tuple[Level, ...] = ("quick", "standard", "full")
FORMATS = ("text", "json", "jsonl", "junit", "github", "markdown")
SEVERITIES: tuple[FailOn, ...] = ("error", "warning", "info", "never")  # what --fail-on takes
# Policy: faster, the watching becomes a load of its own (nvtop issue 365); slower, the plots are mostly holes.
SHORTEST_INTERVAL_S, LONGEST_INTERVAL_S = 0.25, 60.0


class Output(argparse.Action):
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


def stated(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fact",
        action="append",
        metavar="KEY=VALUE",
        help="state a fact of the machine: gpu='RTX 3090', driver=550.54, tf=2.15, os=windows ... (repeatable)",
    )
    parser.add_argument("--no-machine", action="store_true", help="leave this machine's own facts out")


def target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--python", metavar="PATH", help="the interpreter to examine (default: the active environment)")
    parser.add_argument(
        "--timeout", type=seconds, metavar="S", help="deadline of each source in seconds (default: 3; libraries 30)"
    )


def privacy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--include-identifiers", action="store_true", help="keep UUIDs, user names, command lines and paths"
    )


def names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        message = "an empty name"
        raise argparse.ArgumentTypeError(message)
    return names


def count(text: str) -> int:
    if not text.isdecimal():
        message = f"a whole number is expected, not {text!r}"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def interval(text: str) -> float:
    value = seconds(text)
    if not SHORTEST_INTERVAL_S <= value <= LONGEST_INTERVAL_S:
        message = f"{SHORTEST_INTERVAL_S:g} to {LONGEST_INTERVAL_S:g} seconds are possible, not {text}"
        raise argparse.ArgumentTypeError(message)
    return value


def percent(text: str) -> float:
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < sys.maxsize:
        message = f"a percentage of 0 or more is expected, not {text!r}"
        raise argparse.ArgumentTypeError(message)
    return value


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < sys.maxsize:
        message = f"a number of seconds above 0 is expected, not {text!r}"
        raise argparse.ArgumentTypeError(message)
    return value
