"""The causes form a sound order: nothing explains itself, and whatever makes the GPU unusable explains CPU training."""

from __future__ import annotations

import pytest

from gpudoctor.knowledge import causes

IDS = [each.id for each in causes.CAUSES]
UNUSABLE = (
    "and-cuda-wheels", "blackwell", "container-no-gpu", "cpu-build", "cuda-visible-devices", "device-permission-mode",
    "driver-library-mismatch", "driver-too-old", "forward-compat", "gpu-filtered", "hardware-power-heat", "kernel-module-not-loaded",
    "mig", "missing-cuda-libs", "no-kernel", "numpy2", "nvml-lost-in-container", "protobuf", "python-tf-wheel", "scheduler-no-gpu",
    "tensorflow-absent", "uvm-not-ready", "windows-native", "wrong-interpreter", "wsl-libcuda",
)  # fmt: skip


@pytest.mark.parametrize("id_", UNUSABLE)
def test_what_makes_the_gpu_unusable_explains_training_on_the_cpu(id_: str) -> None:
    assert causes.explains(id_, "cpu-placement")
    assert not causes.explains("cpu-placement", id_)


@pytest.mark.parametrize(
    "id_", ["pynvml", "persistence-off", "driver-end-of-life", "throttle", "harmless-line", "input-pipeline"]
)
def test_what_leaves_the_gpu_usable_does_not(id_: str) -> None:
    assert not causes.explains(id_, "cpu-placement")


@pytest.mark.parametrize("cause", causes.CAUSES, ids=lambda cause: cause.id)
def test_no_cause_explains_itself_along_any_chain(cause: causes.Cause) -> None:
    assert not causes.explains(cause.id, cause.id)


@pytest.mark.parametrize("cause", causes.CAUSES, ids=lambda cause: cause.id)
def test_every_cause_is_complete_and_names_only_known_consequences(cause: causes.Cause) -> None:
    assert cause.title
    assert cause.settled_by
    assert set(cause.settled_by) <= {"log", "env", "nvml", "kernel", "run", "source"}
    assert set(cause.explains) <= set(IDS)
    assert causes.cause(cause.id) is cause


def test_ids_are_unique_and_unknown_ones_are_none() -> None:
    assert len(IDS) == len(set(IDS))
    assert causes.cause("gremlins") is None
    assert not causes.explains("gremlins", "cpu-placement")


def test_chains_are_followed() -> None:
    assert causes.explains("scheduler-no-gpu", "uvm-not-ready"), "by way of the container without a GPU"
    assert causes.explains("wrong-interpreter", "cpu-placement"), "by way of the CPU build"
    assert causes.explains("debug-mode", "predict-retrace-leak")


def test_inside_a_container_the_missing_module_is_a_symptom() -> None:
    assert causes.explains("container-no-gpu", "kernel-module-not-loaded")
    assert not causes.explains("kernel-module-not-loaded", "container-no-gpu")


def test_two_separate_faults_are_not_folded_into_one_another() -> None:
    for first, second in (
        ("driver-too-old", "cpu-build"),
        ("blackwell", "driver-too-old"),
        ("container-no-gpu", "cuda-visible-devices"),
    ):
        assert not causes.explains(first, second)
        assert not causes.explains(second, first)


def test_layers_run_from_hardware_to_observation() -> None:
    layers = {each.id: each.layer for each in causes.CAUSES}
    chain = ("hardware-power-heat", "kernel-module-not-loaded", "driver-too-old", "container-no-gpu", "missing-cuda-libs",
             "cpu-build", "no-growth", "input-pipeline", "harmless-line")  # fmt: skip
    assert [layers[id_] for id_ in chain] == list(range(9))


@pytest.mark.parametrize("build", ["gpu-filtered", "blackwell"])
@pytest.mark.parametrize("libraries", ["missing-cuda-libs", "cudnn-version"])
def test_where_another_build_is_needed_the_libraries_of_this_one_do_not_matter(build: str, libraries: str) -> None:
    assert causes.explains(build, libraries)
    assert not causes.explains(libraries, build)


def test_a_cudnn_that_another_build_replaces_is_a_symptom() -> None:
    assert causes.explains("gpu-filtered", "cudnn-dropped-gpu")
    assert causes.explains("cudnn-version", "cudnn-dropped-gpu")
    assert causes.explains("and-cuda-wheels", "cudnn-version")
    assert not causes.explains("driver-too-old", "gpu-filtered"), "a new driver does not make an old GPU new"
    assert not causes.explains("driver-too-old", "missing-cuda-libs")


@pytest.mark.parametrize("id_", ["cuda-init-failed", "training-crashes"])
def test_what_only_names_the_failure_explains_no_cause_of_it(id_: str) -> None:
    consequences = {each for each in IDS if causes.explains(id_, each)}
    assert consequences <= {
        "cpu-placement", "training-crashes", "mixed-precision-no-gain", "rnn-cudnn", "multi-gpu-no-gain",
    }  # fmt: skip
