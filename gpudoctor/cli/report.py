"""`gpudoctor report [SESSION]`: the report of a recording, the newest by default, as text, JSON or Markdown."""

from __future__ import annotations

from gpudoctor.cli import session_report
from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.sessions import newest, path_of


def run(arguments: Arguments) -> int:
    """Print it."""
    form = "json" if arguments.json else arguments.format
    path = path_of(arguments.name) if arguments.name else newest()
    session_report.write(path, form, arguments.output, verbose=arguments.verbose)
    return 0
