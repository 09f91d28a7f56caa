"""Trains in some way that a recorder must bear: crashes, never trains, profiles itself, or leaves the work to a child."""

import multiprocessing
import os
import subprocess
import sys


def trained(steps=30, callbacks=()):
    import keras
    import numpy as np

    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = np.ones((steps * 4, 8), "float32"), np.ones((steps * 4, 1), "float32")
    print("loss", model.fit(x, y, batch_size=4, epochs=2, verbose=0, callbacks=list(callbacks)).history["loss"])


def crash_in_step_3():
    import keras

    class Fails(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 2:
                raise RuntimeError("the third step")

    trained(callbacks=[Fails()])


def never_trains():
    import tensorflow as tf

    print(tf.reduce_sum(tf.ones(3)).numpy())


def sessions():
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    weight = tf.get_variable("weight", (8, 1))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(weight**2))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(20):
            session.run(step)


def profiles_itself():
    import tensorflow as tf

    tf.profiler.experimental.start("theirs")
    trained()
    tf.profiler.experimental.stop()


def profiles_some_steps():
    """As Keras's TensorBoard callback does with `profile_batch=(2, 6)`."""
    import keras
    import tensorflow as tf

    class Profiles(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            if batch == 2:
                tf.profiler.experimental.start("theirs")

        def on_train_batch_end(self, batch, logs=None):
            if batch == 6:
                tf.profiler.experimental.stop()

    trained(callbacks=[Profiles()])


def spawned():
    child = multiprocessing.get_context("spawn").Process(target=trained)
    child.start()
    child.join()
    sys.exit(child.exitcode)


def forked():
    child = multiprocessing.get_context("fork").Process(target=trained)
    child.start()
    child.join()
    sys.exit(child.exitcode)


def launcher():
    ranks = [
        subprocess.Popen([sys.executable, __file__, "trained"], env={**os.environ, "RANK": str(n)}) for n in (0, 1)
    ]
    sys.exit(max(each.wait() for each in ranks))


def launcher_that_clears():
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    sys.exit(subprocess.run([sys.executable, __file__, "trained"], env=kept, check=False).returncode)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
