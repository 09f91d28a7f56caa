"""The tables of a session file, made from the dataclasses of `model.session`: a field is a column.

Hand-written SQL would read better on its own; it would also drift from the dataclasses that everything else reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass as standard_dataclass
from dataclasses import fields
from functools import cache

from gpudoctor.model import sampled, session, told

SCHEMA_VERSION = 1  # PRAGMA user_version; an older gpudoctor refuses a newer file


@standard_dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: its record, and the columns that name a row (a second message about it updates the row); none: append."""

    record: type
    key: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the column names."""
        return _columns(self.record)


@cache
def _columns(record: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(record))


TABLES: Mapping[str, Table] = {
    "processes": Table(record=session.ProcessRecord, key=("process",)),
    "loops": Table(record=session.LoopRecord, key=("process", "loop")),
    "steps": Table(record=session.StepSample),
    "step_parts": Table(record=session.StepPartRecord, key=("process", "part")),
    "phases": Table(record=session.PhaseRecord, key=("process", "phase")),
    "traces": Table(record=session.TraceRecord),
    "settings": Table(record=session.Setting, key=("process", "subject", "name")),
    "call_sites": Table(record=session.CallSite, key=("process", "site")),
    "iterators": Table(record=session.IteratorRecord, key=("process", "iterator")),
    "pipeline_nodes": Table(record=session.PipelineNode, key=("process", "iterator", "node")),
    "stack_lines": Table(
        record=sampled.StackLine, key=("process", "role", "file", "line", "function", "activity", "leaf")
    ),
    "bursts": Table(record=sampled.Burst),
    "syncs": Table(record=sampled.SyncRecord, key=("process", "file", "line", "method")),
    "memory": Table(record=session.MemorySample),
    "gpu_samples": Table(record=session.GpuSample),
    "host_samples": Table(record=session.HostSample),
    "windows": Table(record=session.WindowRecord, key=("process", "window")),
    "events": Table(record=session.Event),
    "losses": Table(record=told.LossRecord, key=("process", "loss")),
    "messages": Table(record=told.MessageRecord, key=("process", "number")),
}


def statements() -> list[str]:
    """Return the SQL that makes an empty session."""
    made = [
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
        "CREATE TABLE spools (file TEXT PRIMARY KEY, offset INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE traces_of_windows (process TEXT, window INTEGER, data BLOB, PRIMARY KEY (process, window))",
    ]
    for name, table in TABLES.items():
        key = f", PRIMARY KEY ({', '.join(table.key)})" if table.key else ""
        made.append(f"CREATE TABLE {name} ({', '.join(table.columns)}{key})")
    return made
