"""A long log is read at 50 MB/s or more of one core's time, in less than 150 MB."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpudoctor.logs.intake import read_texts

LEAST_BYTES_PER_S = 50e6
MOST_BYTES = 150 * 1024 * 1024
SIZE_BYTES = 1 << 30
BLOCK = "".join(
    f"{step}/1875 [=====>.....] - ETA: {step % 60}s - loss: 0.{9999 - step % 9000} - accuracy: 0.91\n"
    if step % 5
    else "2025-03-02 12:00:00.123456: I tensorflow/core/common_runtime/executor.cc:1209] a message that means nothing\n"
    for step in range(20000)
)


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("logs") / "run.log"
    with path.open("w", encoding="utf-8") as file:
        for _ in range(SIZE_BYTES // len(BLOCK) + 1):
            file.write(BLOCK)
        file.write("E cuda_driver.cc:1] failed call to cuInit: CUDA_ERROR_UNKNOWN\n")
    return path


@pytest.mark.benchmark
def test_a_gibibyte_is_read_fast(long_log: Path) -> None:
    begun = time.process_time()
    found = read_texts([str(long_log)])
    took_s = time.process_time() - begun

    assert [each.kind for each in found] == ["cuinit_failed", "text_end"]
    assert long_log.stat().st_size / took_s > LEAST_BYTES_PER_S


@pytest.mark.benchmark
def test_a_gibibyte_takes_little_memory(long_log: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "gpudoctor", "log", str(long_log), "--no-machine", "--fail-on", "never"],
        check=True,
        stdout=subprocess.DEVNULL,
    )

    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 < MOST_BYTES
