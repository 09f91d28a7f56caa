"""Which calls of the user's each node of the optimised tf.data graph comes from.

Nodes and calls both stand from the output down, and TensorFlow adds nodes (a prefetch), fuses them (map and batch) and drops
some. Of all ways to lay the calls beside the nodes in order, the one that explains most is taken: the nearest call of the same
name would give a prefetch that TensorFlow put on top to one far below, and lose all calls between.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.model.session import CallSite

# Node of tf.data's model -> the methods of Dataset that it comes from (tensorflow/core/kernels/data; names as
# `get_model_proto` gives them, versions cut off).
METHODS = {
    "Map": ("map",),
    "ParallelMap": ("map",),
    "Batch": ("batch",),
    "ParallelBatch": ("batch",),
    "PaddedBatch": ("padded_batch",),
    "Filter": ("filter",),
    "FlatMap": ("flat_map", "from_generator"),
    "Generator": ("from_generator",),
    "Interleave": ("interleave",),
    "ParallelInterleave": ("interleave",),
    "Shuffle": ("shuffle",),
    "Repeat": ("repeat",),
    "ForeverRepeat": ("repeat",),
    "Prefetch": ("prefetch",),
    "Cache": ("cache",),
    "MemoryCache": ("cache",),
    "FileCache": ("cache",),
    "TensorSlice": ("from_tensor_slices",),
    "FromTensor": ("from_tensors",),
    "Range": ("range",),
    "TFRecord": ("TFRecordDataset",),
    "TextLine": ("TextLineDataset",),
    "FixedLengthRecord": ("FixedLengthRecordDataset",),
    "Unbatch": ("unbatch",),
    "Scan": ("scan",),
    "Zip": ("zip",),
    "Concatenate": ("concatenate",),
    "DirectedInterleave": ("choose_from_datasets", "sample_from_datasets"),
    "FiniteTake": ("take",),
    "FiniteSkip": ("skip",),
    "FiniteRepeat": ("repeat",),
}
FUSED = {"MapAndBatch": ("batch", "map"), "ShuffleAndRepeat": ("repeat", "shuffle")}  # one node of several calls
SHARED = ("FlatMap", "from_generator")  # a generator is two nodes: the call explains the one below, too

Slot = tuple[int, str, tuple[str, ...]]  # number of the node, its name, methods that it may come from


def sites_of(names: Sequence[str], chain: Sequence[CallSite]) -> list[list[CallSite]]:
    """Return the calls that each node comes from, in the nodes' order; [] where nobody asked for it.

    `names`: of the nodes, without versions.
    """
    slots = _slots(names)
    best = _explained(slots, chain)
    found: list[list[CallSite]] = [[] for _ in names]
    at = place = 0
    while at < len(slots) and place < len(chain):
        number, name, wanted = slots[at]
        method = chain[place].method
        kept = (name, method) == SHARED
        if method in wanted and best[at][place] == _worth(chain[place]) + best[at + 1][place + (not kept)]:
            found[number].append(chain[place])
            at, place = at + 1, place + (not kept)
        elif best[at][place] == best[at + 1][place]:
            at += 1
        else:
            place += 1
    return found


def _slots(names: Sequence[str]) -> list[Slot]:
    slots: list[Slot] = []
    for number, name in enumerate(names):
        fused = FUSED.get(name)
        if fused is None:
            slots.append((number, name, METHODS.get(name, (name.lower(),))))
        else:
            slots.extend((number, name, (method,)) for method in fused)
    return slots


def _worth(site: CallSite) -> int:
    """Return what it is worth to explain a node by a call; by a map that does nothing less, for tf.data takes it out."""
    return 1 if site.arguments.get("does_nothing") else 2


def _explained(slots: Sequence[Slot], chain: Sequence[CallSite]) -> list[list[int]]:
    """Return what the calls are worth that explain slots, at most, from each slot and each call on."""
    best = [[0] * (len(chain) + 1) for _ in range(len(slots) + 1)]
    for at in range(len(slots) - 1, -1, -1):
        _, name, wanted = slots[at]
        for place in range(len(chain) - 1, -1, -1):
            most = max(best[at + 1][place], best[at][place + 1])
            if chain[place].method in wanted:
                kept = (name, chain[place].method) == SHARED
                most = max(most, _worth(chain[place]) + best[at + 1][place + (not kept)])
            best[at][place] = most
    return best
