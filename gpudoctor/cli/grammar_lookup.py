"""The options of the commands that look something up: checks, settings, differences, schemas."""

from __future__ import annotations

import argparse

from gpudoctor.cli.options import percent


def checks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the list as JSON")


def explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="CODE|SLUG|CAUSE", help="for example GD203, missing-cuda-libs")


def compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs=2, metavar="FILE", help="a report, a snapshot, a bundle or a session; - is stdin"
    )
    parser.add_argument(
        "--max-regression",
        type=percent,
        metavar="PCT",
        help="exit 1 where a step takes more than PCT %% longer, 3 where no trial or training stands in both",
    )
    parser.add_argument("--json", action="store_true", help="print the differences as JSON")


def config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("show",), nargs="?", default="show", help="show: each value and its source")
    parser.add_argument("--json", action="store_true", help="print the settings as JSON")


def schema(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("document", choices=("report", "snapshot"), nargs="?", default="report")
