"""Texts that real TensorFlow printed (`fixtures/logs`) are diagnosed right: the cause and the first fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.from_text import judge_text
from gpudoctor.logs.facts import snapshot_of
from gpudoctor.logs.intake import read_texts
from gpudoctor.model.finding import Severity
from gpudoctor.model.report import Status
from tests.corpus import primary

LOGS = Path(__file__).parents[1] / "fixtures" / "logs"
CHECKS = registry.load().checks
RIGHT = {
    "tf-1.13-oom-full": ("batch-too-large", "gradient-accumulation"),
    "tf-1.15-oom-full": ("batch-too-large", "gradient-accumulation"),
    "tf-2.4-retracing": ("eager-or-tracing", "fewer-traces"),
    "tf-2.8-data-ended": ("data-ended", "repeat-dataset"),
    "tf-2.8-mixed-nan": ("fp16-nan", "float32-output"),
    "tf-2.8-protobuf-4": ("protobuf", "pin-protobuf"),
    "tf-2.8-retracing": ("eager-or-tracing", "fewer-traces"),
    "tf-2.15-data-ended": ("data-ended", "repeat-dataset"),
    "tf-2.15-keras-3-file": ("keras3", "upgrade-tensorflow"),
    "tf-2.16-keras-2-argument": ("keras3", "use-legacy-keras"),
    "tf-2.16-keras-2-imports": ("keras3", "use-legacy-keras"),
    "tf-2.16-keras-2-lr": ("keras3", "use-legacy-keras"),
    "tf-2.16-keras-engine": ("keras3", "use-legacy-keras"),
    "tf-2.16-legacy-keras-absent": ("keras3", "install-tf-keras"),
    "tf-2.17-numpy-2": ("numpy2", "pin-numpy"),
    "tf-2.21-constant-2gb": ("graph-constant", "feed-in-pieces"),
    "tf-2.21-mixed-nan": ("fp16-nan", "float32-output"),
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
    "tf-2.20-libcuda-absent": ("kernel-module-not-loaded", "load-driver"),
    "tf-2.20-no-cublas": ("missing-cuda-libs", "restore-library-path"),
    "tf-2.20-no-cudnn": ("missing-cuda-libs", "restore-library-path"),
    "tf-2.20-oom-fragmentation": ("fragmentation", "fewer-shapes"),
    "tf-2.21-data-ended": ("data-ended", "repeat-dataset"),
    "tf-2.21-nan-detected": ("fp16-nan", "scale-loss-in-loop"),
    "tf-2.21-nan-fit": ("fp16-nan", "float32-output"),
    "tf-2.21-oom-fragmentation": ("fragmentation", "fewer-shapes"),
    "tf-2.21-oom-full": ("batch-too-large", "gradient-accumulation"),
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


@pytest.mark.parametrize("name", ["tf-2.8-cpu-training", "tf-2.20-cpu-training", "tf-2.15-keras-3-trains"])
def test_a_healthy_training_on_the_cpu_is_not_called_broken(name: str) -> None:
    report = judge_text(snapshot_of(read_texts([str(LOGS / f"{name}.log")])), CHECKS)

    assert report.summary.status is Status.UNKNOWN
    assert not any(each.severity is not Severity.INFO for each in report.findings)


@pytest.mark.parametrize("fact", [{"gpu": "RTX 3090"}, {"driver": "550.54"}])
def test_the_same_text_is_broken_where_somebody_has_a_gpu(fact: dict[str, str]) -> None:
    report = judge_text(snapshot_of(read_texts([str(LOGS / "tf-2.20-cpu-training.log")]), fact), CHECKS)

    assert report.summary.status is Status.BROKEN
    assert any(each.severity is Severity.ERROR for each in report.findings)


def test_a_release_that_is_chosen_for_an_unknown_gpu_says_for_which_it_is() -> None:
    unknown = judge_text(snapshot_of(read_texts([str(LOGS / "tf-2.15-no-cudart.log")])), CHECKS)
    known = judge_text(snapshot_of(read_texts([str(LOGS / "tf-2.15-no-cudart.log")]), {"gpu": "RTX 3090"}), CHECKS)

    assert "GPUs of compute capability 6.0 to 9.0; yours: nvidia-smi" in unknown.fixes[0].text
    assert "compute capability" not in known.fixes[0].text
