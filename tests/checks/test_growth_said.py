"""GD452: a version that does not fit goes before memory."""

from __future__ import annotations

from gpudoctor_checks.memory.growth_said import no_memory_left
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case("GD452", "failed to create cublas handle: CUBLAS_STATUS_ALLOC_FAILED", variants=FAULTY)


def test_cudnn_that_cannot_start_wants_growth() -> None:
    finding = found(
        no_memory_left,
        "Failed to get convolution algorithm. This is probably because cuDNN failed to initialize, so try looking to see if a warning log message was printed above.",
    )
    assert (finding.cause, finding.fixes[0].id) == ("no-growth", "memory-growth")


def test_growth_that_is_set_too_late() -> None:
    finding = found(no_memory_left, "RuntimeError: Physical devices cannot be modified after being initialized")
    assert (finding.cause, finding.fixes[0].id) == ("no-growth", "memory-growth")


def test_another_option_that_is_set_too_late() -> None:
    finding = found(no_memory_left, "RuntimeError: Virtual devices cannot be modified after being initialized")
    assert (finding.cause, finding.fixes[0].id) == ("early-allocation", "memory-growth-in-program")


def test_with_growth_on_a_reserve_is_left() -> None:
    finding = found(
        no_memory_left,
        "could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR",
        env_TF_FORCE_GPU_ALLOW_GROWTH="true",
    )
    assert (finding.cause, finding.fixes[0].id) == ("no-growth", "memory-limit")


def test_growth_of_some_gpus_only_is_growth_of_none() -> None:
    finding = found(no_memory_left, "ValueError: Memory growth cannot differ between GPU devices")
    assert (finding.cause, finding.fixes[0].id) == ("no-growth", "memory-growth")
    assert "alike" in finding.summary


def test_cudnn_that_fails_in_a_recurrent_layer_is_unsure() -> None:
    finding = found(no_memory_left, "Internal: Failed to call ThenRnnForward with model config: [rnn_mode]: 2, 0, 0")
    assert (finding.cause, finding.fixes[0].id, finding.confidence < 0.5) == ("no-growth", "memory-growth", True)


def test_a_forked_process_wants_to_be_spawned() -> None:
    for line in (
        "F cuda_driver.cc:148] Failed setting context: CUDA_ERROR_NOT_INITIALIZED: initialization error",
        "could not retrieve CUDA device count: CUDA_ERROR_NOT_INITIALIZED: initialization error",
    ):
        finding = found(no_memory_left, line)
        assert (finding.cause, finding.fixes[0].id) == ("forked-after-cuda", "spawn-processes")
        assert "memory" not in finding.title


def test_the_variable_is_set_as_the_shell_of_the_system_does() -> None:
    line = "failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED"
    assert found(no_memory_left, line, os="windows").fixes[0].text == "set TF_FORCE_GPU_ALLOW_GROWTH=true"
    assert found(no_memory_left, line, os="linux").fixes[0].text == "export TF_FORCE_GPU_ALLOW_GROWTH=true"


def test_growth_and_a_limit_together_are_one_too_many() -> None:
    finding = found(no_memory_left, "Cannot set memory growth on device when virtual devices configured")
    assert (finding.cause, finding.fixes[0].id) == ("no-growth", "one-memory-option")
