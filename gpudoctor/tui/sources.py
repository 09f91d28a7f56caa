"""Where readings come from: the sampler, a saved snapshot, or the shipped recording. All three look alike to the app."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Protocol

from gpudoctor.model.gpu import Gpu
from gpudoctor.model.machine import Host, Nvml
from gpudoctor.model.missing import Missing, either
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.tui.messages import HostLoad, ProcessLoad, Reading, Traffic

DEMO = Path(__file__).parent / "demo"
SPEEDS = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
PLAYED_IN_S = 60.0  # policy: a long recording starts at a speed that shows it within a minute
REBUILT = 600  # readings that a jump takes into the history, which no plot shows finer

MIB = 1 << 20


class Source(Protocol):
    """Gives readings. `fd`: what to watch, None where `beat` brings them."""

    trouble: str
    restarts: int

    @property
    def fd(self) -> int | None:
        """Return the descriptor that becomes readable."""
        ...

    def tell(self, words: str) -> None:
        """Pass a wish on (`tree 1`, `interval 2`)."""
        ...

    def take(self) -> Reading | None:
        """Return a reading that has come."""
        ...

    def check(self) -> None:
        """Look after whatever gives the readings."""
        ...

    def close(self) -> None:
        """End."""
        ...


class Still:
    """A source of nothing: what is to be seen is handed to the app by other means."""

    trouble = ""
    restarts = 0
    fd: int | None = None

    def tell(self, words: str) -> None:
        """Ignore the wish."""

    def take(self) -> Reading | None:
        """Return nothing."""

    def check(self) -> None:
        """Have nothing to look after."""

    def close(self) -> None:
        """Have nothing to end."""


class Recording(Still):
    """Readings of equal distance, played at a speed, from any place. `name`: what the screen calls it."""

    def __init__(
        self, readings: Sequence[Reading], *, name: str = "DEMO", step_s: float = 1.0, again: bool = True
    ) -> None:
        self.readings, self.name, self._step_s, self._again = readings, name, step_s, again
        wanted = 1.0 if again else self.length_s / PLAYED_IN_S
        self.speed = next((each for each in SPEEDS if each >= max(1.0, wanted)), SPEEDS[-1])
        self._at_s = -1.0

    @property
    def length_s(self) -> float:
        """Return the time from the first reading to the last."""
        return (len(self.readings) - 1) * self._step_s

    @property
    def place_s(self) -> float:
        """Return how far it is."""
        return max(0.0, min(self._at_s, self.length_s))

    @property
    def told_s(self) -> float:
        """Return the place for who reads the session itself: the very end where the last reading stands, shortly before it."""
        at_end = not self._again and self.place_s >= self.length_s
        return self.place_s + 2 * self._step_s if at_end else self.place_s

    @property
    def place(self) -> int:
        """Return the number of the present reading."""
        return int(self.place_s / self._step_s)

    @property
    def words(self) -> str:
        """Return where it stands, for the screen."""
        at, end = divmod(int(self.place_s), 60), divmod(int(self.length_s), 60)
        return f"{self.name} {at[0]}:{at[1]:02}/{end[0]}:{end[1]:02} x{self.speed:g}"

    def step(self, seconds: float) -> list[Reading]:
        """Return the readings that come by in so much time; at the end it starts again, or stays there."""
        before = int(self._at_s / self._step_s) if self._at_s >= 0 else -1
        self._at_s += seconds * self.speed
        if self._at_s >= self.length_s + self._step_s:
            before, self._at_s = (-1, 0.0) if self._again else (before, self.length_s)
        return list(self.readings[before + 1 : self.place + 1])

    def seek(self, seconds: float) -> list[Reading]:
        """Move by so much; return what leads up to there, so that the history can be built again."""
        self._at_s = max(0.0, min(self.place_s + seconds, self.length_s))
        return list(self.readings[max(0, self.place + 1 - REBUILT) : self.place + 1])

    def faster(self, step: int) -> None:
        """Choose the next speed, or with -1 the last one."""
        self.speed = SPEEDS[max(0, min(SPEEDS.index(self.speed) + step, len(SPEEDS) - 1))]


def of_snapshot(snapshot: Snapshot) -> Reading:
    """Return a snapshot as one reading."""
    gpus = snapshot.gpus or ()
    host = snapshot.host or Host()
    return Reading(
        at_s=_seconds(snapshot.taken_at),
        nvml=snapshot.nvml or Nvml(),
        gpus=gpus,
        host=HostLoad(memory_total_bytes=host.memory_bytes, memory_used_bytes=_used(host)),
        processes=tuple(_holders(gpus)),
        xids=_xids(snapshot),
    )


def _seconds(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0


def _used(host: Host) -> int | Missing:
    total, available = host.memory_bytes, host.memory_available_bytes
    if isinstance(total, Missing) or isinstance(available, Missing):
        return Missing("not recorded")
    return total - available


def _holders(gpus: Iterable[Gpu]) -> Iterable[ProcessLoad]:
    for gpu in gpus:
        for each in either(gpu.processes, ()):
            yield ProcessLoad(
                pid=each.pid,
                kind=each.kind,
                gpus=(gpu.index,),
                gpu_memory_bytes=each.memory_bytes,
                user=each.user,
                command=each.command if either(each.command, "") else each.name,
                own=each.own,
            )


def _xids(snapshot: Snapshot) -> Mapping[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for event in either(snapshot.kernel.xids, ()) if snapshot.kernel is not None else ():
        address = either(event.pci, "")
        found[address] = (*found.get(address, ()), event.code)
    return found


def demo(snapshot: Snapshot) -> Recording:
    """Return the shipped recording; the snapshot that comes with it gives what does not move."""
    with (DEMO / "recording.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    begin = datetime(2026, 11, 30, 14, 0, tzinfo=timezone.utc).timestamp()
    base = of_snapshot(snapshot)
    seconds = sorted({int(row["second"]) for row in rows})
    by_second = {at: [row for row in rows if int(row["second"]) == at] for at in seconds}
    return Recording([_demo_reading(base, by_second[at], begin + at) for at in seconds])


def _demo_reading(base: Reading, rows: list[dict[str, str]], at_s: float) -> Reading:
    host = next(row for row in rows if row["what"] == "host")
    told = {int(row["what"]): row for row in rows if row["what"] != "host"}
    numbers = _Numbers(host)
    cores = tuple(float(each) for each in host["cores"].split())
    return replace(
        base,
        at_s=at_s,
        gpus=tuple(_demo_gpu(gpu, told[gpu.index]) for gpu in base.gpus),
        traffic={index: _demo_traffic(_Numbers(row)) for index, row in told.items()},
        host=HostLoad(
            cpu_percent=sum(cores) / len(cores),
            core_percents=cores,
            load_1_min=numbers.float("load"),
            memory_used_bytes=numbers.int("memory_mib") * MIB,
            memory_total_bytes=base.host.memory_total_bytes,
            swap_used_bytes=0,
            disk_read_bytes_per_s=numbers.float("in_mib") * MIB,
            disk_write_bytes_per_s=numbers.float("out_mib") * MIB,
            net_received_bytes_per_s=numbers.float("net_in_mib") * MIB,
            net_sent_bytes_per_s=numbers.float("net_out_mib") * MIB,
        ),
        processes=tuple(_demo_process(each, _Numbers(told[each.gpus[0]])) for each in base.processes),
    )


def _demo_gpu(gpu: Gpu, row: Mapping[str, str]) -> Gpu:
    numbers = _Numbers(row)
    return replace(
        gpu,
        utilization=replace(gpu.utilization, gpu_percent=numbers.int("kernel_percent")),
        memory=replace(gpu.memory, used_bytes=numbers.int("memory_mib") * MIB),
        power=replace(gpu.power, draw_w=numbers.float("power_w")),
        temperature_c=numbers.int("temperature_c"),
        clocks=replace(gpu.clocks, sm_mhz=numbers.int("sm_mhz")),
        throttle_reasons=tuple(row["reasons"].split()),
    )


def _demo_traffic(numbers: _Numbers) -> Traffic:
    return Traffic(
        received_bytes_per_s=numbers.int("in_mib") * MIB,
        sent_bytes_per_s=numbers.int("out_mib") * MIB,
    )


def _demo_process(process: ProcessLoad, numbers: _Numbers) -> ProcessLoad:
    return replace(
        process,
        cpu_percent=numbers.float("process_cpu"),
        tensorflow=True,
        host_memory_bytes=numbers.int("process_mib") * MIB,
    )


@dataclass(frozen=True, slots=True)
class _Numbers:
    row: Mapping[str, str]

    def int(self, name: str) -> int:
        return int(self.row[name])

    def float(self, name: str) -> float:
        return float(self.row[name])
