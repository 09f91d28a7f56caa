"""Windows of TensorFlow's profiler in real training: they change and print nothing, and make way for the script's own."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from gpudoctor.model.missing import Missing
from gpudoctor.model.run import StepTimes
from gpudoctor.profile.record import read_trace
from gpudoctor.profile.timeline import analyse
from gpudoctor.profile.windows import window_shares
from tests.profile.launched import Ran, plain, run, script, with_tensorflow
from tests.side_by_side import together

pytestmark = pytest.mark.tensorflow

SCRIPT = str(Path(__file__).parent / "scripts" / "windowed.py")
EVERYTHING = {"TF_CPP_MIN_LOG_LEVEL": "0"}  # TensorFlow's most talkative level, and what people have


def steps_of(ran: Ran) -> StepTimes:
    steps = analyse(ran.session, window_shares(ran.path, ran.session)).steps
    assert steps is not None
    return steps


def lines(text: bytes) -> set[bytes]:
    """Return the distinct lines, without digits: times, processes and threads."""
    return {bytes(each for each in line if not chr(each).isdigit()).strip() for line in text.splitlines()}


def test_a_window_is_recorded_and_nothing_of_the_script_changes(tmp_path: Path) -> None:
    command = (with_tensorflow(), SCRIPT, "fit")
    alone, again = together(*[partial(plain, tmp_path, *command, environ=EVERYTHING)] * 2)
    watched = run(tmp_path, *command, environ=EVERYTHING)
    assert alone.out == again.out, "the script does not repeat itself; nothing can be told from it"
    assert watched.out == alone.out
    assert lines(watched.err) - (lines(alone.err) | lines(again.err)) == set()
    first = watched.session.windows[0]
    assert (first.status, first.label) == ("ok", "fit")
    assert read_trace(watched.path, first.process, first.window)
    steps = steps_of(watched)
    assert steps.methods == ("stamps", "window")
    assert not isinstance(steps.window_input_share, Missing)
    assert [each.text for each in watched.session.events if each.kind == "agent_fault"] == []


@pytest.mark.long
@pytest.mark.parametrize("kind", ["loop", "on_batch", "four_per_execution", "compiled"])
def test_windows_work_in_each_kind_of_loop(tmp_path: Path, kind: str) -> None:
    command = (with_tensorflow(), SCRIPT, kind)
    alone, watched = plain(tmp_path, *command), run(tmp_path, *command)
    assert watched.out == alone.out
    assert [each.status for each in watched.session.windows][:1] == ["ok"]
    steps = steps_of(watched)
    if kind == "four_per_execution":
        assert steps.methods == ("window",)
        assert not isinstance(steps.shares.input, Missing)
    elif kind != "on_batch":
        assert steps.methods == ("stamps", "window")


@pytest.mark.long
def test_the_scripts_own_profiler_goes_first(tmp_path: Path) -> None:
    watched = run(tmp_path, with_tensorflow(), SCRIPT, "profiled")
    assert watched.code == 0, watched.err.decode()[-2000:]
    told = {(each.status, each.reason) for each in watched.session.windows}
    assert ("refused", "the script profiles itself") in told


@pytest.mark.long
def test_a_fork_ends_a_window_and_the_training_goes_on(tmp_path: Path) -> None:
    command = (with_tensorflow(), SCRIPT, "forks")
    alone, watched = plain(tmp_path, *command), run(tmp_path, *command)
    assert watched.code == 0, watched.err.decode()[-2000:]
    assert watched.out == alone.out
    assert "the process forked" in {each.reason for each in watched.session.windows}


def test_a_run_of_two_seconds_has_no_window_and_says_why(tmp_path: Path) -> None:
    short = script(
        tmp_path,
        "import keras, numpy as np\n"
        "model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])\n"
        "model.compile('sgd', 'mse')\n"
        "model.fit(np.zeros((640, 4)), np.zeros((640, 1)), batch_size=8, verbose=0, epochs=2)\n",
    )
    watched = run(tmp_path, with_tensorflow(), short)
    assert [each.status for each in watched.session.windows] == ["refused"]
    why = steps_of(watched).window_input_share
    assert isinstance(why, Missing)
    assert "ended before a window was due" in why.reason
