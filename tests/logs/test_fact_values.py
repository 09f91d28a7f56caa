"""The forms in which people state a fact: all are understood, and one that is not is refused with those that are."""

from __future__ import annotations

import pytest

from gpudoctor.cli.main import main
from gpudoctor.errors import UsageError
from gpudoctor.logs.accepted import FORMS, refuse_what_is_not_understood
from gpudoctor.logs.facts import merged, snapshot_of
from gpudoctor.logs.stated import KEYS, read_facts
from gpudoctor.model.missing import Missing

GIB = 2**30


def facts_of(word: str) -> dict[str, str]:
    stated = read_facts([word])
    refuse_what_is_not_understood(stated)
    return merged((), stated)


@pytest.mark.parametrize(
    ("word", "name", "capability", "gib", "count"),
    [
        ("gpu=RTX 5090", "NVIDIA GeForce RTX 5090", "12.0", 32, 1),
        ("gpu=RTX_5090", "NVIDIA GeForce RTX 5090", "12.0", 32, 1),
        ("gpu=rtx-5090", "NVIDIA GeForce RTX 5090", "12.0", 32, 1),
        ("gpu=rtx5090", "NVIDIA GeForce RTX 5090", "12.0", 32, 1),
        ("gpu=NVIDIA GeForce RTX 5090 Laptop GPU", "NVIDIA GeForce RTX 5090 Laptop GPU", "12.0", None, 1),
        ("gpu=geforce-rtx-3060-ti", "NVIDIA GeForce RTX 3060 Ti", "8.6", 8, 1),
        ("gpu=GTX 1070 8 GB", None, "6.1", 8, 1),
        ("gpu=2x A100 80GB", "A100 80GB", "8.0", 80, 2),
        ("gpu=A100 40GB", "NVIDIA A100-SXM4-40GB", "8.0", 40, 1),
        ("gpu=8 x H100", "NVIDIA H100 80GB HBM3", "9.0", 80, 8),
        ("gpu=RTX 3090 (x2)", "NVIDIA GeForce RTX 3090", "8.6", 24, 2),
        ("gpu=two RTX 3090", "NVIDIA GeForce RTX 3090", "8.6", 24, 2),
        ("gpu=Tesla V100-SXM2-16GB", None, "7.0", 16, 1),
        ("gpu=Tesla_T4", "Tesla T4", "7.5", 16, 1),
        ("gpu=A10G", "NVIDIA A10G", "8.6", 24, 1),  # the model's own "10G" is no size
        ("gpu=2x A10G", "NVIDIA A10G", "8.6", 24, 2),
        ("gpu=RTX PRO 6000", None, "12.0", None, 1),
        ("gpu=A6000", None, "8.6", None, 1),
        ("gpu=GTX 960M", None, "5.0", None, 1),
        ("gpu=GTX 960", None, "5.2", None, 1),
        ("gpu=940MX", None, "5.0", None, 1),
        ("gpu=1080 Ti", None, "6.1", None, 1),
        ("gpu=GTX 680", None, "3.0", None, 1),
        ("gpu=GTX 780 Ti", None, "3.5", None, 1),
        ("gpu=GTX 580", None, "2.0", None, 1),
        ("gpu=GTX 560 Ti", None, "2.1", None, 1),
    ],
)
def test_a_gpu_is_understood(word: str, name: str | None, capability: str, gib: float | None, count: int) -> None:
    gpus = snapshot_of((), read_facts([word])).gpus or ()

    facts_of(word)
    assert len(gpus) == count
    assert {each.compute_capability for each in gpus} == {capability}
    if name is not None:
        assert {each.name for each in gpus} == {name}
    if gib is not None:
        assert {each.memory.total_bytes for each in gpus} == {int(gib * GIB)}


@pytest.mark.parametrize(
    ("word", "key", "value"),
    [
        ("driver=NVIDIA 572.16", "driver", "572.16"),
        ("driver=R535", "driver", "535"),
        ("driver=580xx", "driver", "580"),
        ("driver=31.0.15.4633", "driver", "546.33"),
        ("driver=NVIDIA-Linux-x86_64-535.104.05", "driver", "535.104.05"),
        ("cuda=12.4 (V12.4.131)", "cuda", "12.4"),
        ("cuda=V12.4.131", "cuda", "12.4.131"),
        ("cuda=cu121", "cuda", "12.1"),
        ("cuda=cuda-toolkit-11-8", "cuda", "11.8"),
        ("cuda=12040", "cuda", "12.4"),
        ("cuda=CUDA 12", "cuda", "12"),
        ("cudnn=8906", "cudnn", "8.9.6"),
        ("cudnn=90100", "cudnn", "9.1.0"),
        ("cudnn=cuDNN v8.9.7", "cudnn", "8.9.7"),
        ("tf=2.11.0", "tf", "2.11.0"),
        ("tf=TF2.10", "tf", "2.10"),
        ("tf=tensorflow-gpu 2.10", "tf", "2.10"),
        ("tf=tensorflow-gpu 2.10", "tf_package", "tensorflow-gpu"),
        ("tf=tensorflow==2.15.0.post1", "tf", "2.15.0"),
        ("tf=v2.15.0-rc1-8-g6887368d6d4 2.15.0", "tf", "2.15.0"),
        ("tf=tensorflow_cpu 2.16.1", "tf_package", "tensorflow-cpu"),
        ("os=Windows 11", "os", "windows"),
        ("os=Win10 Pro", "os", "windows"),
        ("os=Ubuntu 22.04 (WSL2)", "wsl", "yes"),
        ("os=Ubuntu 22.04 (WSL2)", "os", "linux"),
        ("os=Ubuntu 22.04 (WSL2)", "distribution", "Ubuntu 22.04"),
        ("os=macOS Sonoma 14.2", "os", "darwin"),
        ("os=Kaggle notebook", "os", "linux"),
        ("python=Python 3.12.1", "python", "3.12.1"),
        ("python=py311", "python", "3.11"),
        ("python=cp310", "python", "3.10"),
        ("wsl=2", "wsl", "yes"),
        ("wsl=WSL2", "wsl", "yes"),
        ("wsl=no", "wsl", "no"),
        ("docker=no", "container", "none"),
        ("container=Docker Desktop", "container", "docker"),
        ("container=host", "container", "none"),
        ("gpu_count=2 GPUs", "gpu_count", "2"),
        ("gpu_count=two", "gpu_count", "2"),
        ("gpu_count=0", "gpu_count", "0"),
        ("gpu_count=none", "gpu_count", "0"),
        ("compute_capability=sm_86", "compute_capability", "8.6"),
        ("compute_capability=8.6", "compute_capability", "8.6"),
        ("compute_capability=120", "compute_capability", "12.0"),
        ("compute_mode=Exclusive Process", "compute_mode", "exclusive_process"),
        ("arch=AMD64", "arch", "x86_64"),
        ("memory=64 GB", "memory_bytes", str(64 * GIB)),
        ("glibc=2.31", "glibc", "glibc 2.31"),
        ("scheduler=SLURM 23.02", "scheduler", "slurm"),
        ("numpy=numpy 2.0.1", "numpy", "2.0.1"),
    ],
)
def test_a_value_is_understood_as_people_write_it(word: str, key: str, value: str) -> None:
    assert facts_of(word)[key] == value


@pytest.mark.parametrize(
    "word",
    [
        "gpu=the fast one",
        "gpu=2 GPUs",
        "gpu_count=some",
        "gpu_count=-1",
        "gpu_count=1.5",
        "gpu_count=17",
        "gpu_count=99999",
        "driver=latest",
        "cuda=installed",
        "cudnn=yes",
        "tf=2.x",
        "tf=newest",
        "python=3",
        "python=999",
        "os=plan9",
        "wsl=maybe",
        "conda=perhaps",
        "compute_capability=high",
        "compute_mode=fast",
        "arch=big",
        "memory=lots",
        "scheduler=cron",
        "docker=perhaps",
    ],
)
def test_a_value_that_says_nothing_is_refused_with_the_forms_that_do(word: str) -> None:
    key, _, value = word.partition("=")

    with pytest.raises(UsageError, match="not understood; expected is") as refused:
        facts_of(word)

    assert repr(value) in str(refused.value)
    assert FORMS[key] in str(refused.value)


@pytest.mark.parametrize("value", ["unknown", "n/a", "N/A", "", "not sure", "?"])
@pytest.mark.parametrize("key", ["tf", "cuda", "gpu", "os", "driver"])
def test_who_does_not_know_may_say_so(key: str, value: str) -> None:
    assert key not in facts_of(f"{key}={value}")


def test_no_gpu_is_an_answer() -> None:
    assert snapshot_of((), read_facts(["gpu=none"])).gpus == ()
    assert snapshot_of((), read_facts(["gpu=unknown"])).gpus is None


@pytest.mark.parametrize("word", ["gpu_count=0", "gpu_count=none", "gpu_count=no GPU"])
def test_to_count_none_is_to_say_that_there_is_none(word: str) -> None:
    assert snapshot_of((), read_facts([word])).gpus == ()


def test_a_number_of_gpus_without_a_name_is_so_many_unknown_ones() -> None:
    gpus = snapshot_of((), read_facts(["gpu_count=2"])).gpus or ()
    assert [each.index for each in gpus] == [0, 1]
    assert all(isinstance(each.name, Missing) for each in gpus)


@pytest.mark.parametrize("words", [["gpu=RTX 3090", "gpu_count=0"], ["gpu=none", "gpu_count=2"]])
def test_two_answers_that_exclude_each_other_are_refused(words: list[str]) -> None:
    with pytest.raises(UsageError, match="contradict each other"):
        refuse_what_is_not_understood(read_facts(words))


def test_every_form_is_of_a_key_that_exists() -> None:
    assert set(FORMS) <= set(KEYS)


def test_the_command_line_tells_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["log", "--no-machine", "--fact", "tf=2.x", "/dev/null"]) == 2
    assert "tensorflow-gpu 2.10" in capsys.readouterr().err
