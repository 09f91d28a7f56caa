"""The formats of a report by name; each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module

from gpudoctor.model.report import Report

MACHINE = ("json", "jsonl", "junit", "github", "markdown")
NAMES = ("text", *MACHINE)


def render(name: str, report: Report) -> str:
    """Return the report in one of the formats for machines and pages (`text` has options of its own)."""
    text: str = import_module(f"gpudoctor.present.{name}").render(report)
    return text
