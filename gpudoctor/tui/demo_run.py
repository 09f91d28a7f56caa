"""The run of the demo: an invented session, its GPUs taken from the recording, judged by the real checks at each moment."""

from __future__ import annotations

import csv
import linecache
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gpudoctor import codec
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.registry import Registry
from gpudoctor.model.gpu import Gpu
from gpudoctor.model.missing import either
from gpudoctor.model.report import Report
from gpudoctor.model.session import GpuSample, Session
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.tui.run_news import RunNews
from gpudoctor.tui.sources import DEMO, Recording, demo

SOURCE = "/home/ada/vision/train.py"  # nobody's: what the invented session calls it
OWN_GPU = 0  # the other one belongs to somebody else's process


def demo_snapshot() -> Snapshot:
    """Return the machine of the demo."""
    path = DEMO / "snapshot.json"
    return codec.load_snapshot(path.read_bytes(), name=str(path))


def demo_session() -> Session:
    """Return the session with what NVML told beside it; its source file is put where lines of source are looked up."""
    source = (DEMO / "train.txt").read_text(encoding="utf-8")
    linecache.cache[SOURCE] = (len(source), None, source.splitlines(keepends=True), SOURCE)
    members: dict[str, Any] = codec.loads((DEMO / "session.json").read_bytes())
    session = codec.typed(members, Session)
    gpu = tuple(demo_snapshot().gpus or ())[OWN_GPU]
    return replace(session, gpu_samples=tuple(_gpu_samples(gpu, session.started_at)))


def _gpu_samples(gpu: Gpu, begun_s: float) -> Iterator[GpuSample]:
    with (DEMO / "recording.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["what"] == str(OWN_GPU):
                yield GpuSample(
                    at=begun_s + int(row["second"]) + 0.5,
                    gpu=OWN_GPU,
                    name=gpu.name,
                    gpu_percent=int(row["kernel_percent"]),
                    memory_used_bytes=int(row["memory_mib"]) << 20,
                    memory_total_bytes=gpu.memory.total_bytes,
                    power_w=float(row["power_w"]),
                    power_limit_w=gpu.power.limit_w,
                    temperature_c=int(row["temperature_c"]),
                    sm_mhz=int(row["sm_mhz"]),
                    sm_max_mhz=gpu.clocks.sm_max_mhz,
                    throttle_reasons=tuple(row["reasons"].split()),
                    own_processes=1,
                    foreign_processes=0,
                )


class DemoMachine:
    """Judges the invented machine as it is at a moment; each state of the first GPU's clocks once."""

    def __init__(self, known: Registry) -> None:
        self._known = known
        self._snapshot = demo_snapshot()
        self._recording: Recording = demo(self._snapshot)
        self._judged: dict[tuple[str, ...], Report] = {}

    def beside(self, news: RunNews) -> RunNews:
        """Return the news with what a scan would say of the machine at that moment."""
        place = min(int(news.place_s), len(self._recording.readings) - 1)
        gpus = self._recording.readings[place].gpus
        state = either(gpus[OWN_GPU].throttle_reasons, ())
        if state not in self._judged:
            now = (gpus[OWN_GPU], *(self._snapshot.gpus or ())[1:])
            self._judged[state] = self._judge(replace(self._snapshot, gpus=now))
        return replace(news, machine=self._judged[state])

    def _judge(self, snapshot: Snapshot) -> Report:
        return diagnose(snapshot, self._known.checks, level=snapshot.level, plugins=self._known.plugins)
