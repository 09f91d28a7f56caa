"""Cures of several GPUs that cannot talk to each other, as a log shows them."""

from __future__ import annotations

from gpudoctor_checks.said import by_hand, command, newest

DEBUG = command(
    "nccl-debug",
    "Let NCCL say what fails",
    "NCCL_DEBUG=INFO python train.py 2>&1 | grep -E 'NCCL (WARN|INFO)' | tail -n 40",
    why="it names the call and the transport",
)
NO_P2P = command(
    "nccl-p2p-off",
    "Try without peer-to-peer; then IOMMU off",
    "export NCCL_P2P_DISABLE=1  # if it runs now: disable IOMMU (VT-d, AMD-Vi) or ACS in the BIOS",
    why="transfers then go through host memory",
    minutes=1,
)
NO_IOMMU = by_hand(
    "iommu-off",
    "Disable IOMMU translation or ACS",
    "Disable VT-d/AMD-Vi (or ACS) in the BIOS, or boot with iommu=pt; then peer-to-peer works",
    why="peer-to-peer between GPUs needs it",
    risk="medium",
)
NEWER_NCCL = newest(
    "upgrade-nccl",
    "Upgrade TensorFlow and its NCCL",
    "pip install {}",
    why="old NCCL releases hang at start; another cross-device op avoids them meanwhile",
    minutes=20,
)
