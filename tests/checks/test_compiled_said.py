"""GD255: a build older than the GPU is told from a ptxas that is."""

from __future__ import annotations

from gpudoctor.model.finding import Severity
from gpudoctor_checks.libraries.compiled_said import compiled
from tests.checks.texts import FAULTY, found, nothing, text_case

CASE = text_case(
    "GD255",
    "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 9.0. CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.",
    variants=FAULTY,
)


def test_binaries_that_are_missing_are_compiled() -> None:
    finding = found(
        compiled,
        "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 9.0. CUDA kernels will be jit-compiled",
    )
    assert (finding.cause, finding.fixes[0].id) == ("ptx-jit", "install-older-tensorflow")


def test_on_blackwell_the_ptx_fails() -> None:
    finding = found(
        compiled,
        "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0. CUDA kernels will be jit-compiled",
    )
    assert (finding.cause, finding.fixes[0].id) == ("blackwell", "run-ngc-container")


def test_an_old_ptxas_alone_is_a_warning() -> None:
    finding = found(compiled, "ptxas fatal   : Value 'sm_86' is not defined for option 'gpu-name'", tf="2.4")
    assert (finding.cause, finding.fixes[0].id) == ("xla-libdevice-ptxas", "newer-ptxas")


def test_a_release_from_before_the_gpu() -> None:
    finding = found(compiled, "ptxas fatal   : Value 'sm_86' is not defined for option 'gpu-name'", tf="2.1")
    assert (finding.cause, finding.fixes[0].id) == ("ptx-jit", "install-older-tensorflow")


AMPERE = "pciBusID: 0000:01:00.0 name: GeForce RTX 3060 Ti computeCapability: 8.6"


def test_a_gpu_newer_than_the_release_is_told_of_where_the_text_says_nothing() -> None:
    finding = found(compiled, AMPERE, tf="2.1.0")
    assert (finding.cause, finding.severity) == ("ptx-jit", Severity.WARNING)
    assert nothing(compiled, AMPERE, tf="2.9.0")
    assert nothing(compiled, AMPERE)


def test_the_runtime_that_was_opened_tells_the_age_of_the_build() -> None:
    for name in ("libcudart.so.10.1", "libcudart.so.9.0", "cudart64_101.dll", "cudart64_90.dll", "cudart64_80.dll"):
        assert found(compiled, f"Successfully opened dynamic library {name}", AMPERE).cause == "ptx-jit"
    for name in ("libcudart.so.11.0", "cudart64_110.dll", "cudart64_12.dll", "libcudart.so.12"):
        assert nothing(compiled, f"Successfully opened dynamic library {name}", AMPERE)
