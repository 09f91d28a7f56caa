"""The machine beside the command, once a second: the host from this process, NVML from one of its own.

A call of a sick driver may never return, and then nothing ends its process; so the sampler is forked before any thread
starts, writes into the spool like an agent, ends with the pipe that this process holds, and is never waited for.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, Protocol

from gpudoctor import codec
from gpudoctor.model.gpu import Gpu
from gpudoctor.model.machine import Nvml
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.profile.spool import identity, is_descendant

INTERVAL_S = 1.0
MILLI = 1000


class NvmlSession(Protocol):
    """What the sampler needs of `collect.nvml.Session`."""

    def system(self) -> Nvml:
        """Return driver and library."""
        ...

    def identify(self, index: int) -> Gpu:
        """Return which GPU this is."""
        ...

    def sample_moving(self, last: Gpu) -> Gpu:
        """Return it with what moves from second to second."""
        ...

    def sample(self, identity: Gpu) -> Gpu:
        """Return it with its whole state."""
        ...


Open = Callable[[], NvmlSession]


class GpuSampler:
    """A child that asks NVML. `stop` lets go of it."""

    def __init__(self, open_session: Open, spool: Path, why_not: Callable[[Exception], str]) -> None:
        """Fork it; to be called before any thread starts."""
        read, self._hold = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._hold)
            _be_sampler(open_session, spool, why_not, read)
        os.close(read)

    def stop(self) -> None:
        """Close the pipe and kill it; collect it only if it is gone at once."""
        os.close(self._hold)
        with suppress(OSError):
            os.kill(self._pid, signal.SIGKILL)
        for _ in range(20):
            with suppress(OSError):
                if os.waitpid(self._pid, os.WNOHANG)[0]:
                    return
            time.sleep(0.005)


def _be_sampler(open_session: Open, spool: Path, why_not: Callable[[Exception], str], hold: int) -> NoReturn:
    try:
        os.setsid()
        gc.disable()
        null = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(null, standard)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        path = spool / f"{identity(os.getpid())}.0.jsonl"
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for table, values in _samples(open_session, why_not, os.getppid()):
            os.write(fd, (codec.compact([table, values]) + "\n").encode())
            if table == "pause" and select.select([hold], [], [], INTERVAL_S)[0]:
                break
    finally:
        os._exit(0)


def _samples(
    open_session: Open, why_not: Callable[[Exception], str], wrapper: int
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield rows; `pause` between two rounds."""
    try:
        session = open_session()
        count = session.system().device_count
        gpus = [session.sample(session.identify(each)) for each in range(0 if isinstance(count, Missing) else count)]
    except Exception as error:  # noqa: BLE001  # a driver can raise anything
        yield "events", {"at": time.time(), "kind": "nvml_status", "text": why_not(error)}
        return
    yield "events", {"at": time.time(), "kind": "nvml_status", "text": "ok"}
    while True:
        for place, gpu in enumerate(gpus):
            gpus[place] = session.sample_moving(gpu)
            yield "gpu_samples", _gpu_row(gpus[place], wrapper)
        yield "pause", {}


def _gpu_row(gpu: Gpu, wrapper: int) -> dict[str, object]:
    processes = gpu.processes
    own: Maybe[int] = Missing("no list")
    foreign: Maybe[int] = Missing("no list")
    if not isinstance(processes, Missing):
        compute = [each.pid for each in processes if each.kind == "compute"]
        own = sum(is_descendant(pid, wrapper) for pid in compute)
        foreign = len(compute) - own
    row: dict[str, object] = {
        "at": time.time(),
        "gpu": gpu.index,
        "name": gpu.name,
        "status": gpu.status,
        "gpu_percent": gpu.utilization.gpu_percent,
        "memory_percent": gpu.utilization.memory_percent,
        "memory_used_bytes": gpu.memory.used_bytes,
        "memory_total_bytes": gpu.memory.total_bytes,
        "power_w": gpu.power.draw_w,
        "power_limit_w": gpu.power.limit_w,
        "temperature_c": gpu.temperature_c,
        "sm_mhz": gpu.clocks.sm_mhz,
        "sm_max_mhz": gpu.clocks.sm_max_mhz,
        "throttle_reasons": gpu.throttle_reasons,
        "own_processes": own,
        "foreign_processes": foreign,
    }
    return {name: value for name, value in row.items() if not isinstance(value, Missing)}
