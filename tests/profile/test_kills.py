"""Kill -9 of the wrapper, the script, or both, in the middle of training: the session opens and has all but the last seconds."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from gpudoctor.profile.record import read_session
from tests.profile.launched import gpudoctor, surroundings, with_tensorflow

pytestmark = pytest.mark.tensorflow

MOST_LOST_S = 2.0  # the promise: killing any process loses at most 2 s
SCRIPT = str(Path(__file__).parent / "scripts" / "endless.py")


@pytest.mark.parametrize("moment", range(3))
@pytest.mark.parametrize("victims", ["wrapper", "script", "both"])
def test_the_session_opens_and_lacks_two_seconds_at_most(tmp_path: Path, victims: str, moment: int) -> None:
    wrapper = subprocess.Popen(
        gpudoctor("run", "-q", "--session", "s", "--", with_tensorflow(), SCRIPT),
        cwd=tmp_path,
        env=surroundings(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert wrapper.stdout is not None
    assert wrapper.stdout.readline() == b"ready\n"
    delay_s = 2 + random.Random(f"{victims} {moment}").uniform(0, 2.5)  # noqa: S311
    time.sleep(delay_s)
    script = next(each.pid for each in read_session(tmp_path / "s").processes)
    killed_at = time.time()
    if victims != "script":
        wrapper.kill()
    if victims != "wrapper":
        os.kill(script, signal.SIGKILL)
    code = wrapper.wait(30)
    session = read_session(tmp_path / "s")
    with suppress(ProcessLookupError):
        os.kill(script, signal.SIGKILL)
    wrapper.stdout.close()
    assert code == (128 + signal.SIGKILL if victims == "script" else -signal.SIGKILL)
    assert session.outcome == ("ended" if victims == "script" else "cut_short")
    assert session.trained
    assert killed_at - max(each.at for each in session.steps) <= MOST_LOST_S
