"""Importing the fact base must not load its tables: the doors of the product start before anybody asks."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

from gpudoctor.knowledge import drivers, gpus, tensorflow_releases

LOAD_ALL = (
    "import sys; from gpudoctor.knowledge import causes, clock_events, cuda_toolkits, cudnn_releases, drivers, gpus, "
    "nvml_returns, tensorflow_releases, versions, xids; print(*[name for name in sys.modules if name.endswith('_data')], "
    "*[name for name in ('tomllib', 'packaging', 'json') if name in sys.modules])"
)


def test_no_table_is_loaded_before_it_is_asked() -> None:
    done = subprocess.run([sys.executable, "-c", LOAD_ALL], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_row_is_shown_by_its_name_and_equal_to_itself_only() -> None:
    rows = (drivers.branch("580"), tensorflow_releases.release_of("2.20.0"), gpus.spec_for("Tesla T4"))
    assert [repr(each) for each in rows] == ["Branch('580')", "TfRelease('2.20')", "GpuSpec('t4')"]
    assert len({*rows, *rows}) == 3


def test_a_row_cannot_be_changed() -> None:
    branch = drivers.branch("580")
    with pytest.raises(FrozenInstanceError):
        branch.number = "535"  # type: ignore[misc, union-attr]  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]
