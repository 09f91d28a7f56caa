"""One JSON object a line, for log collectors: each check, each finding, each fix, and the summary last.

Every line stands alone, so each carries the schema version; the objects are those of the report.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpudoctor.codec import compact, report_to_builtins
from gpudoctor.diagnose.gate import exit_code
from gpudoctor.model.report import Report
from gpudoctor.present import lines


def render(report: Report) -> str:
    """Return the lines."""
    return "".join(compact(event) + "\n" for event in _events(report))


def _events(report: Report) -> Iterator[dict[str, Any]]:  # JSON objects
    document = report_to_builtins(report)
    version = document["schema_version"]
    run = {name: document[name] for name in ("tool", "started_at", "level", "target")}
    yield {"schema_version": version, "event": "scan", **run}
    for event, group in (("check", "checks"), ("finding", "findings"), ("fix", "fixes"), ("plugin", "plugins")):
        for each in document[group]:
            yield {"schema_version": version, "event": event, event: each}
    code = int(report.tool.get("exit_code", "70")) if lines.failed_run(report) else exit_code(report)
    last = {"summary": document["summary"], "duration_s": document["duration_s"], "exit_code": code}
    yield {"schema_version": version, "event": "summary", **last}
