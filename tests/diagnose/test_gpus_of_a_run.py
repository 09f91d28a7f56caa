"""A run is judged by the GPUs that it held: what befell others beside it is not its trouble."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.run_report import report_of_run
from gpudoctor.model.session import GpuSample, Session
from gpudoctor.present import run_text
from gpudoctor.tui.views.lines import text_of
from gpudoctor.tui.views.why import why_lines
from tests.profile.timelines import recorded


def beside_a_hot_gpu(session: Session) -> Session:
    """Return the recording of a training on the CPU as a machine with a GPU, slowed and not ours, would have given it."""
    seconds = range(int(session.started_at), int(session.heartbeat_at) + 1)
    samples = tuple(
        GpuSample(
            at=float(at), gpu=0, gpu_percent=0, power_w=70.0, temperature_c=91, sm_mhz=1200, sm_max_mhz=1980,
            throttle_reasons=("HwThermalSlowdown",), own_processes=0, foreign_processes=1,
        )
        for at in seconds
    )  # fmt: skip
    return replace(session, nvml_status="ok", gpu_samples=samples)


def test_a_training_on_the_cpu_is_told_that_first_and_nothing_of_the_hot_gpu_beside_it() -> None:
    report = report_of_run(beside_a_hot_gpu(recorded("slow-callback")), registry.load().checks)
    assert "J/step" not in run_text.render(report)
    codes = [each.code for each in report.findings]
    assert "GD620" in codes
    assert "GD811" not in codes
    why, fix = (text_of(line) for line in why_lines(report, 120, 2))
    primary = next(each for each in report.findings if each.caused_by is None)
    assert primary.code in why
    best = next(each for each in report.fixes if primary.code in each.addresses)
    assert best.title[:40] in fix
