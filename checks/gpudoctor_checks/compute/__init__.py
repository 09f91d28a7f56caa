"""Compute and precision: one check a file."""
