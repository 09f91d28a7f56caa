"""Configures devices behind its imports: all of it fails where something has initialised them before."""

import keras
import numpy as np
import tensorflow as tf

from tensorflow.python.eager import context

print(context.context()._initialized)
device = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(device, [tf.config.LogicalDeviceConfiguration()] * 3)
tf.config.threading.set_inter_op_parallelism_threads(2)
ds = tf.data.Dataset.range(8).batch(2)
print(len(tf.config.list_logical_devices("CPU")))
with tf.Graph().as_default():
    iterator = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(3))
    value = iterator.get_next()
    print("Timestamp" in {each.type for each in tf.compat.v1.get_default_graph().get_operations()})
    with tf.compat.v1.Session() as session:
        print(session.run(value), session.run(value))


@tf.function
def step(iterator):
    return next(iterator)


print(step(iter(ds)).numpy().tolist(), len(step.get_concrete_function(iter(ds)).variables))
