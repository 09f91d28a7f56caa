"""`gpudoctor bundle`: pack what support needs, without what identifies a person or a machine, and show it before it is written.

It is judged with all checks and without the project's configuration, so that `scan --snapshot` on it says the same anywhere.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from gpudoctor.cli import configuration
from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.output import emit, flush
from gpudoctor.cli.private_file import check_place, write_private
from gpudoctor.cli.promise import keep_promise
from gpudoctor.codec import dumps, snapshot_to_builtins
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.begun import TOOL
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.registry import Registry
from gpudoctor.errors import UsageError
from gpudoctor.examine.archive import SNAPSHOT, packed
from gpudoctor.examine.saved import Saved, read_snapshot
from gpudoctor.model.report import Report
from gpudoctor.present import environment, figures, json, text
from gpudoctor.present.style import printable
from gpudoctor.redaction import Redacted, chained, redact_counted, rewriter_of, rewriter_of_this_machine

NAME = "gpudoctor-bundle-{}.tar.gz"
GZIPPED = (".tar.gz", ".tgz", ".gz")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Machine:
    """What is packed: the snapshot, what was taken out of it (None: nothing was to be), and how it was got."""

    saved: Saved
    chosen_by: str
    redacted: Redacted | None


def run(arguments: Arguments) -> int:
    """Pack, show, ask, write."""
    path = arguments.output or NAME.format(datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S"))
    keep_promise(path, GZIPPED, what="a bundle is a gzipped tar", option="-o")
    check_place(path, overwrite=arguments.overwrite)
    if not arguments.snapshot and not arguments.yes and not _can_ask():
        raise UsageError("not begun: it could not be written, for there is no terminal to ask on; give --yes")
    known = registry.load()
    machine = _machine(arguments, known)
    files = _files(_report(machine, known))
    archive = packed(files, modified_s=time.time())
    emit(_listing(path, files, len(archive), machine.redacted), None)
    flush()
    if not arguments.yes and not _agreed():
        emit("Not written.\n", None)
        return 0
    write_private(path, archive, overwrite=arguments.overwrite)
    emit(f"Written: {printable(path)}\n", None)
    return 0


def _machine(arguments: Arguments, known: Registry) -> _Machine:
    saved, chosen_by = _packed_again(arguments.snapshot) if arguments.snapshot else _examined(arguments, known)
    if arguments.include_identifiers:
        return _Machine(saved=saved, chosen_by=chosen_by, redacted=None)
    here = rewriter_of_this_machine()
    redacted = redact_counted(saved.snapshot, rewrite=here)
    rewrite = chained(here, rewriter_of(saved.snapshot))
    saved = replace(saved, snapshot=redacted.snapshot, python=rewrite(saved.python))
    return _Machine(saved=saved, chosen_by=rewrite(chosen_by), redacted=redacted)


def _packed_again(path: str) -> tuple[Saved, str]:
    # What identifies is taken out, and counted, afterwards.
    return read_snapshot(path, identifiers=True), "a saved snapshot"


def _examined(arguments: Arguments, known: Registry) -> tuple[Saved, str]:
    from gpudoctor.cli.examine import examined  # noqa: PLC0415  # packing a saved snapshot needs no collector

    settings = configuration.load(folder=Path.cwd(), environ=os.environ)
    level = arguments.level or "standard"
    # What identifies is taken out, and counted, afterwards.
    result = examined(arguments, settings, known.checks, level=level, identifiers=True)
    saved = Saved(snapshot=result.snapshot, level=level, python=result.target["executable"])
    return saved, result.target["chosen_by"]


def _report(machine: _Machine, known: Registry) -> Report:
    saved = machine.saved
    report = diagnose(saved.snapshot, known.checks, level=saved.level, plugins=known.plugins)
    return replace(
        report,
        tool=TOOL,
        started_at=saved.snapshot.taken_at,
        target={"executable": saved.python, "chosen_by": machine.chosen_by},
    )


def _files(report: Report) -> Mapping[str, bytes]:
    texts = {
        SNAPSHOT: dumps(snapshot_to_builtins(report.snapshot)) + "\n",
        "report.json": json.render(report),
        "report.txt": text.render(report, verbose=True),
        "environment.txt": environment.render(report.snapshot, report.target),
    }
    return {name: content.encode(errors="replace") for name, content in texts.items()}


def _listing(path: str, files: Mapping[str, bytes], size: int, redacted: Redacted | None) -> str:
    lines = [f"{printable(path)} ({figures.size(size)}, readable by you alone) holds:"]
    lines += [f"  {name:<18}{figures.size(len(content)):>10}" for name, content in files.items()]
    return "\n".join([*lines, *_taken_out(redacted)]) + "\n"


def _taken_out(redacted: Redacted | None) -> Iterator[str]:
    if redacted is None:
        yield "Nothing is taken out: --include-identifiers keeps UUIDs, user names, command lines and paths."
        return
    words = [f"{what} ({count})" for what, count in redacted.counts.items() if count]
    yield f"Taken out: {', '.join(words) or 'nothing was there to take out'}."
    yield "Nothing is sent anywhere. What is in it: `tar -xzOf FILE | less`"


def _can_ask() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _agreed() -> bool:
    if not _can_ask():
        raise UsageError(
            "not written: there is no terminal to ask on; give --yes where the list above is what you want"
        )
    sys.stderr.write("Write it? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
