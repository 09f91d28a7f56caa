"""GD451: one cause in five is a batch that is too large."""

from __future__ import annotations

import pytest

from gpudoctor_checks.memory.out_of_memory import ran_out
from tests.checks.texts import FAULTY, found, nothing, text_case

CASE = text_case(
    "GD451",
    "OOM when allocating tensor with shape[32,512,512,64] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc",
    variants=FAULTY,
)


def test_a_told_size_is_a_model_or_batch() -> None:
    finding = found(
        ran_out,
        "OOM when allocating tensor with shape[32,512,512,64] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc",
    )
    assert (finding.cause, finding.fixes[0].id) == ("batch-too-large", "smaller-batch")


def test_bare_words_want_a_measurement() -> None:
    finding = found(ran_out, "ResourceExhaustedError")
    assert (finding.cause, finding.fixes[0].id) == ("batch-too-large", "measure-memory")


def test_a_whole_array() -> None:
    finding = found(ran_out, "_EagerConst: Dst tensor is not initialized.")
    assert (finding.cause, finding.fixes[0].id) == ("data-on-gpu", "data-on-cpu")


def test_code_of_xla() -> None:
    finding = found(ran_out, "Failed to load in-memory CUBIN: CUDA_ERROR_OUT_OF_MEMORY: out of memory")
    assert (finding.cause, finding.fixes[0].id) == ("xla-memory", "memory-growth")


def test_a_pool_that_is_a_rest() -> None:
    finding = found(
        ran_out,
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 105.16MiB (rounded to 110272000)requested by op x",
        "total_region_allocated_bytes_: 55115776 memory_limit_: 55115776 available bytes: 0 curr_region_allocation_bytes_: 110231552",
        "Limit:                    55115776",
    )
    assert (finding.cause, finding.fixes[0].id) == ("other-process", "end-other-process")


def test_regions_given_back_are_pieces() -> None:
    finding = found(
        ran_out,
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 34.10MiB (rounded to 35758080)requested by op x",
        "Garbage collection: deallocate free memory regions (i.e., allocations) so that we can",
    )
    assert (finding.cause, finding.fixes[0].id) == ("fragmentation", "async-allocator")


def test_a_pool_that_cannot_be_taken_is_held_by_another() -> None:
    finding = found(
        ran_out, "failed to allocate 7.43G (7977565184 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory"
    )
    assert (finding.cause, finding.fixes[0].id) == ("other-process", "end-other-process")


def test_two_notebooks_on_one_gpu_are_told_by_words_alone() -> None:
    finding = found(ran_out, other="two Jupyter notebooks on one GPU")
    assert (finding.cause, finding.fixes[0].id) == ("other-process", "end-other-process")
    assert nothing(ran_out, other="a GPU of another make")


@pytest.mark.parametrize(
    "line",
    [
        "failed to allocate 3.92G (4213000192 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY",
        "OOM when allocating tensor with shape[256] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc",
    ],
)
def test_a_board_that_shares_its_memory_is_not_sent_to_nvidia_smi(line: str) -> None:
    finding = found(ran_out, line, gpu="Jetson Nano")
    told = [each.text for each in finding.fixes] + [str(each.value) for each in finding.evidence]
    assert not any("nvidia-smi" in each for each in told)
    assert any("tegrastats" in each for each in told)
    assert {"free-shared-memory", "add-swap", "memory-limit"} <= {each.id for each in finding.fixes}


@pytest.mark.parametrize(
    "start",
    [
        ("Total memory: 12.00GiB", "Free memory: 496.40MiB"),
        ("totalMemory: 11.91GiB freeMemory: 3.20GiB",),
    ],
)
def test_little_that_was_free_at_the_start_is_another_process(start: tuple[str, ...]) -> None:
    finding = found(ran_out, *start, "Ran out of memory trying to allocate 24.50MiB.  See logs for memory state.")
    assert finding.cause == "other-process"


def test_a_card_that_was_free_at_the_start_is_full_of_its_own() -> None:
    lines = ("totalMemory: 11.91GiB freeMemory: 11.20GiB", "totalMemory: 11.91GiB freeMemory: 0.20GiB")
    finding = found(ran_out, *lines, "OOM when allocating tensor with shape[64,64] and type float")
    assert finding.cause == "batch-too-large"


def test_a_pool_of_a_few_megabytes_is_what_another_process_left() -> None:
    made = (
        "Created device /job:localhost/replica:0/task:0/device:GPU:0 with {} MB memory:  -> device: 0, name: Tesla T4"
    )
    ended = (
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 18.00MiB (rounded to 18874368)requested by op Mul"
    )
    assert found(ran_out, made.format(67), ended).cause == "other-process"
    assert found(ran_out, made.format(512), ended).cause == "batch-too-large"  # somebody's limit


def test_one_large_image_is_no_batch_to_make_smaller() -> None:
    fixes = found(ran_out, "OOM when allocating tensor with shape[1,5095,3729,3]").fixes
    assert fixes[0].id == "smaller-examples"
    assert "smaller-batch" not in {each.id for each in fixes}
    kernel = found(ran_out, "OOM when allocating tensor with shape[1,1,512,1024]").fixes
    assert kernel[0].id == "smaller-batch"


CARD = "|   0  NVIDIA GeForce RTX 3080        Off |   00000000:01:00.0 Off |                  N/A |"
USED = "| 30%   45C    P8             20W /  320W |    9800MiB /  10240MiB |      0%      Default |"
HOLDER = "|    0   N/A  N/A      4711      C   python                                       9790MiB |"
SHORT = (
    "Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.00GiB (rounded to 1073741824)requested by op Conv2D"
)


def test_a_process_that_nvidia_smi_lists_before_holds_the_gpu() -> None:
    finding = found(ran_out, CARD, USED, HOLDER, SHORT)
    assert (finding.cause, finding.fixes[0].id) == ("other-process", "end-other-process")
    assert "4711" in finding.summary


def test_a_process_that_is_listed_afterwards_or_beside_a_pool_of_its_own_may_be_this_one() -> None:
    created = (
        "Created device /job:localhost/replica:0/task:0/device:GPU:0 with 8000 MB memory:  -> device: 0, name: NVIDIA GeForce"
        " RTX 3080, pci bus id: 0000:01:00.0, compute capability: 8.6"
    )
    for lines in ((CARD, USED, SHORT, HOLDER), (CARD, USED, created, HOLDER, SHORT)):
        assert found(ran_out, *lines).cause == "batch-too-large"
