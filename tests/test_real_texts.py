"""Texts that real TensorFlow printed (`fixtures/logs`) are diagnosed right: the cause and the first fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.from_text import judge_text
from gpudoctor.logs.facts import snapshot_of
from gpudoctor.logs.intake import read_texts
from tests.corpus import primary

LOGS = Path(__file__).parents[1] / "fixtures" / "logs"
CHECKS = registry.load().checks
RIGHT = {
    "tf-1.13-oom-full": ("batch-too-large", "smaller-batch"),
    "tf-1.15-oom-full": ("batch-too-large", "smaller-batch"),
    "tf-2.4-oom-fragmentation": ("fragmentation", "fewer-shapes"),
    "tf-2.10-cuinit-804": ("forward-compat", "drop-cuda-compat"),
    "tf-2.10-missing-libraries": ("missing-cuda-libs", "install-matching-cuda"),
    "tf-2.13-cuinit-999": ("uvm-not-ready", "renew-uvm"),
    "tf-2.15-no-cudart": ("missing-cuda-libs", "install-tensorflow-with-cuda"),
    "tf-2.17-cuinit-999": ("uvm-not-ready", "renew-uvm"),
    "tf-2.17-missing-libraries": ("missing-cuda-libs", "install-tensorflow-with-cuda"),
    "tf-2.20-capability-12.0": ("blackwell", "run-ngc-container"),
    "tf-2.20-cuinit-100": ("cuda-visible-devices", "set-visible-devices"),
    "tf-2.20-cuinit-34": ("container-no-gpu", "loader-finds-libcuda"),
    "tf-2.20-cuinit-803": ("driver-library-mismatch", "reboot"),
    "tf-2.20-cuinit-804": ("forward-compat", "drop-cuda-compat"),
    "tf-2.20-cuinit-999": ("uvm-not-ready", "renew-uvm"),
    "tf-2.20-device-unavailable": ("device-permission-mode", "compute-mode-default"),
    "tf-2.20-driver-out-of-memory": ("other-process", "end-other-process"),
    "tf-2.20-driver-too-old": ("driver-too-old", "install-driver"),
    "tf-2.20-few-multiprocessors": ("gpu-filtered", "lower-multiprocessor-minimum"),
    "tf-2.20-libcuda-absent": ("container-no-gpu", "give-container-gpu"),
    "tf-2.20-no-cublas": ("missing-cuda-libs", "restore-library-path"),
    "tf-2.20-no-cudnn": ("missing-cuda-libs", "restore-library-path"),
    "tf-2.20-oom-fragmentation": ("fragmentation", "fewer-shapes"),
    "tf-2.21-data-ended": ("data-ended", "repeat-dataset"),
    "tf-2.21-nan-detected": ("fp16-nan", "scale-loss-in-loop"),
    "tf-2.21-nan-fit": ("fp16-nan", "float32-output"),
    "tf-2.21-oom-fragmentation": ("fragmentation", "fewer-shapes"),
    "tf-2.21-oom-full": ("batch-too-large", "smaller-batch"),
    "tf-2.21-retracing": ("eager-or-tracing", "fewer-traces"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_real_text_gets_its_cause_and_first_fix(name: str) -> None:
    report = judge_text(snapshot_of(read_texts([str(LOGS / f"{name}.log")])), CHECKS)
    found = primary(report)

    assert found is not None
    assert (found.cause, report.fixes[0].id) == RIGHT[name]


def test_the_generic_hint_of_the_allocator_alone_proves_nothing() -> None:
    report = judge_text(snapshot_of(read_texts([str(LOGS / "tf-2.21-oom-full.log")])), CHECKS)

    assert "cuda_malloc_async" in (LOGS / "tf-2.21-oom-full.log").read_text(encoding="utf-8")
    assert not any("cuda_malloc_async" in fix.text for fix in report.fixes)
