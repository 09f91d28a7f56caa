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
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from gpudoctor import __version__
from gpudoctor.codec import load_snapshot
from gpudoctor.collect.target import choose_target
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.examination import Request, examine
from gpudoctor.diagnose.registry import Registry
from gpudoctor.diagnose.selection import select
from gpudoctor.errors import GpudoctorError, SnapshotError
from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import either
from gpudoctor.model.report import Report
from gpudoctor.redaction import redact, rewriter_of_this_machine
from gpudoctor.tui.messages import Progress
from gpudoctor.tui.sampling.wire import send


class _Teller:
    """Sends progress as the engine tells it."""

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
    started = datetime.now(timezone.utc)
    known = registry.load()
    checks = select(known.checks, chosen=options.select, ignored=options.ignore)
    severities = {code: Severity(word) for code, _, word in (each.partition("=") for each in options.severity)}
    if options.snapshot:
        snapshot = load_snapshot(_bytes_of(options.snapshot), name=options.snapshot)
        level = "quick" if snapshot.probe is None else "standard"
        python = either(snapshot.python.executable, "?") if snapshot.python is not None else "?"
        target: Mapping[str, str] = {"executable": python, "chosen_by": f"snapshot {options.snapshot}"}
    else:
        chosen = choose_target(options.python, environ=os.environ, folder=Path.cwd(), proc=options.root / "proc")
        level = options.level
        request = Request(
            target=chosen,
            level=level,
            root=options.root,
            force=options.force,
            trials=(options.trial,) if options.trial else None,
        )
        rewrite = rewriter_of_this_machine()
        snapshot = redact(examine(request, checks, _Teller()), rewrite=rewrite)  # a screenshot is a report too
        target = {"executable": rewrite(str(chosen.executable)), "chosen_by": chosen.chosen_by}
    report = diagnose(snapshot, checks, level=level, plugins=known.plugins, severities=severities)
    ended = datetime.now(timezone.utc)
    return replace(
        report,
        tool={"name": "gpudoctor", "version": __version__},
        target=target,
        started_at=started.isoformat(timespec="seconds"),
        duration_s=round((ended - started).total_seconds(), 3),
    ), known


def _bytes_of(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise SnapshotError(f"{path}: cannot be read ({error.strerror or error})") from error


def _pages(known: Registry) -> dict[str, str]:
    return {each.code: each.page for each in known.checks}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
