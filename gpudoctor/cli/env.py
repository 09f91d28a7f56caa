"""`gpudoctor env`: the environment as a block to paste into an issue; redacted, quick, no load."""

from __future__ import annotations

import os
from pathlib import Path

from gpudoctor.cli import configuration
from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.examine import examined
from gpudoctor.cli.output import emit
from gpudoctor.present import environment


def run(arguments: Arguments) -> int:
    """Print the block."""
    settings = configuration.load(folder=Path.cwd(), environ=os.environ)
    result = examined(arguments, settings, (), level="quick")
    emit(environment.render(result.snapshot, result.target), None)
    return 0
