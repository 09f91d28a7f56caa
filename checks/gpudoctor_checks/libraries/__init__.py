"""Family 2: CUDA, cuDNN, and the GPU code inside the TensorFlow build."""
