"""GPU numbers that do not mean what the program takes them for: counted among the visible ones, or by XLA and TensorFlow apart."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Log, Trial, weigh_unusable
from gpudoctor_checks.said import by_hand, events, log_finding

NUMBERED = 0.8  # policy: the words are CUDA's own; which number the program took is not said
FROM_ZERO = by_hand(
    "set-visible-devices",
    "Count GPUs from 0, among the visible ones",
    "Take number 0 in the program; which GPU that is, CUDA_VISIBLE_DEVICES says: with CUDA_VISIBLE_DEVICES=3 the fourth GPU is number 0",
    why="a process numbers anew the GPUs that it sees",
    minutes=2,
)
COUNTED_APART = 0.75  # policy: which GPU was left out is not said
SHOW_THE_REST = by_hand(
    "set-visible-devices",
    "Show only the GPUs that TensorFlow takes",
    "export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=1  # the numbers that nvidia-smi gives the newer GPUs, without the old one",
    why="a GPU too old for this build is counted by XLA and not by TensorFlow",
    minutes=1,
)


def by_number(log: Log, trial: Trial | None) -> Iterator[Finding]:
    """Judge a number that no GPU has, and one that XLA has and TensorFlow has not."""
    if beyond := events(log, "device_number"):
        summary, know = (
            "The program asks for a GPU number that does not exist here.",
            'nvidia-smi -L; echo "$CUDA_VISIBLE_DEVICES"',
        )
        weight = weigh_unusable(NUMBERED, trial)
        yield log_finding(summary, weight, beyond, FROM_ZERO, cause="cuda-visible-devices", know=know)
    if apart := [each for each in events(log, "gpu_skipped") if each.values.get("why") == "counted_apart"]:
        summary, know = (
            "XLA counts a GPU that TensorFlow has left out.",
            "nvidia-smi --query-gpu=index,name,compute_cap --format=csv",
        )
        weight = weigh_unusable(COUNTED_APART, trial)
        yield log_finding(summary, weight, apart, SHOW_THE_REST, cause="gpu-filtered", know=know)
