"""Fault: per-call-overhead. predict() for one sample at a time."""

from parts import compiled, convolutions, images

x, y = images(256)
model = compiled(convolutions(width=8))
model.fit(x, y, batch_size=32, epochs=1, verbose=0)
found = []
for sample in x[:100]:
    found.append(model.predict(sample[None], verbose=0))  # <- here
