"""Whether a map draws random numbers is read from the graph of its function, conditions, loops and layers included."""

from __future__ import annotations

from pathlib import Path

from tests.profile.launched import run, script, with_tensorflow

TEXT = """
import tensorflow as tf

flip = tf.keras.layers.RandomFlip()
base = tf.data.Dataset.from_tensor_slices(tf.zeros((4, 8, 8, 3)))
base.map(lambda x: x * 2)
base.map(lambda x: x)
base.map(tf.image.random_flip_left_right)
base.map(lambda x: flip(x[None], training=True))
base.map(lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.random.uniform([1]), lambda: tf.zeros([1])))
base.map(lambda x: tf.map_fn(lambda row: row + tf.random.stateless_normal([], (1, 2)), x))
box = tf.zeros((1, 1, 4))
base.map(lambda x: tf.image.sample_distorted_bounding_box((8, 8, 3), box, seed=1, min_object_covered=0.1)[0])
base.map(lambda x: tf.numpy_function(lambda y: y, [x], tf.float32))
list(base.batch(2))
"""


def test_what_is_random_is_told_and_what_calls_python_is_left_open(tmp_path: Path) -> None:
    ran = run(tmp_path, with_tensorflow(), script(tmp_path, TEXT))
    assert ran.code == 0, ran.err
    maps = [each for each in ran.session.call_sites if each.method == "map"]
    assert [each.arguments.get("random") for each in maps] == [False, False, True, True, True, True, True, None]
    assert [each.site - maps[0].site for each in maps if each.arguments.get("does_nothing")] == [1]
    assert not [each for each in ran.session.events if each.kind == "agent_fault"]
