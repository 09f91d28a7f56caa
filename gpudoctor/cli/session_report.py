"""A session as text, JSON or Markdown: analysed, judged by the checks that ask for a run, and shown."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path

from gpudoctor import __version__
from gpudoctor.cli import configuration
from gpudoctor.cli.judging import with_rules
from gpudoctor.cli.output import emit
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.run_report import report_of_run
from gpudoctor.model.report import Report
from gpudoctor.present import formats, run_markdown, run_text
from gpudoctor.profile.outcome import remarks
from gpudoctor.profile.record import SUFFIX, default_folder, read_session
from gpudoctor.profile.windows import window_shares
from gpudoctor.redaction import rewriter_of_this_machine


def report(path: Path) -> Report:
    """Return the report of a session file, by the configured rules and without what identifies a person or a machine."""
    session = replace(read_session(path), session=_name(path))
    settings = configuration.load(folder=Path.cwd(), environ=os.environ)
    known = with_rules(registry.load(), settings)
    made = report_of_run(
        session,
        known.checks,
        windows=window_shares(path, session),
        plugins=known.plugins,
        severities=settings.severities,
        remarks=remarks(session),
        rewrite=rewriter_of_this_machine(),
    )
    return replace(made, tool={"name": "gpudoctor", "version": __version__})


def _name(path: Path) -> str:
    """Return what `gpudoctor report` finds the session by: an id where all lie, else its file."""
    where_all_lie = path.parent.resolve() == default_folder().resolve()
    return path.name.removesuffix(SUFFIX) if where_all_lie else shlex.quote(str(path))


def rendered(path: Path, form: str, *, verbose: bool = False) -> str:
    """Return the report of a session file in a form; `verbose`: the text with all that does not fit else."""
    made = report(path)
    if form == "text":
        return run_text.render(made, verbose=verbose)
    return run_markdown.render(made) if form == "markdown" else formats.render(form, made)


def write(path: Path, form: str, output: str | None, *, option: str = "-o", verbose: bool = False) -> None:
    """Write the report of a session file where it is wanted. Raises OutputError, naming the option that chose the place."""
    emit(rendered(path, form, verbose=verbose), output, option=option)
