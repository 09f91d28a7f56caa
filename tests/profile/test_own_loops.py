"""Loops of a user's own that feed arrays to their own steps: every step is counted once, and nothing that the script does changes."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from gpudoctor.model.missing import Missing
from gpudoctor.model.run import StepTimes
from gpudoctor.model.session import Session
from gpudoctor.profile.between import step_parts
from gpudoctor.profile.steps import Loop, main_loop
from gpudoctor.profile.timeline import analyse
from gpudoctor.profile.windows import window_shares
from tests.profile.launched import Ran, plain, run, script, with_tensorflow
from tests.side_by_side import together

pytestmark = pytest.mark.tensorflow

SCRIPT, WINDOWED = (str(Path(__file__).parent / "scripts" / name) for name in ("own_loops.py", "windowed.py"))
ADDRESS = re.compile(rb"\b0x[0-9a-f]+")
STEPS = 40  # 2 epochs of 20 batches
# kind of loop -> its steps, and what counts them
COUNTED = {
    "eager": (STEPS, "update"),
    "in_a_function": (STEPS, "function"),
    "of_arrays": (STEPS, "function"),
    "compiled_by_xla": (STEPS, "function"),
    "of_each_model": (STEPS, "function"),
    "method_in_a_method": (STEPS, "function"),
    "traced_before": (STEPS, "function"),
    "of_one_graph": (STEPS, "function"),
    "without_keras": (STEPS, "function"),
    "accumulated": (STEPS // 4, "update"),
    "two_tapes": (STEPS, "update"),
    "two_functions": (STEPS, "function"),
    "forward_in_a_function": (STEPS, "update"),
    "gradient_in_a_function": (STEPS, "update"),
    "evaluated_between": (STEPS, "function"),
}
Three = tuple[Ran, Ran, Ran]


@pytest.fixture(scope="module")
def all_kinds(tmp_path_factory: pytest.TempPathFactory) -> Three:
    """Return the script watched, alone, and alone again."""
    command = (with_tensorflow(), SCRIPT, *COUNTED)
    folder = tmp_path_factory.mktemp("own")
    watched, alone, again = together(*(partial(each, folder, *command) for each in (run, plain, plain)))
    assert (alone.code, watched.code) == (0, 0), watched.err.decode()[-3000:]
    return watched, alone, again


def _digest(told: bytes, name: str) -> str:
    return dict(line.split() for line in told.decode().splitlines())[name]


def _loop(session: Session, name: str) -> Loop:
    """Return the main loop of the kind, as if nothing else had run."""
    own = {each.loop for each in session.loops if each.function == name}
    loop = main_loop(
        replace(
            session,
            loops=tuple(each for each in session.loops if each.loop in own),
            steps=tuple(each for each in session.steps if each.loop in own),
        )
    )
    assert loop is not None, f"no step of {name} was counted"
    return loop


@pytest.mark.parametrize("name", COUNTED)
def test_losses_and_weights_are_the_same_bit_for_bit(all_kinds: Three, name: str) -> None:
    watched, alone, again = all_kinds
    assert _digest(again.out, name) == _digest(alone.out, name), "the script does not repeat itself"
    assert _digest(watched.out, name) == _digest(alone.out, name)


@pytest.mark.parametrize("name", COUNTED)
def test_every_step_is_counted_once(all_kinds: Three, name: str) -> None:
    loop = _loop(all_kinds[0].session, name)
    assert (loop.steps, loop.record.kind) == COUNTED[name]


def test_nothing_of_ours_failed(all_kinds: Three) -> None:
    assert [each.text for each in all_kinds[0].session.events if each.kind == "agent_fault"] == []


def test_the_scripts_stderr_is_the_same_apart_from_times_and_ids(all_kinds: Three) -> None:
    watched, alone, again = (_lines(each.err) for each in all_kinds)
    assert watched - (alone | again) == set()
    assert (alone & again) - watched == set()


def _lines(text: bytes) -> set[bytes]:
    """Return the distinct lines, without digits and addresses."""
    plain_text = ADDRESS.sub(b"", text)
    return {bytes(each for each in line if not chr(each).isdigit()).strip() for line in plain_text.splitlines()}


def test_what_a_step_calls_outside_of_a_graph_is_told_apart_from_what_is_in_one(all_kinds: Three) -> None:
    session = all_kinds[0].session
    parts = {name: {each.kind for each in step_parts(_only(session, name), _loop(session, name))} for name in COUNTED}
    assert parts["in_a_function"] == parts["two_functions"] == {"function"}
    assert parts["eager"] == {"tape", "gradient", "update"}
    assert parts["forward_in_a_function"] == {"function", "tape", "gradient", "update"}
    assert parts["gradient_in_a_function"] == {"function", "update"}


def _only(session: Session, name: str) -> Session:
    return replace(session, step_parts=tuple(each for each in session.step_parts if each.function == name))


KEPT = """
import _thread, inspect, pickle, sys, tempfile, time
import tensorflow as tf

class Net(tf.Module):
    def __init__(self):
        self.w = tf.Variable([[1.0], [2.0]])

    @tf.function(input_signature=[tf.TensorSpec((None, 2))])
    def step(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x @ self.w) ** 2)
        self.w.assign_sub(0.01 * tape.gradient(loss, self.w))
        return loss

def cube(x: float, *, y: int = 3) -> float:
    "Docs."
    return x ** y

function, net = tf.function(cube), Net()
for _ in range(30):
    net.step(tf.ones((4, 2)))
    function(tf.constant(2.0))
kind = type(function)
print(kind.__module__, kind.__qualname__, isinstance(function, tf.types.experimental.PolymorphicFunction))
print(inspect.signature(function), function.__doc__, function.__name__, inspect.signature(kind.__call__))
print(inspect.signature(tf.GradientTape.gradient), tf.GradientTape.gradient.__qualname__)
print(sorted(vars(function)), sorted(vars(kind)))
sys.unraisablehook = lambda told: print(told.exc_type.__name__, told.exc_value)
_thread.start_new_thread(function, (tf.constant(2.0),))
time.sleep(0.5)
print(net.step is net.step, hash(function) == hash(function), function == tf.function(cube))
place = tempfile.mkdtemp()
tf.saved_model.save(net, place)
again = tf.saved_model.load(place)
print(again.step(tf.ones((1, 2))).numpy(), len(open(place + "/saved_model.pb", "rb").read()) > 100)
print(b"gpudoctor" in open(place + "/saved_model.pb", "rb").read())
try:
    print(sorted(pickle.loads(pickle.dumps(function)).__dict__))
except Exception as error:
    print(type(error).__name__)
try:
    net.step(tf.ones((3, 5)))
except Exception as error:
    import traceback
    print([each.name for each in traceback.extract_tb(error.__traceback__) if "site-packages" not in each.filename])
"""


def test_functions_keep_what_they_are(tmp_path: Path) -> None:
    """Identity, signature, attributes, pickles, saved models and tracebacks are those of an unwatched run."""
    name = script(tmp_path, KEPT)
    watched, alone = (each(tmp_path, with_tensorflow(), name) for each in (run, plain))
    assert alone.code == 0, alone.err.decode()[-2000:]
    assert watched.out.decode() == alone.out.decode()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["own", "own_eager"])
def test_a_profiler_window_and_the_time_between_the_calls_agree_on_the_users_own_python(
    tmp_path: Path, kind: str
) -> None:
    command = (with_tensorflow(), WINDOWED, kind)
    alone, watched = plain(tmp_path, *command), run(tmp_path, *command)
    assert watched.out == alone.out
    steps = analyse(watched.session, window_shares(watched.path, watched.session)).steps
    assert steps is not None
    assert (steps.methods, steps.agree) == (("stamps", "window"), True)
    assert not isinstance(steps.shares.host, Missing)
    assert steps.shares.host * _seconds(steps) > 0.009  # a batch sleeps for 10 ms
    assert steps.parts[0].kind == ("function" if kind == "own" else "update")


def _seconds(steps: StepTimes) -> float:
    assert not isinstance(steps.step_s, Missing)
    return steps.step_s
