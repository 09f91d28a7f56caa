"""`gpudoctor schema [report|snapshot]`: the JSON Schema of what `--json` and `--save-snapshot` write."""

from __future__ import annotations

from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.output import emit
from gpudoctor.codec import dumps, schema
from gpudoctor.model.report import Report
from gpudoctor.model.snapshot import Snapshot


def run(arguments: Arguments) -> int:
    """Print the schema."""
    emit(dumps(schema(Snapshot if arguments.document == "snapshot" else Report)) + "\n", None)
    return 0
