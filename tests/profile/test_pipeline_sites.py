"""Each node of the graph as it ran gets the user's calls that it comes from, and those that TensorFlow added get none."""

from __future__ import annotations

import pytest

from gpudoctor.model.session import CallSite
from gpudoctor.profile.pipeline_sites import sites_of


def found(names: str, methods: str) -> list[list[int]]:
    """Return the numbers of the calls of each node; both from the output down."""
    chain = [CallSite(process="7-1", site=at, method=each) for at, each in enumerate(methods.split())]
    return [[each.site for each in sites] for sites in sites_of(names.split(), chain)]


@pytest.mark.parametrize(
    ("names", "methods", "expected"),
    [
        ("Map Shuffle TensorSlice", "map shuffle from_tensor_slices", [[0], [1], [2]]),
        ("Prefetch Map Batch", "map batch", [[], [0], [1]]),
        # image_dataset_from_directory prefetches, the user maps, TensorFlow prefetches once more
        ("Prefetch Map Prefetch MapAndBatch Shuffle", "map prefetch batch map shuffle", [[], [0], [1], [2, 3], [4]]),
        ("MapAndBatch ParallelMap TFRecord", "batch map map TFRecordDataset", [[0, 1], [2], [3]]),
        ("ShuffleAndRepeat", "repeat shuffle", [[0, 1]]),
        ("Batch FlatMap Generator", "batch from_generator", [[0], [1], [1]]),
        ("Batch Map", "batch with_options map", [[0], [2]]),
    ],
)
def test_the_calls_lie_beside_the_nodes_so_that_most_are_explained(
    names: str, methods: str, expected: list[list[int]]
) -> None:
    assert found(names, methods) == expected


def test_of_two_calls_that_fit_the_nearer_one_is_taken() -> None:
    assert found("Map", "map map") == [[0]]


def test_without_calls_nobody_asked_for_anything() -> None:
    assert found("Prefetch", "") == [[]]


def test_a_map_that_does_nothing_explains_a_node_only_where_no_other_does() -> None:
    idle = CallSite(process="7-1", site=0, method="map", arguments={"does_nothing": True})
    work = CallSite(process="7-1", site=1, method="map")
    assert sites_of(["Map"], [idle, work]) == [[work]]
    assert sites_of(["Map", "Map"], [idle, work]) == [[idle], [work]]
    assert sites_of(["Map"], [idle]) == [[idle]]
