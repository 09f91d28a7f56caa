"""Real scripts, each with one fault, run unchanged under the wrapper: the first cause and its line; healthy ones stay quiet."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gpudoctor import codec
from tests.profile.launched import run, with_tensorflow

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]
SCRIPTS = Path(__file__).parent / "scripts"
FAULTY = sorted(each.name for each in SCRIPTS.glob("fault_*.py"))
HEALTHY = sorted(each.name for each in SCRIPTS.glob("healthy_*.py"))
FAULT = re.compile(r'"""Fault: ([\w-]+)\.')
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "PYTHONDONTWRITEBYTECODE": "1"}


def report(name: str, folder: Path) -> Any:  # a JSON document
    """Run a script under the wrapper and return the report that it wrote."""
    place = folder / "report.json"
    script = str(SCRIPTS / name)
    ran = run(folder, with_tensorflow(), script, options=("--json", str(place)), environ=QUIET)
    assert ran.code == 0, ran.err
    return codec.loads(place.read_bytes())


@pytest.mark.parametrize("name", FAULTY)
def test_the_first_cause_of_a_seeded_fault_is_right_and_its_line_exact(name: str, tmp_path: Path) -> None:
    text = (SCRIPTS / name).read_text(encoding="utf-8")
    fault = FAULT.match(text)
    assert fault is not None
    first = report(name, tmp_path)["findings"][0]
    assert first["cause"] == fault[1]
    wanted = [number for number, line in enumerate(text.splitlines(), start=1) if "# <- here" in line]
    assert not wanted or first["location"]["line"] in wanted


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_above_a_note_is_found_in_a_healthy_run(name: str, tmp_path: Path) -> None:
    found = report(name, tmp_path)["findings"]
    assert [(each["code"], each["summary"]) for each in found if each["severity"] != "info"] == []
