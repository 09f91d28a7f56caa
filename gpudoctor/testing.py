"""For authors of checks: judge one check on one machine in one call."""

from __future__ import annotations

from pathlib import Path

from gpudoctor.codec import load_snapshot
from gpudoctor.diagnose import engine
from gpudoctor.diagnose.facts import gather
from gpudoctor.diagnose.from_text import overlaid
from gpudoctor.logs.facts import snapshot_of
from gpudoctor.logs.intake import read_texts
from gpudoctor.model.report import Verdict
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.sdk import Check

__all__ = ["judge", "load_machine"]


def judge(check: Check[...], snapshot: Snapshot) -> Verdict:
    """Return the verdict of the check on the snapshot (`verdict.status`, `verdict.findings`)."""
    return engine.judge(check, gather(snapshot), snapshot)


def load_machine(folder: Path) -> Snapshot:
    """Read the snapshot of a recorded machine (`fixtures/machines/<slug>`), with the text of its run where it has one."""
    snapshot = load_snapshot((folder / "snapshot.json").read_bytes(), name=folder.name)
    text = folder / "run.log"
    return overlaid(snapshot, snapshot_of(read_texts([str(text)]))) if text.is_file() else snapshot
