"""Configured rules hold for a recorded run too, and a mistake in them is told before the command is started."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.system.command import bare_environment, gpudoctor

SCRIPT = "open('started', 'w').close()\n"


def ran(folder: Path, project: str) -> tuple[int, str]:
    (folder / "gpudoctor.toml").write_text(project, encoding="utf-8")
    (folder / "train.py").write_text(SCRIPT, encoding="utf-8")
    env = bare_environment(folder / "home", XDG_STATE_HOME=str(folder / "state"))
    told = gpudoctor("run", "--quiet", "--", sys.executable, "train.py", env=env, folder=folder)
    return told.code, told.err


def test_a_mistake_is_told_and_nothing_is_started(tmp_path: Path) -> None:
    code, err = ran(tmp_path, "[rules.GD614]\nfewest_call = 3\n")
    assert code == 2
    assert "did you mean 'fewest_calls'" in err
    assert not (tmp_path / "started").exists()


def test_right_rules_leave_the_command_alone(tmp_path: Path) -> None:
    code, _ = ran(tmp_path, '[rules.GD614]\nfewest_calls = 3\nseverity = "info"\n')
    assert code == 0
    assert (tmp_path / "started").exists()
