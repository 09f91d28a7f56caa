"""Family 3: the TensorFlow package and the Python environment around it."""
