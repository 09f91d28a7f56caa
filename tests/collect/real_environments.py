"""The real TensorFlow environments that some tests look at, named by variables; without them those tests are skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpudoctor.collect.interpreter import Interpreter, ask_interpreter
from gpudoctor.collect.python_env import list_distributions, package_folders
from gpudoctor.collect.tensorflow_build import collect_tensorflow

GPU = "GPUDOCTOR_TEST_TENSORFLOW_GPU"
CPU = "GPUDOCTOR_TEST_TENSORFLOW"


def interpreter_of(variable: str) -> Interpreter:
    """Return the interpreter that the variable names; skip the test where it is not set."""
    executable = os.environ.get(variable)
    if not executable:
        pytest.skip(f"{variable} names no Python with TensorFlow")
    return ask_interpreter(Path(executable))


def gpu_tensorflow() -> tuple[Path, str]:
    """Return package folder and version of the TensorFlow with the nvidia wheels; skip the test where there is none."""
    interpreter = interpreter_of(GPU)
    tensorflow = collect_tensorflow(interpreter, list_distributions(package_folders(interpreter)))
    return Path(str(tensorflow.path)), str(tensorflow.version)
