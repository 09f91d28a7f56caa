"""GD351: the package that does not fit is named."""

from __future__ import annotations

import pytest

from gpudoctor_checks.tensorflow.packages_said import clash
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case("GD351", "A module that was compiled using NumPy 1.x cannot be run in", variants=FAULTY)


def test_numpy_2_is_pinned() -> None:
    finding = found(clash, "NumPy 2.0.0 as it may crash. To support both 1.x and 2.x", tf="2.14.0")
    assert (finding.cause, finding.fixes[0].id) == ("numpy2", "pin-numpy")


def test_protobuf_is_pinned() -> None:
    finding = found(clash, "TypeError: Descriptors cannot be created directly.")
    assert (finding.cause, finding.fixes[0].id) == ("protobuf", "pin-protobuf")


def test_keras_2_asked_for_and_missing() -> None:
    finding = found(
        clash,
        "Your environment has TF_USE_LEGACY_KERAS set to True, but you do not have the tf_keras package installed.",
        tf="2.15",
    )
    assert (finding.cause, finding.fixes[0].id) == ("keras3", "install-tf-keras")


def test_keras_2_code_under_keras_3() -> None:
    finding = found(clash, "ValueError: A KerasTensor cannot be used as input to a TensorFlow function.", tf="2.16")
    assert (finding.cause, finding.fixes[0].id) == ("keras3", "use-legacy-keras")


def test_an_interpreter_without_tensorflow() -> None:
    finding = found(clash, "ModuleNotFoundError: No module named 'tensorflow'")
    assert (finding.cause, finding.fixes[0].id) == ("tensorflow-absent", "install-tensorflow")


def test_names_that_numpy_took_away() -> None:
    finding = found(clash, "AttributeError: module 'numpy' has no attribute 'object'.")
    assert (finding.cause, finding.fixes[0].text) == ("numpy2", "python -m pip install 'numpy<1.24'")


def test_bindings_of_another_package() -> None:
    finding = found(clash, "FutureWarning: The pynvml package is deprecated. Please install nvidia-ml-py instead.")
    assert (finding.cause, finding.fixes[0].id) == ("pynvml", "install-nvidia-ml-py")


def test_protobuf_is_bounded_above_where_the_release_states_no_bound() -> None:
    finding = found(clash, "TypeError: Descriptors cannot not be created directly.", tf="2.7.1")
    assert finding.fixes[0].text.endswith("'protobuf>=3.9.2,<3.21'")


def test_a_file_of_keras_3_wants_keras_3() -> None:
    finding = found(clash, "ValueError: Unrecognized keyword arguments: ['batch_shape']")
    assert (finding.cause, finding.fixes[0].id) == ("keras3", "upgrade-tensorflow")


def test_keras_of_another_release_is_told_as_that() -> None:
    line = (
        "AttributeError: module 'tensorflow.compat.v2.__internal__' has no attribute 'register_load_context_function'"
    )
    finding = found(clash, line, tf="2.8.4")
    assert (finding.cause, finding.fixes[0].id) == ("keras3", "install-keras")


def test_a_dll_that_cannot_start_lacks_the_runtime() -> None:
    finding = found(
        clash,
        "ImportError: DLL load failed while importing _pywrap_tensorflow_internal: A dynamic link library (DLL) initialization routine failed.",
        "Failed to load the native TensorFlow runtime.",
    )
    assert (finding.cause, finding.fixes[0].id) == ("tensorflow-absent", "install-vc-runtime")


@pytest.mark.parametrize(
    "line",
    [
        "AttributeError: module 'ml_dtypes' has no attribute 'float8_e4m3b11'",
        "ImportError: cannot import name 'TypeIs' from 'typing_extensions' (/x/typing_extensions.py)",
    ],
)
def test_a_package_that_tensorflow_imports_is_brought_back_by_the_same_release(line: str) -> None:
    finding = found(clash, line, tf="2.14.1")
    assert (finding.cause, finding.fixes[0].id) == ("dependency-misfit", "install-dependencies")
    assert "tensorflow==2.14.1" in finding.fixes[0].text
