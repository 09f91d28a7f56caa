"""A warning names the same line, and a failing import prints the same traceback, whether the recorder is in the process or not."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.profile.launched import Ran, plain, run, script, with_tensorflow
from tests.side_by_side import together

PYTHON = sys.executable
SCRIPT = str(Path(__file__).parent / "scripts" / "warns_by_stack_level.py")
# What differs from run to run: names of temporary files, times and threads in front of what TensorFlow logs, and the number of
# a function, which counts all operations made so far
VARYING = re.compile(
    rb"__autograph_generated_file\w+|(?m:^[IWE]\d{4} \d\d:\d\d:\d+\.\d+ +\d+)|(?m:^[-\d]+ [:.\d]+: )|(?<=__inference_)\w+"
)
LEVELS = "import warnings\nfor level in range(1, 9):\n    warnings.warn(str(level), stacklevel=level)\n"


def constant(text: bytes) -> list[str]:
    """Return the lines, without what differs from run to run."""
    return VARYING.sub(b"", text).decode().splitlines()


@pytest.fixture(scope="module")
def warned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, Ran]:
    """Return the script that warns, alone and watched."""
    folder, python = tmp_path_factory.mktemp("warns"), with_tensorflow()
    watched, alone = together(partial(run, folder, python, SCRIPT), partial(plain, folder, python, SCRIPT))
    return alone, watched


@pytest.mark.tensorflow
def test_warnings_below_every_hook_name_the_same_lines_at_every_stack_level(warned: tuple[Ran, Ran]) -> None:
    alone, watched = warned
    assert alone.err.endswith(b"ended\n"), alone.err.decode()[-3000:]
    assert alone.err.count(b"UserWarning: ") > 13 * 5
    assert constant(watched.err) == constant(alone.err)
    assert [each.text for each in watched.session.events if each.kind == "agent_fault"] == []


@pytest.mark.tensorflow
def test_tensorflow_itself_warns_by_stack_level_where_the_recorder_hooks(warned: tuple[Ran, Ran]) -> None:
    """The seed of a function around a map: the one warning of tf.data that names its caller's caller (TensorFlow 2.12 on)."""
    err = warned[1].err
    assert b"from outer graph might be getting used by function" in err


CATCHES = """
import logging, traceback
import keras, numpy as np, tensorflow as tf

def tried(work):
    try:
        work()
    except Exception:
        traceback.print_exc()

def broken(x):
    raise ValueError("mine")

def batches():
    yield np.zeros((2, 4)), np.zeros((2, 1))
    raise ValueError("the data")

class Ends(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        raise RuntimeError("the callback")

@tf.function
def loop(ds):
    for each in ds:
        broken(each)

x, y = np.zeros((4, 4)), np.zeros((4, 1))
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
numbers = tf.data.Dataset.range(3)
shapes = tf.TensorSpec((None, 4)), tf.TensorSpec((None, 1))
tf.debugging.disable_traceback_filtering()
keras.config.disable_traceback_filtering() if hasattr(keras, "config") else None
tried(lambda: numbers.map(broken))
tried(lambda: numbers.map())
tried(lambda: loop(numbers))
tried(lambda: bool(tf.constant([1, 2])))
tried(lambda: float(tf.constant([1.0, 2.0])))
tried(lambda: next(iter(tf.data.Dataset.from_tensor_slices(x).take(0))))
tried(lambda: model.fit(x, y, verbose=0, callbacks=[Ends()]))
tried(lambda: model.train_on_batch(x[:, :2], y))
tried(lambda: model.fit(x, y, verbose=0, callbacks=3))
tf.debugging.enable_traceback_filtering()
tried(lambda: numbers.map(broken))
tried(lambda: model.fit(x, y, verbose=0, callbacks=[Ends()]))
try:
    loop(numbers)
except Exception:
    logging.exception("logged")
"""


@pytest.mark.tensorflow
def test_a_traceback_that_the_script_catches_and_prints_is_the_same(tmp_path: Path) -> None:
    python = with_tensorflow()
    asked = plain(tmp_path, python, "-c", "import sys; print(sys.version_info >= (3, 11))")
    if asked.out != b"True\n":
        pytest.skip("before Python 3.11 a frame cannot be taken out of a traceback on its way")
    name = script(tmp_path, CATCHES)
    watched, alone = together(partial(run, tmp_path, python, name), partial(plain, tmp_path, python, name))
    assert alone.err.count(b"Traceback (most recent call last)") >= 11
    assert constant(watched.err) == constant(alone.err)


STACKS = """
import inspect, logging, traceback
import keras, numpy as np, tensorflow as tf

class Tells(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        traceback.print_stack()
        logging.warning("logged", stack_info=True)
        traceback.print_list(traceback.StackSummary.extract(traceback.walk_stack(None)))

def batches():
    traceback.print_stack(limit=3)
    yield np.zeros((2, 4), "float32")

def mapped(x):
    traceback.print_stack()
    return x

x, y = np.zeros((4, 4)), np.zeros((4, 1))
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, verbose=0, callbacks=[Tells()])
model.evaluate(x, y, verbose=0)
list(tf.data.Dataset.from_generator(batches, output_signature=tf.TensorSpec((2, 4))).map(mapped))
named = (model.fit, model.evaluate, model.predict, model.train_on_batch, model.test_on_batch, model.predict_on_batch)
for each in (*named, keras.callbacks.CallbackList.on_epoch_end, tf.data.Dataset.map, tf.data.Dataset.zip, tf.GradientTape.gradient):
    print(inspect.getfullargspec(each), inspect.signature(each))
"""


@pytest.mark.tensorflow
def test_a_stack_that_the_script_prints_is_the_same_and_so_is_what_it_asks_of_keras_methods(tmp_path: Path) -> None:
    python, name = with_tensorflow(), script(tmp_path, STACKS)
    watched, alone = together(partial(run, tmp_path, python, name), partial(plain, tmp_path, python, name))
    assert alone.code == 0, alone.err.decode()[-3000:]
    assert alone.err.count(b", in on_epoch_end") == 6  # the callback and Keras around it
    assert constant(watched.err) == constant(alone.err)
    assert watched.out == alone.out


def stub(folder: Path, text: str) -> dict[str, str]:
    """Make a package that is called tensorflow and has this code; return the environment that finds it."""
    (folder / "lib" / "tensorflow").mkdir(parents=True)
    (folder / "lib" / "tensorflow" / "__init__.py").write_text(text, encoding="ascii")
    return {"PYTHONPATH": str(folder / "lib")}


@pytest.mark.parametrize(
    "text",
    [
        LEVELS,
        "raise ValueError('numpy.dtype size changed')\n",
        "raise ImportError('libcudart.so.12: cannot open shared object file')\n",
        "import not_there\n",
        "def (\n",
        "raise SystemExit(4)\n",
    ],
    ids=["warns", "fails", "cannot be imported", "lacks a module", "is broken", "exits"],
)
def test_an_import_of_tensorflow_warns_and_fails_as_it_does_alone(tmp_path: Path, text: str) -> None:
    environ = stub(tmp_path, text)
    name = script(tmp_path, "def load():\n    import tensorflow\n\n\nload()\n")
    alone, watched = (each(tmp_path, PYTHON, name, environ=environ) for each in (plain, run))
    assert alone.err or alone.code == 4
    assert (watched.code, watched.err) == (alone.code, alone.err)


def test_a_sitecustomize_of_the_users_warns_as_it_does_alone(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "sitecustomize.py").write_text(LEVELS, encoding="ascii")
    environ = {"PYTHONPATH": str(tmp_path / "lib")}
    alone, watched = (each(tmp_path, PYTHON, "-c", "pass", environ=environ) for each in (plain, run))
    assert alone.err
    assert watched.err == alone.err * 2  # once of ours, which is a Python, too
