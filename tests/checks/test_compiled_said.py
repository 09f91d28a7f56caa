"""GD255: a build older than the GPU is told from a ptxas that is."""

from __future__ import annotations

from gpudoctor_checks.libraries.compiled_said import compiled
from tests.checks.texts import FAULTY, found, text_case

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
