"""GPU memory: one check a file."""
