"""Several reports of one scan: which format goes where. `--format` and `-o` pair up in the order in which they are given.

An `-o` belongs to the format before it, or, where that has a place already or there is none, to the one after it; so
`-o report.json --json` means what it says too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from gpudoctor.cli.output import emit
from gpudoctor.errors import UsageError
from gpudoctor.model.record import dataclass
from gpudoctor.model.report import Report

FORMAT, PLACE = "format", "place"
STDOUT = "-"
Word = tuple[str, str]  # FORMAT or PLACE, and what was given


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One report: a format and a place (`-`: stdout)."""

    format: str
    place: str = STDOUT

    @property
    def on_stdout(self) -> bool:
        """Return whether it goes to stdout."""
        return self.place == STDOUT


def paired(words: Sequence[Word]) -> tuple[Output, ...]:
    """Return the outputs that the command line asks for; text on stdout where it asks for none.

    Raises UsageError where two reports would go to one place, or a place has no report.
    """
    outputs: list[Output] = []
    waiting, open_format = "", ""
    for kind, value in words:
        if kind == FORMAT:
            if open_format:
                outputs.append(Output(format=open_format))
            if waiting:
                outputs.append(Output(format=value, place=waiting))
            waiting, open_format = "", "" if waiting else value
        elif open_format:
            outputs.append(Output(format=open_format, place=value))
            open_format = ""
        elif waiting:
            raise UsageError(f"-o {waiting} has no report; put a --format before each -o")
        else:
            waiting = value
    if waiting and outputs:
        raise UsageError(f"-o {waiting} has no report; put a --format before each -o")
    if open_format or waiting or not outputs:
        outputs.append(Output(format=open_format or "text", place=waiting or STDOUT))
    _check_places(outputs)
    return tuple(outputs)


def _check_places(outputs: Iterable[Output]) -> None:
    taken: dict[str, str] = {}
    for output in outputs:
        if output.place in taken:
            place = "stdout" if output.on_stdout else output.place
            raise UsageError(
                f"{taken[output.place]} and {output.format} would both go to {place}; give each its own -o FILE"
            )
        taken[output.place] = output.format


def write(outputs: Iterable[Output], report: Report, *, verbose: bool, target_shown: bool) -> None:
    """Write the report in each format, files first: a reader of stdout that goes away takes no file with it."""
    for output in sorted(outputs, key=lambda each: each.on_stdout):
        emit(rendered(output, report, verbose=verbose, target_shown=target_shown), output.place)


def rendered(output: Output, report: Report, *, verbose: bool, target_shown: bool) -> str:
    """Return the report's text for one output; only the text on stdout may be coloured."""
    if output.format != "text":
        from gpudoctor.present import formats  # noqa: PLC0415  # one of the two is needed

        return formats.render(output.format, report)
    from gpudoctor.present import text  # noqa: PLC0415
    from gpudoctor.present.style import Style, wants_color  # noqa: PLC0415

    style = Style(color=output.on_stdout and wants_color(sys.stdout))
    return text.render(report, style=style, verbose=verbose, target_shown=target_shown and output.on_stdout)
