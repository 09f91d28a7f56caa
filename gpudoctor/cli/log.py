"""`gpudoctor log FILE...`: say what a run's text shows, with the facts that are stated beside it.

This machine's facts are taken only where the text is a file on it, nothing is stated, and the text speaks of no other
machine: a pasted log judged with the wrong GPU is worse than one judged with none.
"""

from __future__ import annotations

import sys

from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.configuration import Settings
from gpudoctor.cli.judging import Judging
from gpudoctor.diagnose.from_text import judge_text, overlaid
from gpudoctor.logs.accepted import refuse_what_is_not_understood
from gpudoctor.logs.doubts import doubts
from gpudoctor.logs.facts import snapshot_of
from gpudoctor.logs.intake import STDIN, read_texts
from gpudoctor.logs.stated import read_facts
from gpudoctor.model.missing import Missing, either
from gpudoctor.model.report import SAVED, TEXT_ALONE, TEXT_OF_ANOTHER, TEXT_OF_THIS
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.present.style import printable
from gpudoctor.redaction import redact, rewriter_of_this_machine


def run(arguments: Arguments) -> int:
    """Judge the texts and return the exit code."""
    judging = Judging(arguments)
    checks, settings = judging.checks, judging.settings
    told = told_by(arguments, arguments.files)
    snapshot, source = _with_base(arguments, settings, told)
    report = judge_text(snapshot, checks, plugins=judging.known.plugins, severities=settings.severities)
    return judging.conclude(report, {"executable": _named(arguments), "chosen_by": source})


def _named(arguments: Arguments) -> str:
    files = ", ".join(arguments.files)
    return files if arguments.include_identifiers else rewriter_of_this_machine()(files)


def told_by(arguments: Arguments, files: list[str]) -> Snapshot:
    """Return the machine that the texts and the stated facts describe."""
    stated = read_facts(arguments.fact)
    refuse_what_is_not_understood(stated)
    for doubt in doubts(stated):
        sys.stderr.write(f"gpudoctor: {printable(doubt)}\n")
    told = snapshot_of(read_texts(files), stated)
    return told if arguments.include_identifiers else redact(told, rewrite=rewriter_of_this_machine())


def _with_base(arguments: Arguments, settings: Settings, told: Snapshot) -> tuple[Snapshot, str]:
    if arguments.snapshot:
        from gpudoctor.examine.saved import read_snapshot  # noqa: PLC0415  # most texts come without one

        saved = read_snapshot(arguments.snapshot, identifiers=arguments.include_identifiers)
        return overlaid(saved.snapshot, told), f"{SAVED}{arguments.snapshot}"
    if arguments.no_machine or arguments.fact or STDIN in arguments.files:
        return told, TEXT_ALONE
    here = _this_machine(arguments, settings)
    if not _has_gpu(here) or _another_machine(here, told):
        return told, TEXT_OF_ANOTHER
    return overlaid(here, told), TEXT_OF_THIS


def _this_machine(arguments: Arguments, settings: Settings) -> Snapshot:
    from gpudoctor.cli.examine import examined  # noqa: PLC0415  # a text with facts of its own needs no collector

    return examined(arguments, settings, (), level="quick").snapshot


def _has_gpu(here: Snapshot) -> bool:
    on_bus = here.kernel is not None and bool(either(here.kernel.pci_gpus, ()))
    driver = here.nvml is not None and not isinstance(here.nvml.driver_version, Missing)
    return bool(here.gpus) or on_bus or driver


def _another_machine(here: Snapshot, told: Snapshot) -> bool:
    """Return whether the text names a GPU, driver, TensorFlow or system that is not this machine's."""
    if told.gpus and here.gpus and {each.name for each in told.gpus} - {each.name for each in here.gpus}:
        return True
    pairs = (
        (told.nvml.driver_version, here.nvml.driver_version) if told.nvml and here.nvml else None,
        (told.tensorflow.version, here.tensorflow.version) if told.tensorflow and here.tensorflow else None,
        (told.host.os, here.host.os) if told.host and here.host else None,
    )
    return any(
        pair is not None and isinstance(pair[0], str) and isinstance(pair[1], str) and pair[0] != pair[1]
        for pair in pairs
    )
