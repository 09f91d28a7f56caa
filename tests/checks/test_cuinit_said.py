"""GD151: the number of cuInit has several causes; the container, the variable and the system decide."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.sdk import Kernel, XidEvent
from gpudoctor.testing import judge
from gpudoctor_checks.driver.cuinit_said import cannot_start
from tests.checks.texts import UNUSABLE, found, nothing, text_case

CASE = text_case("GD151", "failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error", variants=UNUSABLE)


def test_an_unknown_error_is_the_uvm_module() -> None:
    finding = found(cannot_start, "failed call to cuInit: CUDA_ERROR_UNKNOWN")
    assert (finding.cause, finding.fixes[0].id) == ("uvm-not-ready", "renew-uvm")


def test_no_libcuda_on_wsl_is_a_wrong_libcuda() -> None:
    finding = found(cannot_start, "failed call to cuInit: UNKNOWN ERROR (303)", os="WSL2")
    assert (finding.cause, finding.fixes[0].id) == ("wsl-libcuda", "wsl-libcuda-first")


def test_a_stub_is_a_loader_path() -> None:
    finding = found(cannot_start, "cuInit: UNKNOWN ERROR (34)", container="docker")
    assert (finding.cause, finding.fixes[0].id) == ("container-no-gpu", "loader-finds-libcuda")


def test_a_busy_device_is_its_compute_mode() -> None:
    finding = found(cannot_start, "CUDA-capable device(s) is/are busy or unavailable")
    assert (finding.cause, finding.fixes[0].id) == ("device-permission-mode", "compute-mode-default")


def test_stubs_on_the_path_of_wsl() -> None:
    finding = found(
        cannot_start, "Epoch 1/2", os="WSL2", env_LD_LIBRARY_PATH="/usr/local/cuda/lib64/stubs:/usr/lib/wsl/lib"
    )
    assert (finding.cause, finding.fixes[0].id) == ("wsl-libcuda", "wsl-libcuda-first")


def test_a_driver_brought_in_only_in_part_needs_newer_tools() -> None:
    line = "failed call to cuInit: CUDA_ERROR_NOT_FOUND: named symbol not found"
    inside = found(cannot_start, line, os="WSL2", container="docker")
    assert (inside.cause, inside.fixes[0].id) == ("container-no-gpu", "update-container-tools")
    assert found(cannot_start, line, os="WSL2").cause == "wsl-libcuda"


def test_a_context_that_is_in_use_is_the_compute_mode() -> None:
    finding = found(cannot_start, "Check failed: CUDA_SUCCESS == dynload::cuCtxSetCurrent(context) (0 vs. 216)")
    assert (finding.cause, finding.fixes[0].id) == ("device-permission-mode", "compute-mode-default")


def test_a_gpu_that_fell_off_the_bus_explains_cuinit_and_the_module_is_not_blamed() -> None:
    lost = replace(CASE.fires, kernel=Kernel(xids=(XidEvent(code=79),)))
    verdict = judge(cannot_start, lost)
    assert (verdict.findings, verdict.reason) == ((), "does not apply: the kernel log says that a GPU fell off the bus")


def test_a_number_without_a_rule_of_its_own_is_told_by_its_meaning() -> None:
    finding = found(cannot_start, "failed call to cuInit: CUDA_ERROR_NOT_PERMITTED: operation not permitted")
    assert (finding.cause, finding.fixes[0].id) == ("cuda-init-failed", "read-nvidia-kernel-lines")
    assert "800" in finding.summary


def test_a_stub_on_a_machine_is_a_folder_on_the_path() -> None:
    finding = found(cannot_start, "cuInit: UNKNOWN ERROR (34)", container="none")
    assert (finding.cause, finding.fixes[0].id) == ("missing-cuda-libs", "drop-cuda-stubs")


def test_an_error_of_cuda_without_a_rule_is_told_by_its_meaning() -> None:
    finding = found(cannot_start, "CUDA_ERROR_NOT_SUPPORTED: operation not supported")
    assert (finding.cause, "support" in finding.summary) == ("cuda-init-failed", True)
    assert [each.id for each in finding.fixes] == ["read-nvidia-kernel-lines"]


def test_an_error_that_no_table_knows_is_told_in_its_own_words() -> None:
    assert "something new" in found(cannot_start, "CUDA_ERROR_OF_TOMORROW: something new").summary


def test_an_error_of_cuda_behind_memory_that_ran_out_is_no_trouble_of_its_own() -> None:
    lines = "CUDA_ERROR_OUT_OF_MEMORY: out of memory", "CUDA_ERROR_INVALID_VALUE: invalid argument"
    assert nothing(cannot_start, *lines)
