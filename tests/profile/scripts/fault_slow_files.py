"""Fault: storage. Each example is a file that is read in very small pieces."""

import pathlib
import tempfile

import numpy as np
import tensorflow as tf

from parts import compiled, convolutions

folder = pathlib.Path(tempfile.mkdtemp())
for place in range(64):
    (folder / str(place)).write_bytes(np.random.default_rng(place).random((32, 32, 3), dtype="float32").tobytes())


def rows():
    for number in range(320):
        pieces = []
        with open(folder / str(number % 64), "rb", buffering=0) as stream:
            while piece := stream.read(4):  # <- here
                pieces.append(piece)
        yield np.frombuffer(b"".join(pieces), "float32").reshape(32, 32, 3), number % 10


signature = (tf.TensorSpec((32, 32, 3), tf.float32), tf.TensorSpec((), tf.int32))
dataset = tf.data.Dataset.from_generator(rows, output_signature=signature).batch(8)
compiled(convolutions(width=8)).fit(dataset, epochs=3, verbose=0)
