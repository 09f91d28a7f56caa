"""What `scan`, `probe` and `env` share: choose the interpreter, say so at once, examine with progress, redact."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpudoctor.cli.configuration import Settings
from gpudoctor.cli.output import emit, flush
from gpudoctor.cli.parser import Arguments
from gpudoctor.cli.progress import progress_on
from gpudoctor.collect.target import choose_target
from gpudoctor.diagnose.examination import Request, examine
from gpudoctor.diagnose.registry import AnyCheck
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.present.headers import target_line
from gpudoctor.present.style import shorten
from gpudoctor.redaction import Rewrite, redact, rewriter_of_this_machine

WIDTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """The snapshot, already redacted unless identifiers were asked for, and the interpreter that was examined."""

    snapshot: Snapshot
    target: dict[str, str]
    target_shown: bool


def examined(
    arguments: Arguments,
    settings: Settings,
    checks: Sequence[AnyCheck] | Callable[[], Sequence[AnyCheck]],
    *,
    level: str,
    trials: tuple[str, ...] | None = None,
    announce: bool | None = None,
) -> Examined:
    """Examine this machine. Raises UsageError for an interpreter that cannot be used.

    `checks` may be a function that loads them, called while the machine is asked.
    `announce`: print at once which interpreter it is; by default where text goes to stdout.
    """
    root = Path(os.environ.get("GPUDOCTOR_SYSROOT") or "/")
    target = choose_target(
        arguments.python or settings.python, environ=os.environ, folder=Path.cwd(), proc=root / "proc"
    )
    if settings.python and not arguments.python:
        target = replace(target, chosen_by="--python, from the configuration")  # a project's file chose what is started
    rewrite: Rewrite = str if arguments.include_identifiers else rewriter_of_this_machine()
    named = {"executable": rewrite(str(target.executable)), "chosen_by": target.chosen_by}
    shown = announce if announce is not None else not arguments.json and arguments.output in {None, "-"}
    if shown:
        emit(shorten(target_line(named), WIDTH) + "\n", None)
        flush()
    request = Request(
        target=target,
        level=level,
        root=root,
        timeout_s=arguments.timeout or settings.timeout,
        force=arguments.force,
        trials=trials,
    )
    with progress_on(sys.stderr) as progress:
        snapshot = examine(request, checks, progress)
    if not arguments.include_identifiers:
        snapshot = redact(snapshot, rewrite=rewrite)
    return Examined(snapshot=snapshot, target=named, target_shown=shown)
