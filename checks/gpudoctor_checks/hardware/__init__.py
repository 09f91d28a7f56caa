"""The health of the GPU itself: one check a file."""
