"""What the README promises of `run` beside its table: its two methods, and the switch of the one inside the user's process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from gpudoctor.profile.agent import windows

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
WITHOUT_PROFILER = re.compile(r"`([A-Z_]+)=0 gpudoctor (run -- python train\.py)`")


def test_the_command_without_the_profiler_runs_and_its_switch_is_the_agents(tmp_path: Path) -> None:
    ((name, words),) = WITHOUT_PROFILER.findall(README)
    assert name == windows.OFF
    (tmp_path / "train.py").write_text("print('trained')\n", encoding="utf-8")
    command = [sys.executable, "-m", "gpudoctor", *words.replace("python", sys.executable).split()]
    env = {**os.environ, name: "0", "XDG_STATE_HOME": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "trained\n")
