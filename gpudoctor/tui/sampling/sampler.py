"""The sampler's process: at each tick one reading to standard output, until standard input ends.

The main thread reads the host and never touches NVML; only so a hung driver leaves the rest of the screen alive.
"""

from __future__ import annotations

import argparse
import gc
import os
import select
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, time

from gpudoctor.collect.kernel_log import read_xids
from gpudoctor.model.missing import either
from gpudoctor.tui.messages import Reading
from gpudoctor.tui.sampling.gpu_source import GpuSource
from gpudoctor.tui.sampling.host_load import HostMeter
from gpudoctor.tui.sampling.process_table import ProcessTable
from gpudoctor.tui.sampling.wire import send

NVML_WAIT_S = 0.5  # policy: a tick waits so long for NVML before it goes out with the figures of the last one
# The kernel log is up to 1 MiB (see kernel_log); an Xid is no less true half a minute later.
XIDS_EVERY_S = 30.0
COMMAND_BYTES = 4096


class Sampler:
    """All sources of a reading."""

    def __init__(self, root: Path, *, delay_s: float = 0.0) -> None:
        self._root = root
        self._source = GpuSource(root, delay_s=delay_s)
        self._host, self._processes = HostMeter(root), ProcessTable(root)
        self._xids: dict[str, tuple[int, ...]] = {}
        self._xids_at = -XIDS_EVERY_S
        self.tree = False
        self._source.start()

    def read(self) -> Reading:
        """Return the reading of this tick."""
        figures = self._source.ask(NVML_WAIT_S)
        now = monotonic()
        if now - self._xids_at >= XIDS_EVERY_S:
            self._xids, self._xids_at = _xids(self._root), now
        return Reading(
            at_s=time(),
            nvml=figures.nvml,
            gpus=figures.gpus,
            gpus_age_s=now - figures.at,
            traffic=figures.traffic,
            migs=figures.migs,
            host=self._host.read(now),
            processes=self._processes.read(figures.gpus, now, tree=self.tree),
            xids=self._xids,
        )


def _xids(root: Path) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for event in either(read_xids(root)[0], ()):
        address = either(event.pci, "")
        found[address] = (*found.get(address, ()), event.code)
    return found


def main(argv: Sequence[str]) -> int:
    """Sample until told to end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, default=Path("/"))
    parser.add_argument("--interval", type=float, default=1.0)
    parser.add_argument("--delay", type=float, default=0.0)
    options = parser.parse_args(argv)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sampler, interval = Sampler(options.root, delay_s=options.delay), options.interval
    gc.freeze()
    due = monotonic()
    while True:
        try:
            send(sys.stdout.fileno(), sampler.read())
        except OSError:
            return 0
        due = max(due + interval, monotonic())
        while (left := due - monotonic()) > 0:
            if not select.select([sys.stdin], [], [], left)[0]:
                break
            words = os.read(sys.stdin.fileno(), COMMAND_BYTES).decode(errors="replace")
            if not words:
                return 0
            interval, due = _obey(sampler, words, interval), monotonic()


def _obey(sampler: Sampler, words: str, interval: float) -> float:
    """Follow the commands `tree 0|1`, `interval SECONDS` and `now`; return the interval that holds from here."""
    for line in words.splitlines():
        name, _, value = line.partition(" ")
        if name == "tree":
            sampler.tree = value == "1"
        elif name == "interval":
            interval = float(value)
    return interval


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.close()
    os._exit(code)  # the NVML thread may be inside a call that never returns
