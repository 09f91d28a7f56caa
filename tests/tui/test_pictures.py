"""The journeys of a user, as pictures: what stands where, in which colour, on which size of screen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from gpudoctor.codec import load_snapshot
from gpudoctor.model.gpu import Gpu, Memory, MigInstance, Utilization
from gpudoctor.model.machine import Nvml
from gpudoctor.model.missing import Missing
from gpudoctor.model.session import GpuSample
from gpudoctor.tui.examination import Examination
from gpudoctor.tui.messages import Progress, Reading
from gpudoctor.tui.run_news import Recorded
from gpudoctor.tui.session_source import recording_of
from gpudoctor.tui.sources import DEMO, demo
from gpudoctor.tui.views.run import plot_columns
from tests.tui.gallery import compare
from tests.tui.stage import (
    AT_S,
    PROCESSES,
    Stage,
    gpu,
    invented_report,
    invented_run_report,
    reading,
    run_news,
    sick_gpu,
    stage,
)


def _past(*, seconds: int = 240) -> list[Reading]:
    """Return readings that lead up to now, so that the plots have something to show."""
    return [
        reading(gpu(0, temperature_c=40 + at // 10), gpu(1), at_s=AT_S - seconds + at) for at in range(0, seconds, 2)
    ]


async def _at_work(on: Stage) -> None:
    await on.show(*_past(), reading())


async def _sick(on: Stage) -> None:
    await on.show(*_past(), reading(sick_gpu(0), gpu(1)))


async def _lost(on: Stage) -> None:
    lost = Gpu(index=1, name="NVIDIA H100 80GB HBM3", pci="0000:27:00.0", status="gpu_lost")
    await on.show(*_past(), reading(gpu(0), lost, xids={"0000:27:00.0": (79,)}))


async def _mig(on: Stage) -> None:
    parts = tuple(
        MigInstance(
            place=place, profile=profile, gpu_instance=7 + place, compute_instance=place,
            memory=Memory(total_bytes=(19 - 9 * place) << 30, used_bytes=(11 - 4 * place) << 30),
        )
        for place, profile in enumerate(("2g.20gb", "1g.10gb"))
    )  # fmt: skip
    mig = gpu(0, mig_mode="enabled", mig_instances=2, utilization=Utilization(gpu_percent=Missing("not_supported")))
    await on.show(reading(mig, gpu(1), migs={0: parts}))


async def _silent(on: Stage) -> None:
    await _at_work(on)
    on.app.source.trouble = "NVML does not answer since 12 s"
    await on.show(reading(gpus_age_s=12.0))


async def _no_driver(on: Stage) -> None:
    await on.show(
        reading(gpus=(), processes=(), nvml=Nvml(status="library_not_found", message="libnvidia-ml.so.1: no such file"))
    )


async def _tree(on: Stage) -> None:
    await on.show(reading(processes=PROCESSES))
    await on.press("t", "j", "space", "k")


async def _filtered(on: Stage) -> None:
    await _at_work(on)
    await on.press("slash", "l", "i", "n")


async def _signal(on: Stage) -> None:
    await _at_work(on)
    await on.press("K", "down", "enter")


async def _about_gpu(on: Stage) -> None:
    await _sick(on)
    await on.press("g")


async def _help(on: Stage) -> None:
    await _at_work(on)
    await on.press("question_mark")


async def _unexamined(on: Stage) -> None:
    await on.show(reading())
    await on.press("2")


async def _findings(on: Stage) -> None:
    await on.show(reading(sick_gpu(0), gpu(1)))
    await on.judge(invented_report())
    await on.press("2")


async def _folded(on: Stage) -> None:
    await on.judge(invented_report())
    await on.press("2", "j")


async def _fix(on: Stage) -> None:
    await _findings(on)
    await on.press("f")


async def _explained(on: Stage) -> None:
    await _findings(on)
    await on.press("x")


async def _why(on: Stage) -> None:
    await on.judge(invented_report())
    await _sick(on)


async def _load_asked(on: Stage) -> None:
    await on.show(reading())
    await on.press("R")


async def _scanning(on: Stage) -> None:
    running = _Running()
    on.app.scans.running = running
    await on.show(reading())
    await on.press("2")


async def _no_run(on: Stage) -> None:
    await on.show(reading())
    await on.press("3")


async def _run_view(on: Stage) -> None:
    await on.show(reading())
    await on.press("3")
    await on.train(run_news(columns=plot_columns(on.app.size.width)))


async def _run_started(on: Stage) -> None:
    run = on.app.watch_state.run
    run.started = ("python", "train.py")
    run.output = ("Epoch 4/40", "3412/9000 ━━━━━━━━━━ 81ms/step - loss: 2.31")
    await _run_view(on)


async def _run_begins(on: Stage) -> None:
    on.app.watch_state.run.started = ("python", "train.py")
    on.app.watch_state.run.output = ("2026-11-30 14:02:09 I port.cc:153] oneDNN is on",)
    await _no_run(on)


async def _run_ended(on: Stage) -> None:
    await on.show(reading())
    await on.press("3")
    ended = invented_run_report(outcome="ended", exit_code=137)
    await on.train(run_news(columns=plot_columns(on.app.size.width), report=ended))


async def _run_finding(on: Stage) -> None:
    await _run_view(on)
    await on.press("j", "enter")


async def _run_explained(on: Stage) -> None:
    await _run_view(on)
    await on.press("x")


async def _why_of_a_run(on: Stage) -> None:
    await on.show(*_past(), reading())
    await on.train(run_news())


async def _session(on: Stage) -> None:
    gpus = tuple(
        GpuSample(
            at=AT_S + at, gpu=0, name="NVIDIA H100 80GB HBM3", gpu_percent=31 + at % 7, memory_used_bytes=33 << 30,
            memory_total_bytes=79 << 30, power_w=301.0 + at, power_limit_w=700.0, temperature_c=57, sm_mhz=1770, sm_max_mhz=1980,
            throttle_reasons=(),
        )
        for at in range(61)
    )  # fmt: skip
    recording = recording_of(Recorded(begun_s=AT_S, length_s=60.0, nvml_status="ok", gpus=gpus))
    on.app.source = recording
    on.app.watch_state.paused = True
    on.app.show_readings(recording.seek(40))
    await on.press("greater_than_sign", "right_square_bracket")


async def _replay(on: Stage) -> None:
    recording = demo(load_snapshot((DEMO / "snapshot.json").read_bytes()))
    on.app.source = recording
    on.app.watch_state.paused = True
    on.app.show_readings(recording.seek(60))
    await on.press("greater_than_sign", "right_square_bracket")


class _Running(Examination):
    """A scan that stands still at one moment."""

    def __init__(self) -> None:
        self.title, self.started = "scan", 0.0
        self.last = Progress(trial="precision", done=4, total=9, left_s=31.0)

    def cancel(self) -> None:
        """Stand still."""

    def check(self) -> Progress | None:
        """Stand still."""
        return None

    def close(self) -> None:
        """Have nothing to end."""


Journey = Callable[[Stage], Awaitable[None]]
JOURNEYS: dict[str, tuple[Journey, tuple[int, int]]] = {
    "at-work": (_at_work, (120, 34)),
    "at-work-80x24": (_at_work, (80, 24)),
    "at-work-200x50": (_at_work, (200, 50)),
    "sick": (_sick, (120, 34)),
    "lost": (_lost, (120, 34)),
    "mig": (_mig, (120, 34)),
    "silent": (_silent, (100, 30)),
    "no-driver": (_no_driver, (100, 24)),
    "tree": (_tree, (120, 34)),
    "filtered": (_filtered, (100, 30)),
    "signal": (_signal, (100, 30)),
    "about-gpu": (_about_gpu, (100, 50)),
    "help": (_help, (100, 60)),
    "unexamined": (_unexamined, (80, 24)),
    "findings": (_findings, (120, 34)),
    "folded-80x24": (_folded, (80, 24)),
    "fix": (_fix, (120, 34)),
    "explained": (_explained, (120, 34)),
    "why": (_why, (120, 34)),
    "load-asked": (_load_asked, (80, 24)),
    "scanning": (_scanning, (100, 24)),
    "run": (_run_view, (120, 40)),
    "run-80x24": (_run_view, (80, 24)),
    "run-200x50": (_run_view, (200, 50)),
    "run-started": (_run_started, (120, 40)),
    "run-started-80x24": (_run_started, (80, 24)),
    "run-begins": (_run_begins, (100, 24)),
    "run-ended": (_run_ended, (100, 30)),
    "run-finding": (_run_finding, (100, 40)),
    "run-explained": (_run_explained, (100, 30)),
    "run-none": (_no_run, (80, 24)),
    "why-of-a-run": (_why_of_a_run, (120, 34)),
    "session": (_session, (120, 34)),
    "replay": (_replay, (120, 34)),
}


@pytest.mark.parametrize("name", JOURNEYS)
def test_the_screen_is_the_picture(name: str) -> None:
    journey, size = JOURNEYS[name]

    async def act() -> None:
        async with stage(size=size) as on:
            await journey(on)
            compare(on, name)

    asyncio.run(act())


@pytest.mark.parametrize("theme", ["dark", "light", "contrast"])
@pytest.mark.parametrize(("name", "journey"), [("theme", _why), ("theme-run", _run_view)])
def test_each_theme_is_its_picture(name: str, journey: Journey, theme: str) -> None:
    async def act() -> None:
        async with stage(size=(100, 30), theme=theme) as on:
            await journey(on)
            compare(on, f"{name}-{theme}")

    asyncio.run(act())


def test_without_colour_the_words_and_signs_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def act() -> None:
        async with stage(size=(100, 30)) as on:
            await _why(on)
            compare(on, "no-colour")
            assert "x too hot: slowed by HW" in on.text

    asyncio.run(act())
