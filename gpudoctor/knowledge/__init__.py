"""What is known of TensorFlow, CUDA, cuDNN, drivers and GPUs, with sources. Facts of 2026-11-30; nothing is looked up.

Typed Python rows rather than TOML: compiled modules load in a millisecond where parsing 230 kB of TOML takes sixty. The
rows of a big table live in a `*_data` module that its look-ups import on first use.
"""
