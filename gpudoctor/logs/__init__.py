"""Text of a run to typed events; matches messages, never `file.cc:line`, which change with every release.

Kinds and their fields stand in `patterns/`; the allocator's dump becomes figures in `bfc`.
"""
