"""Kill -9 of the wrapper, the script, or both, in the middle of training: the session opens and has all but the last seconds."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.benchmarks.kill_trial import VICTIMS, trial
from tests.profile.launched import with_tensorflow

pytestmark = pytest.mark.tensorflow


@pytest.mark.parametrize("victims", VICTIMS)
def test_the_session_opens_and_lacks_two_seconds_at_most_and_the_report_says_it(tmp_path: Path, victims: str) -> None:
    killed = trial(tmp_path, with_tensorflow(), victims, 2 + random.Random(victims).uniform(0, 2.5))  # noqa: S311
    assert killed.faults == []
    assert killed.steps > 0


@pytest.mark.long
@pytest.mark.parametrize("moment", [0.0, 0.1, 0.5, 1.0, 1.5])
@pytest.mark.parametrize("victims", VICTIMS)
def test_it_does_so_whenever_the_kill_comes(tmp_path: Path, victims: str, moment: float) -> None:
    assert trial(tmp_path, with_tensorflow(), victims, moment).faults == []
