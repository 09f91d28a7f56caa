"""Numerical correctness: one check a file."""
