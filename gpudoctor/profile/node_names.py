"""How tf.data names the nodes of its graphs: kind and version."""

from __future__ import annotations


def base_name(name: str) -> str:
    """Return a node's name without its version: ParallelMapV2 -> ParallelMap."""
    head, _, version = name.rpartition("V")
    return head if head and version.isdigit() else name
