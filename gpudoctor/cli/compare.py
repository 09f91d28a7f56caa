"""`gpudoctor compare A B`: what changed from one saved machine, or recorded training, to another; exit 1 where a step got too slow.

Findings do not gate here: `scan --baseline` does that, and says which ones are accepted.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.output import emit
from gpudoctor.cli.sessions import path_of
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.comparison import Comparison, compare
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.gate import EXIT_CLEAN, EXIT_FINDINGS, EXIT_UNMET
from gpudoctor.diagnose.registry import Registry
from gpudoctor.errors import UsageError
from gpudoctor.examine.saved import read_snapshot
from gpudoctor.model.report import Report
from gpudoctor.present import comparison

SQLITE = b"SQLite format 3\0"  # how its files begin (sqlite.org/fileformat.html)


def run(arguments: Arguments) -> int:
    """Print the differences."""
    if arguments.files.count("-") > 1:
        raise UsageError("only one of the two can come from stdin")
    known = registry.load()
    before, after = (_judged(path, known) for path in arguments.files)
    compared = compare(before, after)
    percent = arguments.max_regression
    shown = comparison.as_json if arguments.json else comparison.as_text
    emit(shown(compared, percent=percent), None)
    return _exit_code(compared, percent)


def _judged(path: str, known: Registry) -> Report:
    recording = _recording(path)
    if recording is not None:
        from gpudoctor.cli import session_report  # noqa: PLC0415  # only recordings pay for it

        return session_report.report(recording)
    saved = read_snapshot(path)
    return diagnose(saved.snapshot, known.checks, level=saved.level, plugins=known.plugins)


def _recording(name: str) -> Path | None:
    """Return the session that is meant: its file, or the beginning of an id; None for anything else."""
    with suppress(UsageError, OSError):  # whoever reads it as a snapshot says what is wrong with it
        place = path_of(name)
        with place.open("rb") as file:
            return place if file.read(len(SQLITE)) == SQLITE else None
    return None


def _exit_code(compared: Comparison, percent: float | None) -> int:
    """Return 3 where a gate was asked for and nothing can be compared: unknown is not fine."""
    if percent is None:
        return EXIT_CLEAN
    if not compared.comparable:
        return EXIT_UNMET
    return EXIT_FINDINGS if compared.regressions(percent) or compared.worse else EXIT_CLEAN
