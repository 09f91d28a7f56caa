"""Prints the robustness matrix: one row a machine, with what a scan answered and whether it was the truth.

python -m tests.system.matrix
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import jsonschema

from tests.fakes import SCENARIOS
from tests.system import target
from tests.system.command import Json, bare_environment, cause_of, gpudoctor
from tests.system.scenes import Scan, assert_the_truth_is_told, assert_well_behaved, scan


def main() -> int:
    """Scan all machines; return 0 where every row is right."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        stand_in = target.build(root / "venv")
        schema = gpudoctor("schema", "report", env=bare_environment(root / "home")).document
        sys.stdout.write(f"{'scenario':<26}{'status':<9}{'primary cause':<26}{'rc':<4}{'lines':<7}{'s':<7}verdict\n")
        right = sum(_row(scan(each, stand_in.python, root / each.name), schema) for each in SCENARIOS.values())
    sys.stdout.write(f"{right} of {len(SCENARIOS)} right\n")
    return 0 if right == len(SCENARIOS) else 1


def _row(seen: Scan, schema: Json) -> bool:
    faults = [each for each in (_fault(seen), _schema_fault(seen, schema)) if each]
    report = seen.report
    said = str(cause_of(report) or report["summary"]["headline"])
    sys.stdout.write(
        f"{seen.scenario.name:<26}{report['summary']['status']:<9}{said[:25]:<26}{seen.json.code:<4}"
        f"{len(seen.text.lines):<7}{seen.json.duration_s:<7.2f}{'; '.join(faults) or 'right'}\n"
    )
    return not faults


def _fault(seen: Scan) -> str:
    try:
        assert_well_behaved(seen)
        assert_the_truth_is_told(seen)
    except AssertionError as fault:
        return " ".join(str(fault).split())[:200] or "an assertion failed"
    return ""


def _schema_fault(seen: Scan, schema: Json) -> str:
    try:
        jsonschema.validate(seen.report, schema)
    except jsonschema.ValidationError as fault:
        return f"schema: {fault.message[:120]}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
