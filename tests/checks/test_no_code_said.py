"""GD254: the capability tells Blackwell from the rest."""

from __future__ import annotations

from gpudoctor_checks.libraries.no_code_said import cannot_run
from gpudoctor_checks.memory.growth_said import no_memory_left
from tests.checks.texts import FAULTY, found, nothing, text_case

CASE = text_case("GD254", "CUDA error: no kernel image is available for execution on the device", variants=FAULTY)


def test_ptx_that_cannot_be_compiled_on_blackwell() -> None:
    finding = found(
        cannot_run, "'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'", gpu="RTX 5090"
    )
    assert (finding.cause, finding.fixes[0].id) == ("blackwell", "run-ngc-container")


def test_no_kernel_image_on_an_older_gpu() -> None:
    finding = found(cannot_run, "no kernel image is available for execution on the device", gpu="Tesla K80")
    assert finding.cause == "no-kernel"


def test_ptx_newer_than_the_driver() -> None:
    finding = found(
        cannot_run,
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the provided PTX was compiled with an unsupported toolchain.",
        gpu="A100",
    )
    assert (finding.cause, finding.fixes[0].id) == ("driver-too-old", "install-driver")


GEMM = "InternalError: Blas GEMM launch failed : a.shape=(15998, 494), b.shape=(494, 2048), m=15998, n=2048, k=494"


def test_cublas_older_than_the_gpu_is_no_lack_of_memory() -> None:
    finding = found(cannot_run, GEMM, gpu="RTX 4090", tf="1.15.2")
    assert (finding.cause, "install" in finding.fixes[0].id) == ("no-kernel", True)
    assert nothing(no_memory_left, GEMM, gpu="RTX 4090", tf="1.15.2")


def test_on_a_gpu_that_the_release_knows_the_same_words_mean_memory() -> None:
    assert nothing(cannot_run, GEMM, gpu="RTX 2080", tf="1.15.2")
    assert found(no_memory_left, GEMM, gpu="RTX 2080", tf="1.15.2").cause == "no-growth"


def test_words_without_a_name_mean_a_driver_too_old_for_the_ptx() -> None:
    finding = found(cannot_run, "CUDA error: the provided PTX was compiled with an unsupported toolchain.")
    assert finding.cause == "driver-too-old"
