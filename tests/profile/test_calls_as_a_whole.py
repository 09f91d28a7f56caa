"""The time of a call of fit or predict is all of it, with what Keras prepares before it tells of the begin."""

from __future__ import annotations

from pathlib import Path

from gpudoctor.model.missing import Missing
from tests.profile.launched import run, script, with_tensorflow

TEXT = """
import time
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
x, y = np.zeros((32, 4), "float32"), np.zeros((32, 1), "float32")
inside = 0.0
for _ in range(12):
    before = time.perf_counter()
    model.predict(x[:1], verbose=0)
    inside += time.perf_counter() - before
model.fit(x, y, validation_data=(x, y), epochs=2, verbose=0)
try:
    model.fit(x, y[:3], verbose=0)
except ValueError:
    pass
print(inside)
"""


def test_the_calls_take_what_the_script_itself_measures(tmp_path: Path) -> None:
    ran = run(tmp_path, with_tensorflow(), script(tmp_path, TEXT))
    assert ran.code == 0, ran.err
    phases = ran.session.phases
    calls = [each for each in phases if each.kind == "predict"]
    told = sum(each.ended_at - each.started_at for each in calls if not isinstance(each.ended_at, Missing))
    assert len(calls) == 12
    assert 0.95 * float(ran.out) < told <= float(ran.out) * 1.01
    kinds = [each.kind for each in phases]
    assert (kinds.count("fit"), kinds.count("validation"), kinds.count("evaluate")) == (1, 2, 0)
