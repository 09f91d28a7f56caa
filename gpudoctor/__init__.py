"""Diagnose TensorFlow and Keras training on NVIDIA GPUs: why it is slow or unused, and what each change brings."""

__version__ = "0.1.0"
