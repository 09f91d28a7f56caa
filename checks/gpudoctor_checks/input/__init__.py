"""The input pipeline: one check a file."""
