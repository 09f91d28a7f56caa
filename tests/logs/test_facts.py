"""Facts that people state, and those that a text shows, become the machine that they mean."""

from __future__ import annotations

import pytest

from gpudoctor.errors import UsageError
from gpudoctor.logs.facts import snapshot_of
from gpudoctor.logs.reader import read_events
from gpudoctor.logs.stated import read_facts
from gpudoctor.model.snapshot import Snapshot


def stated(*words: str) -> Snapshot:
    return snapshot_of((), read_facts(words))


def shown(*lines: str) -> Snapshot:
    return snapshot_of(read_events(lines))


@pytest.mark.parametrize(
    ("text", "name", "capability"),
    [
        ("GTX 1070 8 GB", "GTX 1070", "6.1"),
        ("rtx3090", "NVIDIA GeForce RTX 3090", "8.6"),
        ("NVIDIA GeForce RTX 5090", "NVIDIA GeForce RTX 5090", "12.0"),
        ("RTX 5000 series (cc 12.0)", "RTX 5000 series", "12.0"),
        ("Ampere (sm_86)", "Ampere", "8.6"),
        ("GTX 1070 (reporter); Quadro M1200 (another)", "GTX 1070", "6.1"),
    ],
)
def test_a_gpu_is_understood_as_people_name_it(text: str, name: str, capability: str) -> None:
    gpus = stated(f"gpu={text}").gpus or ()

    assert [each.name.split(" 8 GB")[0] for each in gpus if isinstance(each.name, str)] == [name]
    assert [each.compute_capability for each in gpus] == [capability]


def test_several_gpus_are_counted() -> None:
    assert len(stated("gpu=2x A10 and 2x Tesla T4").gpus or ()) == 4
    assert len(stated("gpu=RTX 5090", "gpu_count=2").gpus or ()) == 2
    assert stated("gpu=2 GPUs").gpus is None


def test_the_fact_base_fills_in_what_follows() -> None:
    tensorflow = stated("tf=2.15.0", "os=linux").tensorflow

    assert tensorflow is not None
    assert (tensorflow.is_cuda_build, tensorflow.cuda_version) == (True, "12.2")
    assert isinstance(tensorflow.compute_capabilities, tuple)


@pytest.mark.parametrize(
    ("words", "cuda"),
    [
        (("tf=2.11", "os=windows"), False),
        (("tf=2.10", "os=windows"), True),
        (("tf=tensorflow-cpu 2.15",), False),
        (("tf=2.11", "os=Windows 11, WSL2 Ubuntu 20.04"), True),
    ],
)
def test_which_builds_have_cuda_follows_from_system_and_package(words: tuple[str, ...], cuda: bool) -> None:
    tensorflow = stated(*words).tensorflow

    assert tensorflow is not None
    assert tensorflow.is_cuda_build is cuda


def test_two_driver_numbers_are_told_apart() -> None:
    snapshot = stated("driver=user space 550.107.02, kernel module 550.90.07")

    assert snapshot.kernel is not None
    assert snapshot.cuda is not None
    assert (snapshot.kernel.module_version, snapshot.cuda.library_version) == ("550.90.07", "550.107.02")


@pytest.mark.parametrize(("key", "nearest"), [("gpuu", "gpu"), ("drvier", "driver"), ("pyhton", "python")])
def test_an_unknown_key_is_answered_with_the_nearest(key: str, nearest: str) -> None:
    with pytest.raises(UsageError, match=f"did you mean '{nearest}'"):
        read_facts([f"{key}=1"])


def test_a_word_without_a_value_is_no_fact() -> None:
    with pytest.raises(UsageError, match="KEY=VALUE"):
        read_facts(["gpu"])


def test_nothing_said_is_unknown() -> None:
    snapshot = stated("tf=2.x", "cuda=unknown")

    assert snapshot.tensorflow is None
    assert snapshot.gpus is None
    assert snapshot.why_missing("gpus") == "not recognised in the text"


def test_a_text_shows_its_machine() -> None:
    snapshot = shown(
        "| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    CUDA Version: 12.4     |",
        "|   0  NVIDIA GeForce RTX 3090        Off | 00000000:01:00.0  On |                  N/A |",
        "TensorFlow version: 2.16.1",
        "Python 3.11.4 (main) on linux",
    )

    assert snapshot.nvml is not None
    assert (snapshot.nvml.status, snapshot.nvml.driver_version) == ("ok", "550.54.15")
    assert [each.compute_capability for each in snapshot.gpus or ()] == ["8.6"]
    assert snapshot.python is not None
    assert snapshot.python.version == "3.11.4"


def test_what_was_stated_outranks_the_text() -> None:
    snapshot = snapshot_of(read_events(["TensorFlow version: 2.16.1"]), read_facts(["tf=2.17.0"]))

    assert snapshot.tensorflow is not None
    assert snapshot.tensorflow.version == "2.17.0"


def test_several_facts_may_stand_in_one_word() -> None:
    facts = read_facts(["os=windows tf=2.11 gpu=RTX 5090 gpu_count=2, env.CUDA_VISIBLE_DEVICES=-1"])

    assert facts == {
        "os": "windows",
        "tf": "2.11",
        "gpu": "RTX 5090",
        "gpu_count": "2",
        "env.CUDA_VISIBLE_DEVICES": "-1",
    }


def test_a_number_that_is_no_version_is_left_out() -> None:
    snapshot = stated("python=999", "numpy=2", "tf=2.15.0")

    assert snapshot.python is None
    assert (snapshot.packages or {})["numpy"] == "2.0"


def test_a_version_that_is_asked_for_is_not_the_version_that_is_there() -> None:
    assert shown("This version of TensorFlow Probability requires TensorFlow version >= 2.18").tensorflow is None
