"""The process that scans for the dashboard: the same engine as `gpudoctor scan`, its progress and report as messages.

Running it inside the dashboard would save a process; a scan forks children and loads the checks, neither of which belongs
into a program with threads that a person expects to answer each key.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from gpudoctor.collect.target import choose_target
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.begun import Begun
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.registry import AnyCheck, Registry
from gpudoctor.diagnose.selection import select
from gpudoctor.diagnose.tuning import tuned
from gpudoctor.errors import GpudoctorError
from gpudoctor.examine.machine import Examined, Request, examine_here
from gpudoctor.examine.saved import read_snapshot
from gpudoctor.model.finding import Severity
from gpudoctor.model.report import SAVED, Report
from gpudoctor.model.words import Level
from gpudoctor.tui.messages import Progress
from gpudoctor.tui.sampling.wire import send


class _Teller:
    """Sends progress as the engine tells it."""

    def target(self, named: Mapping[str, str]) -> None:
        """Say nothing: the report names it."""

    def trial(self, name: str, done: int, total: int, left_s: float) -> None:
        send(sys.stdout.fileno(), Progress(trial=name, done=done, total=total, left_s=left_s))


def main(argv: Sequence[str]) -> int:
    """Examine, or judge a saved snapshot, and send the report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, default=Path("/"))
    parser.add_argument("--level", default="quick")
    parser.add_argument("--python")
    parser.add_argument("--trial")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--snapshot")
    parser.add_argument("--select", action="append", default=[])
    parser.add_argument("--ignore", action="append", default=[])
    parser.add_argument("--severity", action="append", default=[], metavar="CODE=WORD")
    parser.add_argument("--threshold", action="append", default=[], metavar="CODE=NAME=VALUE")
    options = parser.parse_args(argv)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        report, known = _report(options)
        send(sys.stdout.fileno(), Progress(report=report, pages=_pages(known)))
    except GpudoctorError as error:
        send(sys.stdout.fileno(), Progress(failure=str(error)))
    except KeyboardInterrupt:
        return 130
    return 0


def _report(options: argparse.Namespace) -> tuple[Report, Registry]:
    begun = Begun()
    known = tuned(registry.load(), _moved(options.threshold))
    checks = select(known.checks, chosen=options.select, ignored=options.ignore)
    severities = {code: Severity(word) for code, _, word in (each.partition("=") for each in options.severity)}
    level, examined = _saved(options.snapshot) if options.snapshot else (options.level, _examined(options, checks))
    report = diagnose(examined.snapshot, checks, level=level, plugins=known.plugins, severities=severities)
    return begun.signed(report, examined.target), known


def _moved(words: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the configured thresholds by code and name; an int stays one, for some thresholds take nothing else."""
    moved: dict[str, dict[str, float]] = {}
    for word in words:
        code, _, rest = word.partition("=")
        name, _, value = rest.rpartition("=")
        moved.setdefault(code, {})[name] = int(value) if value.lstrip("-").isdigit() else float(value)
    return moved


def _saved(path: str) -> tuple[Level, Examined]:
    saved = read_snapshot(path)  # redacted: somebody else's, perhaps, and a screenshot is a report
    target = {"executable": saved.python, "chosen_by": f"{SAVED}{path}"}
    return saved.level, Examined(snapshot=saved.snapshot, target=target)


def _examined(options: argparse.Namespace, checks: Sequence[AnyCheck]) -> Examined:
    """Examine this machine; without identifiers, for a screenshot is a report too."""
    request = Request(
        target=choose_target(options.python, environ=os.environ, folder=Path.cwd(), proc=options.root / "proc"),
        level=options.level,
        root=options.root,
        force=options.force,
        trials=(options.trial,) if options.trial else None,
    )
    return examine_here(request, checks, _Teller())


def _pages(known: Registry) -> dict[str, str]:
    return {each.code: each.page for each in known.checks}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
