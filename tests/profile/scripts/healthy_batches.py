"""Healthy: train_on_batch with batches that are ready."""

from parts import compiled, convolutions, images

x, y = images(1024)
model = compiled(convolutions())
for _ in range(5):
    for start in range(0, 1024, 64):
        model.train_on_batch(x[start : start + 64], y[start : start + 64])
