"""The machine beside the command, once a second: the host from this process, NVML from one of its own.

A call of a sick driver may never return, and then nothing ends its process; so the sampler is forked before any thread
starts, writes into the spool like an agent, ends with the pipe that this process holds, and is never waited for.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Protocol

from gpudoctor import codec
from gpudoctor.model.gpu import Gpu
from gpudoctor.model.machine import Nvml
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.profile import own_process

INTERVAL_S = 1.0
MOST_FAILURES = 30  # policy: half a minute of a GPU that answers nonsense is enough
PAUSE = "pause"


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

    def energy_j(self, index: int) -> Maybe[float]:
        """Return what it has used since the driver was loaded."""
        ...


Open = Callable[[], NvmlSession]
Family = Callable[[int], Collection[int]]  # a process and all that came from it
Own = Callable[[], Collection[int]]  # the wrapper's


class GpuSampler:
    """A child that asks NVML. `stop` lets go of it."""

    def __init__(self, open_session: Open, spool: Path, why_not: Callable[[Exception], str], family: Family) -> None:
        """Fork it; to be called before any thread starts. Raises OSError."""
        read, self._hold = os.pipe()
        own = partial(family, os.getpid())
        try:
            self._pid = own_process.begin(lambda: _sample(open_session, spool, why_not, hold=read, own=own), {read})
        except OSError:
            os.close(self._hold)
            raise
        finally:
            os.close(read)

    def stop(self) -> None:
        """Close the pipe and kill it; collect it only if it is gone at once."""
        os.close(self._hold)
        own_process.end(self._pid)


def _sample(open_session: Open, spool: Path, why_not: Callable[[Exception], str], *, hold: int, own: Own) -> None:
    """Write a row of each GPU once a second, until nobody holds the pipe."""
    file = own_process.spool_file(spool)
    for table, values in _samples(open_session, why_not, own):
        if table == PAUSE:
            if select.select([hold], [], [], INTERVAL_S)[0]:
                return
        else:
            os.write(file, (codec.compact([table, values]) + "\n").encode())


def _samples(
    open_session: Open, why_not: Callable[[Exception], str], own: Own
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield rows; PAUSE between two rounds. A round that fails is said and tried again, some times."""
    try:
        session = open_session()
        count = session.system().device_count
        gpus = [session.sample(session.identify(each)) for each in range(0 if isinstance(count, Missing) else count)]
    except Exception as error:  # noqa: BLE001  # a driver can raise anything
        yield "events", {"at": time.time(), "kind": "nvml_status", "text": why_not(error)}
        return
    yield "events", {"at": time.time(), "kind": "nvml_status", "text": "ok"}
    failed = 0
    while failed < MOST_FAILURES:
        family = own()
        for place, gpu in enumerate(gpus):
            try:
                gpus[place] = session.sample_moving(gpu)
                row = _gpu_row(gpus[place], session.energy_j(gpu.index), family)
            except Exception as error:  # noqa: BLE001  # as above: one answer that nobody expected must not end the rest
                failed += 1
                yield "events", {"at": time.time(), "kind": "nvml_fault", "text": f"GPU {gpu.index}: {why_not(error)}"}
                continue
            yield "gpu_samples", row
        yield PAUSE, {}


def _gpu_row(gpu: Gpu, energy_j: Maybe[float], family: Collection[int]) -> dict[str, object]:
    processes = gpu.processes
    own: Maybe[int] = Missing("no list")
    foreign: Maybe[int] = Missing("no list")
    if not isinstance(processes, Missing):
        compute = [each.pid for each in processes if each.kind == "compute"]
        own = sum(pid in family for pid in compute)
        unseen = [pid for pid in compute if not os.path.exists(f"/proc/{pid}")]  # noqa: PTH110  # once a second
        foreign = Missing("NVML names processes of another PID namespace") if unseen else len(compute) - own
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
        "energy_j": energy_j,
        "throttle_reasons": gpu.throttle_reasons,
        "own_processes": own,
        "foreign_processes": foreign,
    }
    return {name: value for name, value in row.items() if not isinstance(value, Missing)}
