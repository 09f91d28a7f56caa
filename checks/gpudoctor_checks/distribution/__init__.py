"""Family 7: several GPUs in one training: one check a file."""
