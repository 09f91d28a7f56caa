"""Family 1: the driver, and whether a program can see a GPU at all."""
