"""Puts the dashboard on a stage: a machine with a different figure in every field, no child, any size.

The figures differ so that two swapped labels show; a reading of zeros would pass with every label wrong.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from gpudoctor.codec import load_snapshot
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.model.finding import Evidence, Finding, Fix, Gain, Grade, Location, Severity
from gpudoctor.model.gpu import Clocks, Ecc, Gpu, Memory, Pcie, Power, Utilization
from gpudoctor.model.machine import Nvml
from gpudoctor.model.phases import Tracings
from gpudoctor.model.report import Coverage, Outcome, Report, Status, Summary, Verdict
from gpudoctor.model.run import Breakdown, GpuOverTime, HotLine, HotLines, MachineOverTime, Pipeline, Run, StepTimes
from gpudoctor.model.run import (
    Stage as PipelineStage,
)
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.trends import Memory as RunMemory
from gpudoctor.model.trends import MemorySlope
from gpudoctor.tui.app import MonitorApp
from gpudoctor.tui.messages import HostLoad, ProcessLoad, Progress, Reading, Traffic
from gpudoctor.tui.options import Options
from gpudoctor.tui.run_news import Column, RunNews
from gpudoctor.tui.sources import Source, Still
from gpudoctor.tui.views.lines import text_of
from gpudoctor.tui.widgets.panel import Panel

MACHINES = Path(__file__).parents[2] / "fixtures" / "machines"
GIB, MIB = 1 << 30, 1 << 20
AT_S = 1_796_047_331.0  # 14:02:11 UTC

os.environ["TZ"] = "UTC"
time.tzset()


def gpu(index: int = 0, **changes: Any) -> Gpu:
    """Return a GPU whose figures differ from each other and from those of the next one."""
    known = Gpu(
        index=index,
        name="NVIDIA H100 80GB HBM3",
        pci=f"0000:{0x17 + 0x10 * index:02x}:00.0",
        compute_capability="9.0",
        memory=Memory(
            total_bytes=79 * GIB, used_bytes=(21 + index) * GIB, free_bytes=(57 - index) * GIB, reserved_bytes=600 * MIB
        ),
        utilization=Utilization(gpu_percent=34 + index, memory_percent=18 + index),
        power=Power(draw_w=312.0 + index, limit_w=700.0, default_limit_w=701.0, max_limit_w=702.0),
        temperature_c=64 + index,
        temperature_slowdown_c=89,
        fan_percent=43 + index,
        performance_state=2,
        clocks=Clocks(sm_mhz=1755 + index, sm_max_mhz=1980, memory_mhz=2619, memory_max_mhz=2620),
        throttle_reasons=(),
        pcie=Pcie(gen=4, gen_max=5, width=16, width_max=16),
        ecc=Ecc(enabled=True, corrected=7 + index, uncorrected=0, remapped_rows=3, remap_pending=False),
        mig_mode="disabled",
        mig_instances=0,
        compute_mode="default",
        persistence=True,
        display_active=False,
        processes=(),
    )
    return replace(known, **changes)


def sick_gpu(index: int = 0) -> Gpu:
    """Return one that its hardware slows down."""
    return gpu(
        index,
        temperature_c=91,
        throttle_reasons=("HwSlowdown", "HwThermalSlowdown"),
        clocks=Clocks(sm_mhz=1200, sm_max_mhz=1980, memory_mhz=2619, memory_max_mhz=2620),
    )


HOST = HostLoad(
    cpu_percent=27.0,
    core_percents=(97.0, 12.0, 55.0, 3.0),
    load_1_min=2.4,
    memory_used_bytes=46 * GIB,
    memory_total_bytes=125 * GIB,
    swap_used_bytes=520 * MIB,
    swap_total_bytes=8 * GIB,
    disk_read_bytes_per_s=410.0 * MIB,
    disk_write_bytes_per_s=13.0 * MIB,
    net_received_bytes_per_s=5.0 * MIB,
    net_sent_bytes_per_s=1.0 * MIB,
)
PROCESSES = (
    ProcessLoad(
        pid=4711, parent_pid=88, gpus=(0,), gpu_memory_bytes=19 * GIB, host_memory_bytes=6 * GIB, cpu_percent=131.0,
        user="ada", command="python train.py --batch 512", tensorflow=True, own=True,
    ),
    ProcessLoad(
        pid=4822, parent_pid=99, gpus=(0, 1), gpu_memory_bytes=2 * GIB, host_memory_bytes=3 * GIB, cpu_percent=99.0,
        user="lin", command="python serve.py", tensorflow=False, own=False,
    ),
    ProcessLoad(
        pid=4712, parent_pid=4711, kind="child", host_memory_bytes=1 * GIB, cpu_percent=88.0,
        user="ada", command="python train.py worker", tensorflow=True, own=True,
    ),
)  # fmt: skip


def reading(*gpus: Gpu, at_s: float = AT_S, **changes: Any) -> Reading:
    """Return a reading of these GPUs, or of two healthy ones."""
    known = Reading(
        at_s=at_s,
        nvml=Nvml(status="ok", driver_version="580.95.05", cuda_driver_version="13.0", device_count=2),
        gpus=gpus or (gpu(0), gpu(1)),
        traffic={0: Traffic(received_bytes_per_s=282 * MIB, sent_bytes_per_s=131 * MIB)},
        host=HOST,
        processes=PROCESSES[:2],
    )
    return replace(known, **changes)


def invented_report() -> Report:
    """Return a report that no change of a check changes: every kind of entry, every figure different."""
    hot = Finding(
        code="GD901", slug="invented-heat", title="The GPU lowers its clocks", cause="throttle",
        summary="GPU 0: hardware slowdown, 1200 of 1980 MHz, 91 C.", severity=Severity.ERROR, confidence=0.83,
        basis="one reading of NVML",
        evidence=(
            Evidence(label="core clock", value=1200, unit="MHz", source="NVML"),
            Evidence(label="time lost", value=0.41, unit="share", source="the probe"),
            Evidence(label="free memory", value=5 * GIB, unit="bytes"),
        ),
    )  # fmt: skip
    slow = Finding(
        code="GD902", slug="invented-slowness", title="The probe trained slowly", cause="slow", caused_by="GD901",
        summary="The reference network took 2.2 times as long as on its like.", severity=Severity.WARNING,
        confidence=0.64, basis="facts, and the probe trained on the GPU", location=Location(file="train.py", line=41),
    )  # fmt: skip
    note = Finding(
        code="GD903", slug="invented-note", title="Mixed precision pays here", cause="precision",
        summary="Mixed precision: 1.90x (1.85-1.95).", severity=Severity.INFO, confidence=0.97, basis="the probe",
    )  # fmt: skip
    cool = Fix(
        id="cool", title="Watch it, then see to cooling", action="command", text="nvidia-smi -q -d PERFORMANCE -l 5",
        gain=Gain(grade=Grade.BOUND, speedup=1.65, basis="clocks now against the highest"), effort_minutes=12,
        risk="none", addresses=("GD901",),
    )  # fmt: skip
    half = Fix(
        id="half", title="float16, last layer in float32", action="setting",
        text='keras.mixed_precision.set_global_policy("mixed_float16")', effort_minutes=7, addresses=("GD903",),
        gain=Gain(grade=Grade.PROBE, speedup=1.9, low=1.85, high=1.95, basis="16 pairs"), risk="low",
    )  # fmt: skip
    outcomes = zip(
        Outcome,
        ("", "", "driver unknown", "3 steps seen, 20 needed", "ZeroDivisionError: division by zero"),
        strict=True,
    )
    checks = tuple(
        Verdict(
            code=f"GD9{place:02}", slug=f"invented-{status.value}", title=f"An invented check that {status.value}",
            family="invented", causes=("none",), status=status, reason=reason, trials=("baseline",) if place % 2 else (),
        )
        for place, (status, reason) in enumerate(outcomes, start=11)
    )  # fmt: skip
    summary = Summary(status=Status.BROKEN, headline=hot.summary, counts={}, coverage=Coverage(ran=19, total=23))
    return Report(
        summary=summary, snapshot=Snapshot(), checks=checks, findings=(hot, slow, note), fixes=(cool, half),
        not_judged=("invented-later",),
    )  # fmt: skip


def invented_run(**changes: Any) -> Run:
    """Return an analysed run whose figures all differ."""
    stages = (
        PipelineStage(name="Prefetch", method="prefetch", file="train.py", line=57, made_by="user", elements=900),
        PipelineStage(name="BatchV2", method="batch", file="train.py", line=56, batch_s=0.0021, elements=900),
        PipelineStage(
            name="Map", method="map", file="train.py", line=41, callee="augment", python="python function",
            batch_s=0.0572, parallelism=3.0, elements=900,
        ),
        PipelineStage(name="TensorSlice", method="from_tensor_slices", file="data.py", line=12, batch_s=0.00043, elements=900),
    )  # fmt: skip
    lines = (
        HotLine(file="train.py", line=23, function="augment", role="pipeline", activity="numpy", leaf="numpy.pad", share=0.61, snippet="image = np.pad(image, 4)"),
        HotLine(file="train.py", line=71, function="<module>", role="main", activity="tensorflow_wait", leaf="x", share=0.52, snippet="model.fit(dataset)"),
        HotLine(file="logs.py", line=9, function="on_batch_end", role="main", activity="python", leaf="", share=0.08, snippet="self.rows.append(loss)"),
    )  # fmt: skip
    known = Run(
        session="1a2b3c4d", script="train.py", outcome="running", hello=True, trained=True,
        tensorflow_version="2.20.1", keras_version="3.11.5",
        steps=StepTimes(
            label="fit", file="train.py", line=71, steps=901, warm_up_steps=17, step_s=0.0806, wait_s=0.0571, input_class="highly",
            shares=Breakdown(input=0.71, host=0.04, tracing=0.0, compute=0.25, device=0.24), methods=("stamps", "window"),
            agree=True, device_plane="seen", confidence=0.95, basis="two methods agree",
        ),
        pipeline=Pipeline(source="from_tensor_slices", stages=stages, bottleneck=2, batch_s=0.0597, prefetch="user"),
        hot_lines=HotLines(lines=lines, sampled_s=12.0),
        machine=MachineOverTime(
            gpus=(GpuOverTime(index=0, busy_share=0.29, joules_per_step=26.5),), cores=16, cores_used=2.7, nvml_status="ok"
        ),
        tracings=Tracings(share=0.03),
        memory=RunMemory(
            slopes=(
                MemorySlope(device="GPU:0", last_bytes=38 * GIB, peak_bytes=61 * GIB, bytes_per_step=3.0),
                MemorySlope(device="host", last_bytes=9 * GIB, bytes_per_step=412_000.0),
            )
        ),
    )  # fmt: skip
    return replace(known, **changes)


def invented_run_report(**changes: Any) -> Report:
    """Return the judgement of the invented run: a cause, its symptom, two fixes."""
    cause = Finding(
        code="GD991", slug="invented-python", title="NumPy holds the input", cause="hot", severity=Severity.ERROR,
        summary="NumPy in augment holds the input: train.py:23.", confidence=0.91, basis="two methods agree",
        location=Location(file="train.py", line=41, snippet=".map(augment, num_parallel_calls=3)"),
        evidence=(Evidence(label="time in numpy.pad", value=0.61, unit="share", source="sampled stacks"),),
    )  # fmt: skip
    symptom = Finding(
        code="GD992", slug="invented-wait", title="Steps wait", cause="wait", caused_by="GD991", severity=Severity.WARNING,
        summary="Highly input-bound: 71% of a step waits for data.", confidence=0.94, basis="two methods agree",
    )  # fmt: skip
    ops = Fix(
        id="ops", title="augment() in TF ops :41", action="manual", text="tf.pad(image, ...)  # in place of np.pad", risk="low",
        gain=Gain(grade=Grade.ESTIMATE, speedup=2.5, low=2.1, high=3.1), effort_minutes=30, addresses=("GD991", "GD992"),
    )  # fmt: skip
    cache = Fix(
        id="cache", title="cache() before :41 (2.1 GB, fits)", action="manual", text=".cache()", risk="low",
        gain=Gain(grade=Grade.ESTIMATE, speedup=1.2, low=1.1, high=1.3), effort_minutes=2, addresses=("GD992",),
    )  # fmt: skip
    summary = Summary(status=Status.BROKEN, headline=cause.summary, counts={}, coverage=Coverage(ran=21, total=27))
    return Report(
        summary=summary, snapshot=Snapshot(run=invented_run(**changes)), level="run", findings=(cause, symptom),
        fixes=(ops, cache),
    )  # fmt: skip


def run_columns(count: int) -> tuple[Column | None, ...]:
    """Return a time line with a slow half, a hole and a fast half."""
    slow = Column(steps_per_s=12.4, input=0.0572, device=0.0191, host=0.0032, other=0.0011)
    fast = Column(steps_per_s=43.9, input=0.0007, device=0.0186, host=0.0021, other=0.0014)
    half = count // 2
    return (*([None] * 3), *([slow] * (half - 3)), *([None] * 2), *([fast] * (count - half - 2)))


def run_news(*, columns: int = 100, **changes: Any) -> RunNews:
    """Return news of the invented run."""
    known = RunNews(
        place_s=252.0, length_s=252.0, at_s=AT_S, epoch=4, steps=3412, columns=run_columns(columns), span_s=300,
        report=invented_run_report(),
    )  # fmt: skip
    return replace(known, **changes)


PAGES = {
    "GD901": "GD901: an invented page.\n\nWhat it does\n    Reads the clocks.\n\nWhy it matters\n    Half the clock is half the speed.",
    "GD911": "GD911: another invented page.",
    "GD991": "GD991: a page about Python.\n\nWhy it matters\n    One Python function at a time holds the\n    interpreter.",
}


def report(slug: str) -> Report:
    """Return the report on one of the machines to replay."""
    path = MACHINES / slug / "snapshot.json"
    snapshot = load_snapshot(path.read_bytes(), name=slug)
    known = registry.load()
    return diagnose(snapshot, known.checks, level="quick" if snapshot.probe is None else "standard")


class Stage:
    """A running dashboard and what a test does with it."""

    def __init__(self, app: MonitorApp, pilot: Pilot[int]) -> None:
        self.app, self.pilot = app, pilot
        self.told: list[str] = []

    async def press(self, *keys: str) -> None:
        """Press keys and wait until they did what they do."""
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        """Wait until nothing is left to be done."""
        await self.pilot.pause()
        await self.pilot.pause()

    async def show(self, *readings: Reading) -> None:
        """Let readings come."""
        self.app.show_readings(readings)
        await self.settle()

    async def judge(self, judged: Report) -> None:
        """Let a scan end with this report."""
        self.app.scans.tell(-1, Progress(report=judged, pages=PAGES))
        await self.settle()

    async def train(self, news: RunNews) -> None:
        """Let news of a run come."""
        self.app.watch_state.run.news = news
        self.app.scans.pages = PAGES
        self.app.draw()
        await self.settle()

    @property
    def text(self) -> str:
        """Return what the topmost screen shows."""
        panels = self.app.screen.query(Panel)
        return "\n".join(text_of(line) for panel in panels for line in panel.lines)

    @property
    def lines(self) -> list[str]:
        """Return the lines of the topmost screen."""
        return self.text.splitlines()


class Told(Still):
    """A source that keeps what it was told."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def tell(self, words: str) -> None:
        """Keep it."""
        self.words.append(words)


@asynccontextmanager
async def stage(
    *, size: tuple[int, int] = (120, 34), source: Source | None = None, **options: Any
) -> AsyncGenerator[Stage, None]:
    """Run the app unseen."""
    app = MonitorApp(Options(**options), source or Still())
    async with app.run_test(size=size) as pilot:
        acting = Stage(app, pilot)
        await acting.settle()
        yield acting
