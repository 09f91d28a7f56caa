"""GD256: libdevice first: without it nothing compiles."""

from __future__ import annotations

import pytest

from gpudoctor_checks.libraries.xla_tools_said import lacking
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case("GD256", "libdevice not found at ./libdevice.10.bc", variants=FAULTY)


def test_libdevice_in_conda_comes_from_conda() -> None:
    finding = found(
        lacking, "libdevice is required by this HLO module but was not found at ./libdevice.10.bc", conda="yes"
    )
    assert (finding.cause, finding.fixes[0].id) == ("xla-libdevice-ptxas", "install-cuda-nvcc")


def test_a_flag_that_points_elsewhere_is_turned() -> None:
    finding = found(lacking, "--xla_gpu_cuda_data_dir=/opt/miniconda3/envs/other/lib")
    assert (finding.cause, finding.fixes[0].id) == ("xla-libdevice-ptxas", "xla-flags-here")


def test_a_base_image_has_no_ptxas() -> None:
    finding = found(lacking, "Couldn't invoke ptxas --version", container_image="nvidia/cuda:10.1-base")
    assert (finding.cause, finding.fixes[0].id) == ("xla-libdevice-ptxas", "image-with-ptxas")


@pytest.mark.parametrize(
    ("tf", "fix", "text"),
    [
        ("1.15.0", "libdevice-beside-script", "libdevice.10.bc"),
        ("2.10.0", "install-cuda-nvcc", "-cu11"),
        ("2.17.0", "install-cuda-nvcc", "-cu12"),
    ],
)
def test_the_compiler_is_of_the_cuda_that_the_release_is_built_for(tf: str, fix: str, text: str) -> None:
    finding = found(lacking, "InternalError: libdevice not found at ./libdevice.10.bc", tf=tf)
    assert finding.fixes[0].id == fix
    assert text in finding.fixes[0].text


def test_only_ptxas_missing_before_cuda_11_or_on_windows_needs_no_libdevice() -> None:
    line = "OP_REQUIRES failed at xla_ops.cc:489 : Not found: ./bin/ptxas not found"
    for facts in ({"tf": "1.15"}, {"tf": "2.10", "os": "windows"}):
        assert [each.id for each in found(lacking, line, **facts).fixes] == ["ptxas-of-toolkit"]
