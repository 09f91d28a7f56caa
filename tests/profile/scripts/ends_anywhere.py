"""Fork children that train briefly and end as any interpreter ends, just when the recorder is busy; print their exit codes.

Two numbers: how many, how many at once. They end inside a profiler window, when one is due, anywhere, and in debug mode.
"""

import collections
import os
import random
import sys
import time

import keras
import numpy as np
import tensorflow as tf

count, at_once = int(sys.argv[1]), int(sys.argv[2])
MODES = ("window", "due", "any", "debug")


def child(number):
    mode = MODES[number % 4]
    windows = sys.modules.get("_gpudoctor_agent.windows")
    random.seed(number)
    until = random.uniform(1.5, 4.0)
    begun = [0.0]

    class Ending(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            begun[0] = begun[0] or time.monotonic()
            time.sleep(0.01)
            past = time.monotonic() - begun[0]
            end = past > until
            if windows is not None and mode == "window":
                end = windows.profiler.open
            elif windows is not None and mode == "due":
                windows.AT_S = (1e9,) if past < until else (0.0,)
            if end or past > 15:
                self.model.stop_training = True

    if mode == "debug":
        tf.config.run_functions_eagerly(True)
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(np.zeros((80000, 4)), np.zeros((80000, 1)), batch_size=8, verbose=0, callbacks=[Ending()])


running, codes = {}, collections.Counter()


def reap():
    pid, status = os.wait()
    code = os.waitstatus_to_exitcode(status)
    number = running.pop(pid)
    codes[MODES[number % 4], code] += 1
    if code:
        print("child", number, MODES[number % 4], "ended", code, flush=True)


for number in range(count):
    while len(running) >= at_once:
        reap()
    pid = os.fork()
    if pid == 0:
        child(number)
        sys.exit(0)
    running[pid] = number
while running:
    reap()
print(sorted(codes.items()), sum(codes.values()), flush=True)
os._exit(0)
