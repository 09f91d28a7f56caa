"""Memory ends under many names; what else goes wrong stays an error."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gpudoctor.probe import child_ladder
from gpudoctor.probe.child_shortage import is_shortage


class OpError(Exception):
    pass


class ResourceExhaustedError(OpError):
    pass


class InternalError(OpError):
    pass


class UnknownError(OpError):
    pass


class NotFoundError(OpError):
    pass


COPY = (
    "Failed copying input tensor from /job:localhost/replica:0/task:0/device:CPU:0 to"
    " /job:localhost/replica:0/task:0/device:GPU:0 in order to run _EagerConst: Dst tensor is not initialized."
)
ENGINES = "No algorithm worked!  Error messages:\n  Profiling failure on CUDNN engine {}"


@pytest.mark.parametrize(
    "error",
    [
        ResourceExhaustedError("{{function_node __wrapped__AddV2}} failed to allocate memory [Op:AddV2]"),
        ResourceExhaustedError("whatever it says"),
        MemoryError(),
        InternalError(COPY),
        InternalError("Failed to load in-memory CUBIN: CUDA_ERROR_OUT_OF_MEMORY: out of memory"),
        InternalError("CUDA runtime implicit initialization on GPU:0 failed. Status: out of memory"),
        InternalError("Failed to allocate request for 1.00GiB (1073741824B) on device ordinal 0"),
        UnknownError("CUDNN_STATUS_ALLOC_FAILED\nin external/xla/xla/stream_executor/cuda/cuda_dnn.cc(6784): 'status'"),
        NotFoundError(ENGINES.format("eng0{}: UNKNOWN: CUDNN_STATUS_ALLOC_FAILED")),
        NotFoundError(ENGINES.format("4: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17392640 bytes.")),
        RuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 33762398024 bytes."),
    ],
    ids=str,
)
def test_a_shortage_is_known_by_its_words_whatever_its_type(error: BaseException) -> None:
    assert is_shortage(error)


@pytest.mark.parametrize(
    "error",
    [
        InternalError("Blas GEMM launch failed : a.shape=(10, 9), b.shape=(9, 64), m=10, n=64, k=9"),
        InternalError("libdevice not found at ./libdevice.10.bc"),
        UnknownError("Failed to get convolution algorithm. This is probably because cuDNN failed to initialize"),
        NotFoundError(ENGINES.format("1#TC: UNKNOWN: CUDNN_STATUS_EXECUTION_FAILED")),
        InternalError("CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"),
        InternalError("Failed to allocate a port"),
    ],
    ids=str,
)
def test_another_fault_stays_one(error: BaseException) -> None:
    assert not is_shortage(error)


def climbed(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> tuple[dict[int, Any], list[str], int]:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(child_ladder, "_on_device", refuse)
    bench: Any = SimpleNamespace(tf=SimpleNamespace(errors=SimpleNamespace(OpError=OpError)))
    network: Any = None
    return child_ladder._climb(bench, network, (32, 64))  # pyright: ignore[reportPrivateUsage]


def test_the_ladder_ends_at_a_shortage_of_any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    _, notes, full_at = climbed(monkeypatch, InternalError(COPY))
    assert full_at == 32
    assert "batch 32 does not fit" in notes[0]


def test_the_ladder_takes_no_other_fault_for_a_shortage(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InternalError, match="libdevice"):
        climbed(monkeypatch, InternalError("libdevice not found at ./libdevice.10.bc"))
