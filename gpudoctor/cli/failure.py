"""The document of a run that could not be made: same shape as a report, status unknown, and why.

It goes where the report would have gone: a file that still holds yesterday's report would pass for today's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from gpudoctor import __version__
from gpudoctor.cli.output import emit
from gpudoctor.cli.outputs import FORMAT, PLACE, STDOUT, Output, Word, paired
from gpudoctor.diagnose.begun import TOOL
from gpudoctor.errors import OutputError, UsageError
from gpudoctor.model.report import Coverage, Report, Status, Summary
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.present import formats

FORMATTED = frozenset({"scan", "log"})  # the commands whose report has formats and places
OPTIONS = {"--format": FORMAT, "-o": PLACE, "--output": PLACE}


def write(words: Sequence[str], message: str, code: int) -> None:
    """Write the failure in each format for machines that the words ask for; what cannot be written is left."""
    failed = report(message, code)
    for output in _asked_for(words):
        _put(output, formats.render(output.format, failed))
    sys.stdout.flush()


def _put(output: Output, text: str) -> None:
    try:
        emit(text, output.place)
    except OutputError:
        if output.on_stdout:
            raise


def report(message: str, code: int) -> Report:
    """Return the report of a run that could not be made."""
    summary = Summary(status=Status.UNKNOWN, headline=message, counts={}, coverage=Coverage(ran=0, total=0))
    return Report(
        summary=summary,
        snapshot=Snapshot(tool_version=__version__),
        level="none",
        tool={**TOOL, "exit_code": str(code)},
    )


def _asked_for(words: Sequence[str]) -> Iterable[Output]:
    """Return the outputs as far as they can be made out, whatever is wrong with the words; --json is always kept."""
    command = words[0] if words else ""
    if command == "run":
        return []  # stdout belongs to the script, and so may every word
    told = list(_told(words)) if command in FORMATTED else []
    try:
        outputs = [each for each in paired(told) if each.format in formats.MACHINE]
    except UsageError:
        outputs = []
    on_stdout = [each for each in outputs if each.on_stdout]
    if "--json" in words and not on_stdout:
        outputs.append(Output(format="json", place=STDOUT))
    return outputs


def _told(words: Sequence[str]) -> Iterator[Word]:
    following = [*words[1:], ""]
    for word, value in zip(words, following, strict=True):
        option, equals, inline = word.partition("=")
        if word == "--json":
            yield FORMAT, "json"
        elif option in OPTIONS and (inline if equals else value):
            yield OPTIONS[option], inline if equals else value
        elif word.startswith("-o") and len(word) > len("-o"):
            yield PLACE, word[2:]
