"""Cures of several GPUs that cannot talk to each other, as a log shows them."""

from __future__ import annotations

from gpudoctor_checks.said import by_hand, change, command, newest

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
# NCCL's troubleshooting guide: registered memory is locked, and the limit of a job is often 64 KiB
NO_IB = command(
    "nccl-ib-off",
    "Try without InfiniBand; then lift the limit",
    "export NCCL_IB_DISABLE=1  # if it runs now: raise the limit of locked memory (ulimit -l unlimited)",
    why="InfiniBand's queues need memory that the process may lock",
    minutes=1,
)
LOCKED = by_hand(
    "lift-locked-memory",
    "Let the job lock memory",
    "ulimit -l  # not unlimited: memlock in /etc/security/limits.conf; under Slurm LimitMEMLOCK=infinity of slurmd; Docker: --ulimit memlock=-1",
    why="then InfiniBand works at full speed",
)
INTERFACE = command(
    "nccl-socket-interface",
    "Name the network that the workers share",
    "export NCCL_SOCKET_IFNAME=eth0  # as `ip -brief address` calls it, the same network on each machine",
    why="NCCL takes the first interface that is up, also a bridge of Docker",
    minutes=1,
)
OTHER_OPS = change(
    "other-all-reduce",
    "Add gradients up without NCCL",
    "strategy = tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.HierarchicalCopyAllReduce())",
    why="it copies between the GPUs with TensorFlow's own operations",
    minutes=2,
)
