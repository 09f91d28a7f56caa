"""What a script saves, exports, copies or configures under `gpudoctor run` holds nothing of ours and works as before."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.profile.launched import Ran, plain, run, with_tensorflow
from tests.side_by_side import together

pytestmark = pytest.mark.tensorflow

SCRIPTS = Path(__file__).parent / "scripts"


def _both(folder: Path, name: str) -> tuple[Ran, Ran]:
    command = (with_tensorflow(), str(SCRIPTS / name))
    for each in ("alone", "watched"):
        (folder / each).mkdir()
    watched, alone = together(partial(run, folder, *command, "watched"), partial(plain, folder, *command, "alone"))
    return alone, watched


def test_saved_exported_and_copied_models_hold_nothing_of_ours(tmp_path: Path) -> None:
    alone, watched = _both(tmp_path, "saves_its_model.py")
    assert watched.code == 0, watched.err.decode()[-2000:]
    lines = watched.out.decode().splitlines()
    assert lines[0] == "True 4 2"
    assert lines[1] == "20.0"
    assert len(lines) > 10
    assert not [line for line in lines[2:] if "True" in line]
    assert watched.out == alone.out
    assert not [each for each in watched.session.events if each.kind == "agent_fault"]


def test_devices_are_still_to_be_configured_and_graphs_of_tf1_are_left_alone(tmp_path: Path) -> None:
    alone, watched = _both(tmp_path, "configures_devices.py")
    assert watched.out.decode().splitlines() == ["False", "3", "False", "0 1", "[0, 1] 0"], watched.err.decode()[-2000:]
    assert watched.out == alone.out
