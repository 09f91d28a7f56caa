"""NCCL that is not in the build at all, or that fails at the network: neither is a matter of peer-to-peer transfers."""

from __future__ import annotations

import re

from gpudoctor.sdk import Finding, Log, LogEvent, Trial
from gpudoctor_checks.distribution.hang_remedies import DEBUG, INTERFACE, LOCKED, NO_IB, OTHER_OPS
from gpudoctor_checks.said import events, log_finding, weigh_program

# NCCL's own words (net_ib.cc, ibvwrap.cc; socket.cc, bootstrap.cc)
INFINIBAND = re.compile(r"\bibv_|\bNET/IB\b|\bmlx\d|InfiniBand", re.IGNORECASE)
SOCKET = re.compile(
    r"\b(?:connect|socket|bind|accept|bootstrap)\b|Connection (?:refused|timed out|reset)", re.IGNORECASE
)
SEE_DEVICES = "python -c 'import tensorflow as tf; print(tf.config.list_physical_devices())'"


def without_nccl(log: Log, trial: Trial | None) -> Finding | None:
    """Return the finding of a build whose kernels have no NCCL, None where it has."""
    absent = events(log, "nccl_absent")
    if not absent:
        return None
    summary, weight = "This TensorFlow has no NCCL, as on Windows or without CUDA.", weigh_program(0.85, trial)
    return log_finding(summary, weight, absent, OTHER_OPS, cause="multi-gpu-hang", know=SEE_DEVICES)


def of_network(errors: tuple[LogEvent, ...]) -> tuple[LogEvent, ...]:
    """Return the lines in which NCCL names InfiniBand, else those in which it names a socket."""
    texts = [(each, each.values.get("message", "")) for each in errors]
    fabric = tuple(each for each, text in texts if INFINIBAND.search(text))
    return fabric or tuple(each for each, text in texts if SOCKET.search(text))


def network_fails(lines: tuple[LogEvent, ...], trial: Trial | None) -> Finding:
    """Tell InfiniBand, where memory may not be locked, from a socket on the wrong network."""
    fabric = INFINIBAND.search(lines[0].values.get("message", "")) is not None
    return log_finding(
        "NCCL fails at InfiniBand." if fabric else "NCCL finds no network to the other workers.",
        weigh_program(0.8, trial),
        lines,
        *((NO_IB, LOCKED) if fabric else (INTERFACE, DEBUG)),
        cause="multi-gpu-hang",
        know="ulimit -l; ibv_devinfo" if fabric else "ip -brief address",
    )
