"""The options of the commands that examine a machine, a text or an environment."""

from __future__ import annotations

import argparse

from gpudoctor.cli import trial_names
from gpudoctor.cli.options import FORMATS, LEVELS, SEVERITIES, Output, count, names, privacy, stated, target


def scan(parser: argparse.ArgumentParser) -> None:
    target(parser)
    parser.add_argument(
        "--format", action=Output, choices=FORMATS, help="format of the report (default: text); repeat it for several"
    )
    parser.add_argument("--json", action=Output, nargs=0, const="json", help="short for --format json")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every check, its reason and the time spent")
    parser.add_argument(
        "--level", choices=LEVELS, help="quick: no TensorFlow, no load; standard (default); full: more pairs"
    )
    parser.add_argument(
        "--select", type=names, action="extend", metavar="CODES", help="only these checks (codes, prefixes, slugs)"
    )
    parser.add_argument("--ignore", type=names, action="extend", metavar="CODES", help="leave these checks out")
    parser.add_argument("--fail-on", choices=SEVERITIES, help="lowest severity that exits 1 (default: error)")
    parser.add_argument("--strict", action="store_true", help="exit 3 where an important check could not judge")
    parser.add_argument("--expect-gpus", type=count, metavar="N", help="exit 3 unless exactly N GPUs are usable")
    parser.add_argument("--force", action="store_true", help="probe a GPU that others use")
    parser.add_argument("--snapshot", metavar="FILE", help="judge a saved snapshot instead of this machine")
    parser.add_argument("--log", action="append", metavar="FILE", help="judge the text of a run, too (repeatable)")
    stated(parser)
    parser.add_argument("--save-snapshot", metavar="FILE", help="also save the snapshot")
    parser.add_argument("--baseline", metavar="FILE", help="accept the findings that FILE lists; only others count")
    parser.add_argument("--write-baseline", metavar="FILE", help="write all findings to FILE and accept them")
    privacy(parser)
    parser.add_argument(
        "-o", "--output", action=Output, metavar="FILE", help="write the report to FILE; one for each --format"
    )


def log(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="text of a run, gzip or not; - reads stdin")
    stated(parser)
    parser.add_argument(
        "--format", action=Output, choices=FORMATS, help="format of the report (default: text); repeat it for several"
    )
    parser.add_argument("--json", action=Output, nargs=0, const="json", help="short for --format json")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every check and its reason")
    parser.add_argument("--select", type=names, action="extend", metavar="CODES", help="only these checks")
    parser.add_argument("--ignore", type=names, action="extend", metavar="CODES", help="leave these checks out")
    parser.add_argument("--fail-on", choices=SEVERITIES, help="lowest severity that exits 1 (default: error)")
    parser.add_argument("--snapshot", metavar="FILE", help="the saved snapshot of the machine that the text is from")
    parser.add_argument("--save-snapshot", metavar="FILE", help="also save what was read and stated as a snapshot")
    target(parser)
    privacy(parser)
    parser.add_argument("-o", "--output", action=Output, metavar="FILE", help="write the report to FILE")


def probe(parser: argparse.ArgumentParser) -> None:
    target(parser)
    parser.add_argument("--trial", action="append", metavar="NAME", help="run only this trial (repeatable)")
    parser.add_argument("--json", action="store_true", help="print the trials as JSON")
    parser.add_argument("--level", choices=LEVELS[1:], help="standard (default); full: more pairs, more trials")
    parser.add_argument("--force", action="store_true", help="probe a GPU that others use")
    parser.add_argument("-v", "--verbose", action="store_true", help="show notes and every arm")
    parser.epilog = trial_names.TEXT
    privacy(parser)


def env(parser: argparse.ArgumentParser) -> None:
    target(parser)
    privacy(parser)


def bundle(parser: argparse.ArgumentParser) -> None:
    target(parser)
    parser.add_argument("--level", choices=LEVELS, help="how far to examine first, as for scan (default: standard)")
    parser.add_argument("--snapshot", metavar="FILE", help="pack a saved snapshot instead of examining this machine")
    parser.add_argument("-o", "--output", metavar="FILE", help="the archive (default: gpudoctor-bundle-TIME.tar.gz)")
    parser.add_argument("--yes", action="store_true", help="write without asking")
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")
    parser.add_argument("--force", action="store_true", help="probe a GPU that others use")
    privacy(parser)
