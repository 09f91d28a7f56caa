"""Readings from a process of its own: NVML may hang or crash there, and the screen goes on."""
