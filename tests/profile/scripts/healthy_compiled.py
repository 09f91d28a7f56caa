"""Healthy: compiled with XLA."""

from parts import compiled, convolutions, images

x, y = images(1024)
compiled(convolutions(), jit_compile=True).fit(x, y, batch_size=64, epochs=5, verbose=0)
