"""GD454: host memory is told from GPU memory."""

from __future__ import annotations

from gpudoctor_checks.memory.host_memory_said import host_full
from gpudoctor_checks.memory.out_of_memory import ran_out
from tests.checks.texts import FAULTY, found, nothing, text_case

CASE = text_case(
    "GD454",
    "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 12.3 GiB for an array with shape (100000, 128, 128)",
    variants=FAULTY,
)


def test_the_kernel_killed_it() -> None:
    finding = found(host_full, "Out of memory: Killed process 4242 (python) total-vm:81234kB")
    assert (finding.cause, finding.fixes[0].id) == ("host-ram", "smaller-host-buffers")


def test_a_tensor_of_the_model_on_the_cpu_is_left_to_model_and_batch() -> None:
    line = "OOM when allocating tensor with shape[32,512] and type float on /job:localhost/replica:0/task:0/device:CPU:0 by allocator cpu"
    assert nothing(host_full, line)
    finding = found(ran_out, line)
    assert (finding.cause, finding.fixes[0].id) == ("batch-too-large", "smaller-batch")
    assert "host" in finding.summary
