"""What `scan` and `log` share: the outputs, the settings and the checks at the start; the files, stdout and code at the end."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from gpudoctor.cli import configuration, outputs
from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.configuration import Settings
from gpudoctor.cli.output import write_file
from gpudoctor.codec import dumps, snapshot_to_builtins
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.begun import Begun
from gpudoctor.diagnose.gate import exit_code
from gpudoctor.diagnose.registry import AnyCheck, Registry
from gpudoctor.diagnose.selection import select
from gpudoctor.diagnose.tuning import no_such, tuned
from gpudoctor.model.report import Report
from gpudoctor.model.words import FailOn


class Judging:
    """One command that judges. A mistake in what was asked for is told before anything is examined."""

    def __init__(self, arguments: Arguments) -> None:
        self._begun = Begun()
        self._arguments = arguments
        self.outputs = outputs.paired(arguments.outputs)
        self.settings: Settings = configuration.load(folder=Path.cwd(), environ=os.environ)

    @cached_property
    def known(self) -> Registry:
        """Return all checks; loading them takes as long as asking a machine, so it is done meanwhile."""
        return with_rules(registry.load(), self.settings)

    @cached_property
    def checks(self) -> tuple[AnyCheck, ...]:
        """Return the checks to run."""
        chosen = self._arguments.select or self.settings.select
        return select(self.known.checks, chosen=chosen, ignored=self._arguments.ignore or self.settings.ignore)

    @property
    def fail_on(self) -> FailOn:
        """Return the lowest severity that counts."""
        return self._arguments.fail_on or self.settings.fail_on

    def conclude(self, report: Report, target: Mapping[str, str], *, target_shown: bool = False) -> int:
        """Write the report where it is wanted and return the exit code."""
        signed = self._begun.signed(replace(report, fail_on=self.fail_on), target)
        if self._arguments.save_snapshot:
            content = dumps(snapshot_to_builtins(signed.snapshot)) + "\n"
            write_file(self._arguments.save_snapshot, content, option="--save-snapshot")
        outputs.write(self.outputs, signed, verbose=self._arguments.verbose, target_shown=target_shown)
        return exit_code(signed)


def with_rules(known: Registry, settings: Settings) -> Registry:
    """Return the checks with the configured thresholds in force. Raises UsageError for a rule that no check has."""
    codes = {each.code for each in known.checks}
    for code in settings.severities:
        if code not in codes:
            raise no_such(known, code)
    return tuned(known, settings.thresholds)
