"""Boards whose GPU and CPU share one memory (Jetson): what frees it, in place of what only a card of its own knows.

nvidia-smi is tempting, it is the answer everywhere else; these boards have none, or one that shows no memory. What TensorFlow
finds free is what the desktop, the page cache and the program's own CPU side have left.
"""

from __future__ import annotations

import re
from dataclasses import replace

from gpudoctor.sdk import Finding, Fix, Gpus, either
from gpudoctor_checks.said import command, to_know, unproven

BOARD = re.compile(r"\b(?:Tegra|Jetson|Xavier|Orin|nvgpu)\b", re.IGNORECASE)
SEE = "sudo tegrastats --interval 1000  # RAM used/total: GPU and CPU together"
FREE_SHARED = unproven(
    command(
        "free-shared-memory",
        "Free the memory that GPU and CPU share",
        "sudo systemctl isolate multi-user.target; sync; echo 3 | sudo tee /proc/sys/vm/drop_caches  # ends the desktop",
        why="",
    ),
    "desktop, page cache and the program's CPU side take from the same memory",
)
SWAP = unproven(
    command(
        "add-swap",
        "Give the CPU's side swap",
        "sudo fallocate -l 8G /swapfile && sudo chmod 600 /swapfile && sudo mkswap /swapfile && sudo swapon /swapfile",
        why="",
        minutes=5,
    ),
    "the CPU's side can move out; the GPU's own memory cannot",
)
OF_CARDS = frozenset({"end-other-process", "memory-limit-of-other", "see-gpu-holders"})


def on_board(gpus: Gpus | None) -> bool:
    """Return whether every GPU that is known shares its memory with the CPU."""
    return bool(gpus) and all(BOARD.search(either(each.name, "")) for each in gpus or ())


def for_board(finding: Finding, limit: Fix) -> Finding:
    """Return the finding with the remedies of such a board."""
    kept = [each for each in finding.fixes if each.id not in OF_CARDS]
    first = [FREE_SHARED] if finding.cause == "other-process" else []
    later = [] if first else [FREE_SHARED]
    fixes = (*first, *kept, *later, SWAP, unproven(limit, "TensorFlow then leaves the rest to the CPU's side"))
    evidence = tuple(to_know(SEE) if "nvidia-smi" in str(each.value) else each for each in finding.evidence)
    summary = finding.summary.replace("another process holds it", "the CPU's side of the board holds it").replace(
        "another process or notebook seems to hold the GPU", "the CPU's side of the board holds the memory"
    )
    unique = {each.id: each for each in reversed(fixes)}
    return replace(finding, summary=summary, evidence=evidence, fixes=tuple(reversed(unique.values())))
