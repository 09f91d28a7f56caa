"""The options of the commands that watch or record a training, and of those that read the records."""

from __future__ import annotations

import argparse

from gpudoctor.cli.options import SEVERITIES, interval, privacy

# The agent reads these two in the script's own process (profile/command.py, profile/agent/windows.py).
SWITCHES = (
    "GPUDOCTOR_WINDOWS=0 records without windows of TensorFlow's profiler, GPUDOCTOR_OFF=1 without any hook in it."
)


def run(parser: argparse.ArgumentParser) -> None:
    parser.usage = "gpudoctor run [options] [--] COMMAND [ARGUMENT ...]"
    parser.add_argument("--python", metavar="PATH", help="the interpreter for a bare script (default: as for scan)")
    parser.add_argument("--session", metavar="FILE", help="record into FILE (default: the user's state folder)")
    parser.add_argument("--json", dest="json_file", metavar="FILE", help="also write the report as JSON to FILE")
    parser.add_argument(
        "--fail-on",
        choices=SEVERITIES,
        help="exit 1 for findings from this severity on, where the command itself ended with 0 (default: never)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing of gpudoctor's")
    parser.epilog = SWITCHES


def sessions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--delete", dest="files", action="append", metavar="ID", help="delete a session (repeatable)")
    parser.add_argument("--older-than", type=float, metavar="DAYS", help="delete those that began before that")
    parser.add_argument("--json", action="store_true", help="print the list as JSON")


def report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="SESSION", help="a file, or an id's beginning (default: the newest)")
    parser.add_argument("--format", choices=("text", "json", "markdown"), help="default: text")
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    parser.add_argument("-v", "--verbose", action="store_true", help="show all evidence, findings and fixes")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the report to FILE instead of stdout")


def monitor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--once", action="store_true", help="print one reading and end")
    parser.add_argument("--json", action="store_true", help="print one reading as JSON")
    parser.add_argument("--csv", action="store_true", help="print one reading as CSV, a line for each GPU")
    privacy(parser)
    parser.add_argument("--interval", type=interval, metavar="S", help="seconds between readings (default: 1)")
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
