"""What the command line said, as every sub-command reads it: one flat record, each command uses its part."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpudoctor.model.words import FailOn, Level


@dataclass(slots=True)
class Arguments(argparse.Namespace):
    """Everything the sub-commands read; each uses its part."""

    command: str = ""
    json: bool = False
    verbose: bool = False
    level: Level | None = None
    select: list[str] = field(default_factory=list[str])
    ignore: list[str] = field(default_factory=list[str])
    fail_on: FailOn | None = None
    strict: bool = False
    expect_gpus: int | None = None
    timeout: float | None = None
    python: str | None = None
    force: bool = False
    snapshot: str | None = None
    log: list[str] = field(default_factory=list[str])
    fact: list[str] = field(default_factory=list[str])
    no_machine: bool = False
    save_snapshot: str | None = None
    include_identifiers: bool = False
    output: str | None = None
    outputs: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    baseline: str | None = None
    write_baseline: str | None = None
    yes: bool = False
    overwrite: bool = False
    script: list[str] = field(default_factory=list[str])
    session: str | None = None
    quiet: bool = False
    json_file: str | None = None
    format: str = "text"
    files: list[str] = field(default_factory=list[str])
    older_than: float | None = None
    max_regression: float | None = None
    action: str = "show"
    trial: list[str] = field(default_factory=list[str])
    once: bool = False
    csv: bool = False
    interval: float = 1.0
    theme: str = "dark"
    readonly: bool = False
    demo: bool = False
    screenshot: str | None = None
    view: str | None = None
    name: str = ""
    document: str = "report"
