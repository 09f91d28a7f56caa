"""GD353: TensorFlow's own answer, then conda's build string."""

from __future__ import annotations

from gpudoctor.model.finding import Severity
from gpudoctor_checks.tensorflow.cpu_build_said import without_cuda
from tests.checks.texts import UNUSABLE, found, nothing, text_case

CASE = text_case("GD353", "tensorflow                2.8.2            mkl_py310hd0eab7e_0", variants=UNUSABLE)


def test_conda_put_a_cpu_build_in() -> None:
    finding = found(without_cuda, "tensorflow                2.8.2            mkl_py310hd0eab7e_0", os="linux")
    assert (finding.cause, finding.fixes[0].id) == ("cpu-build", "pin-conda-gpu-build")


def test_no_cuda_on_native_windows() -> None:
    finding = found(without_cuda, "False   # tf.test.is_built_with_cuda()", os="windows", tf="2.11.0")
    assert (finding.cause, finding.fixes[0].id) == ("windows-native", "install-in-wsl")


def test_no_cuda_on_linux() -> None:
    finding = found(without_cuda, "tf.test.is_built_with_cuda(): False", os="linux", tf="2.15.0")
    assert (finding.cause, finding.fixes[0].id) == ("cpu-build", "install-tensorflow")


def test_an_operation_that_only_a_gpu_has_shows_a_build_without() -> None:
    line = "InvalidArgumentError: No OpKernel was registered to support Op 'CudnnRNN' with these attrs.  Registered devices: [CPU]"
    finding = found(without_cuda, line)
    assert (finding.cause, finding.fixes[0].id) == ("cpu-build", "install-tensorflow")


def test_no_listed_gpu_without_a_reason_is_told_with_the_command_that_asks_for_it() -> None:
    finding = found(without_cuda, "Num GPUs Available:  0")
    assert (finding.severity, finding.fixes[0].id) == (Severity.WARNING, "ask-tensorflow-why")
    assert nothing(without_cuda, "Num GPUs Available:  1")


def test_no_listed_gpu_beside_a_reason_is_left_to_the_reason() -> None:
    line = "Num GPUs Available:  0"
    assert nothing(
        without_cuda, line, "Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open"
    )
    assert nothing(without_cuda, line, os="windows", tf="2.13")


def test_an_empty_list_behind_the_release_is_no_gpu() -> None:
    assert found(without_cuda, "2.17.0 []").title == found(without_cuda, "Num GPUs Available:  0").title
