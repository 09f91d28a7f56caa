"""The interpreter whose TensorFlow is trained with: named by a variable, else the test interpreter's own, else none."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

VARIABLE = "GPUDOCTOR_TEST_TENSORFLOW"
PROBE = Path(__file__).parents[2] / "gpudoctor" / "probe"
HIDDEN = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"}  # the tests are about a machine without a GPU


def interpreter() -> str:
    """Return its path; skip the test where there is none."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip(f"no TensorFlow here, and {VARIABLE} names no Python that has one")
    return sys.executable


def ask(script: str, *arguments: str, **variables: str) -> Any:
    """Run a script of this folder under that interpreter and return the JSON of its last line."""
    path = Path(__file__).with_name(script)
    told = subprocess.run(
        [interpreter(), str(path), str(PROBE), *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert told.returncode == 0, told.stderr[-3000:]
    return json.loads(told.stdout.splitlines()[-1])
