"""However the recorder is occupied when the interpreter ends: no thread of ours is left behind, and the exit code is the script's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gpudoctor.model.missing import Missing
from tests.profile.launched import run, script, with_tensorflow

SCRIPT = str(Path(__file__).parent / "scripts" / "ends_anywhere.py")
AGENT = Path(__file__).parents[2] / "gpudoctor" / "profile" / "agent"
BUSY = """
import atexit, sys, time, types
package = types.ModuleType("_gpudoctor_agent"); package.__path__ = [sys.argv[1]]
sys.modules["_gpudoctor_agent"] = package
from _gpudoctor_agent import threads
told = []
def inside():
    while not threads.stopped(0.005):
        pass
    threads.start(told.append, "one that begins at the end")
    time.sleep(0.3)
    told.append("ended")
threads.start(inside)
"""


def test_the_end_waits_for_a_thread_that_is_at_work_and_lets_none_begin(tmp_path: Path) -> None:
    text = BUSY + "threads.ask(); print(threads.wait(), told, threads.threads.running)\n"
    ended = subprocess.run(
        [sys.executable, script(tmp_path, text), str(AGENT)], cwd=tmp_path, capture_output=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"True ['ended'] []\n", b"")


@pytest.mark.tensorflow
@pytest.mark.long
def test_processes_that_end_while_the_recorder_is_inside_tensorflow_end_as_they_would(tmp_path: Path) -> None:
    watched = run(tmp_path, with_tensorflow(), SCRIPT, "32", "8")
    assert watched.code == 0
    assert b"32\n" in watched.out, watched.out
    assert b"ended" not in watched.out
    processes = [each for each in watched.session.processes if not isinstance(each.ended_at, Missing)]
    assert len(processes) == 32
    assert [each.text for each in watched.session.events if each.kind == "agent_fault"] == []
