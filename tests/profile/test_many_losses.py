"""Of many losses in a second few are held; the first that is not finite is exact where all are, else within a bound."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.profile.launched import surroundings

SCRIPT = str(Path(__file__).parent / "scripts" / "many_losses.py")
HELD = 128


def told(folder: Path, *numbers: int) -> tuple[int, dict[str, Any]]:
    ran = subprocess.run(
        [sys.executable, SCRIPT, *(str(each) for each in numbers)],
        cwd=folder,
        env={**surroundings(folder), "GPUDOCTOR_SPOOL": str(folder)},
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    row: dict[str, Any] = {}
    for file in folder.glob("*.jsonl"):
        for line in file.read_text(encoding="utf-8").splitlines():
            table, values = json.loads(line)
            row.update(values if table == "losses" else {})
    return int(ran.stdout), row


@pytest.mark.parametrize("numbers", [(1, 100, 30), (2, 40, 70), (3, 40, 1)])
def test_the_step_is_exact_where_all_are_held(tmp_path: Path, numbers: tuple[int, int, int]) -> None:
    _, row = told(tmp_path, *numbers)
    assert (row["bad_step"], row["bad_within"], row["bad_value"]) == (numbers[2], 1, "nan")


@pytest.mark.parametrize("numbers", [(1, 5000, 3001), (1, 5000, 5000), (4, 2500, 7777), (1, 129, 128)])
def test_of_many_the_step_lies_within_the_bound(tmp_path: Path, numbers: tuple[int, int, int]) -> None:
    held, row = told(tmp_path, *numbers)
    assert held <= HELD
    assert row["bad_step"] - row["bad_within"] < numbers[2] <= row["bad_step"]
    assert row["bad_within"] <= 4 * numbers[0] * numbers[1] / HELD + 1
    assert row["first_value"] == "1.0"


def test_many_short_epochs_hold_no_more(tmp_path: Path) -> None:
    held, row = told(tmp_path, 1000, 1, 990)
    assert held <= HELD
    assert row["first_value"] == "1.0"
    assert row["bad_step"] - row["bad_within"] < 990 <= row["bad_step"]
