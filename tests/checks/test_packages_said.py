"""GD351: the package that does not fit is named."""

from __future__ import annotations

import pytest

from gpudoctor_checks.tensorflow.packages_said import clash
from tests.checks.texts import FAULTY, found, nothing, text_case

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


def test_a_keras_that_pip_calls_incompatible_is_named_with_the_bounds() -> None:
    line = "tensorflow 2.15.0 requires keras<2.16,>=2.15.0, but you have keras 3.0.2 which is incompatible."
    finding = found(clash, line)
    assert (finding.cause, finding.fixes[0].text) == ("keras3", "python -m pip install 'keras<2.16,>=2.15.0'")


def test_what_pip_says_of_other_packages_is_no_fault_of_tensorflow() -> None:
    line = (
        "pydantic 2.3.0 requires typing-extensions>=4.6.1, but you have typing-extensions 4.5.0 which is incompatible."
    )
    assert nothing(clash, line)


def test_numpy_2_that_pip_finds_beside_an_old_tensorflow() -> None:
    line = "tensorflow 2.15.1 requires numpy<2.0.0,>=1.23.5, but you have numpy 2.1.0 which is incompatible."
    assert found(clash, line).cause == "numpy2"
    line = "tensorflow 2.4.1 requires numpy~=1.19.2, but you have numpy 1.20.1 which is incompatible."
    assert found(clash, line).cause == "dependency-misfit"


def test_an_error_of_the_import_goes_before_what_pip_said() -> None:
    line = "tensorflow 2.15.0 requires keras<2.16,>=2.15.0, but you have keras 3.0.2 which is incompatible."
    assert found(clash, line, "AttributeError: _ARRAY_API not found").cause == "numpy2"


def test_pins_that_exclude_each_other_want_two_environments() -> None:
    line = "ERROR: Cannot install tensorflow and x>=4.8 because these package versions have conflicting dependencies."
    finding = found(clash, line)
    assert (finding.cause, finding.fixes[0].id) == ("dependency-misfit", "separate-environments")


def test_h5py_3_under_an_old_keras_is_pinned() -> None:
    lines = (
        "    model_config = json.loads(model_config.decode('utf-8'))",
        "AttributeError: 'str' object has no attribute 'decode'",
    )
    finding = found(clash, *lines)
    assert (finding.cause, finding.fixes[0].id) == ("dependency-misfit", "pin-h5py")


@pytest.mark.parametrize(
    "line",
    [
        "n = sock.recv(10).decode('utf-8')",
        "for backend in line.decode('utf-8').split():",
        "    original_name = path.name.decode('utf8')",
    ],
)
def test_code_that_decodes_bytes_of_its_own_says_nothing_of_h5py(line: str) -> None:
    assert nothing(clash, line)


@pytest.mark.parametrize(
    "line",
    [
        "    training_config = json.loads(training_config.decode('utf-8'))",
        "    original_backend = f['backend'].decode('utf8')",
        "    layer_names = [n.decode('utf8') for n in f.attrs['layer_names']]",
    ],
)
def test_each_line_in_which_keras_decodes_tells_of_h5py(line: str) -> None:
    assert found(clash, line).fixes[0].id == "pin-h5py"


def test_a_module_compiled_for_a_newer_numpy_is_installed_anew() -> None:
    finding = found(clash, "ValueError: numpy.ndarray size changed, may indicate binary incompatibility.")
    assert (finding.cause, finding.fixes[0].id) == ("dependency-misfit", "rebuild-for-numpy")


def test_objects_of_two_kerases_want_one() -> None:
    line = "Expected a valid Keras Model instance. Received: <x> of type <class 'tf_keras.src.engine.functional.Functional'>"
    finding = found(clash, line)
    assert (finding.cause, finding.fixes[0].id) == ("keras3", "one-keras")


def test_a_file_of_a_newer_keras_3_wants_that_keras() -> None:
    finding = found(clash, "ValueError: Unrecognized keyword arguments passed to Dense: {'quantization_config': None}")
    assert (finding.cause, finding.fixes[0].id) == ("keras3", "upgrade-keras")


def test_names_that_are_gone_are_not_told_as_numpy_2() -> None:
    assert "NumPy 2" not in found(clash, "AttributeError: module 'numpy' has no attribute 'object'.").summary


def test_a_system_older_than_the_wheel_is_told_from_a_missing_tensorflow() -> None:
    line = "ImportError: {}: version `{}' not found (required by tensorflow/python/_pywrap_tensorflow_internal.so)"
    old = found(clash, line.format("/lib64/libc.so.6", "GLIBC_2.27"), "Failed to load the native TensorFlow runtime.")
    assert (old.cause, old.fixes[0].id) == ("dependency-misfit", "newer-glibc")
    assert found(clash, line.format("/usr/lib/libstdc++.so.6", "GLIBCXX_3.4.29")).fixes[0].id == "newer-libstdcxx"


def test_another_program_that_wants_a_newer_system_is_no_matter_of_packages() -> None:
    assert nothing(clash, "git: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by git)")
    assert nothing(clash, "node: libstdc++.so.6: version `GLIBCXX_3.4.29' not found (required by /usr/bin/node)")


def test_another_framework_that_asks_for_nvidia_wheels_of_its_own_wants_an_environment_of_its_own() -> None:
    line = (
        'torch 2.5.1 requires nvidia-cudnn-cu12==9.1.0.70; platform_system == "Linux" and platform_machine == "x86_64",'
        " but you have nvidia-cudnn-cu12 9.3.0.75 which is incompatible."
    )
    finding = found(clash, line)
    assert (finding.cause, finding.fixes[0].id) == ("dependency-misfit", "separate-environments")
    assert nothing(clash, "pandas 2.2.0 requires pytz>=2020.1, but you have pytz 2019.3 which is incompatible.")


def test_code_of_tensorflow_1_is_led_to_compat_v1_and_to_no_older_release() -> None:
    finding = found(clash, "AttributeError: module 'tensorflow' has no attribute 'Session'")
    assert (finding.cause, [each.id for each in finding.fixes]) == ("dependency-misfit", ["names-of-tensorflow-1"])


def test_contrib_has_to_be_replaced() -> None:
    assert found(clash, "No module named 'tensorflow.contrib'").fixes[0].id == "replace-contrib"


def test_the_wrappers_of_keras_are_in_another_package_now() -> None:
    assert found(clash, "No module named 'keras.wrappers'").fixes[0].id == "use-scikeras"


def test_a_library_that_asks_for_a_newer_tensorflow_is_named() -> None:
    line = "This version of TensorFlow Probability requires TensorFlow version >= 2.18; Detected an installation of version 2.15.0."
    finding = found(clash, line)
    assert finding.summary == "TensorFlow Probability asks for TensorFlow 2.18 or newer; 2.15.0 is installed."


def test_a_file_named_like_tensorflow_is_renamed() -> None:
    line = "AttributeError: partially initialized module 'tensorflow' has no attribute 'keras' (most likely due to a circular import)"
    finding = found(clash, line)
    assert (finding.cause, finding.fixes[0].id) == ("shadowed-module", "rename-shadowing-file")
