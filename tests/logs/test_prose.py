"""What a sentence says is in use is a fact; what is wanted, was tried, belongs to somebody else or is a path is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.errors import UsageError
from gpudoctor.logs.facts import merged
from gpudoctor.logs.intake import read_texts
from gpudoctor.logs.prose import stated_in
from gpudoctor.logs.reader import read_events

IN_USE: tuple[tuple[str, dict[str, str]], ...] = (
    (
        "Help! I installed tensorflow 2.16.1 with pip on Ubuntu 22.04, RTX 3080, driver 535.",
        {"tf": "2.16.1", "driver": "535", "os": "Ubuntu 22.04", "gpu": "RTX 3080"},
    ),
    ("tensorflow==2.16.1 on RTX 3080.", {"tf": "2.16.1", "gpu": "RTX 3080"}),
    (
        "I have an RTX 3080 with driver 535.104.05 and TensorFlow 2.16.1",
        {"tf": "2.16.1", "driver": "535.104.05", "gpu": "RTX 3080"},
    ),
    ("I'm using TF 2.15 on Windows 11 with a GTX 1080 Ti.", {"tf": "2.15", "os": "Windows 11", "gpu": "GTX 1080 Ti"}),
    (
        "Running tensorflow 2.14.0 in a docker container on Debian 12, Tesla T4.",
        {"tf": "2.14.0", "os": "Debian 12", "container": "docker", "gpu": "T4"},
    ),
    (
        "My GPU is an NVIDIA GeForce RTX 4090, driver version 545.23.08, CUDA 12.3, cuDNN 8.9.7.",
        {"cuda": "12.3", "cudnn": "8.9.7", "driver": "545.23.08", "gpu": "NVIDIA GeForce RTX 4090"},
    ),
    ("GPU: RTX 3090", {"gpu": "RTX 3090"}),
    ("OS: Ubuntu 20.04, Python 3.10.12", {"python": "3.10.12", "os": "Ubuntu 20.04"}),
    ("TensorFlow: 2.16.1", {"tf": "2.16.1"}),
    ("Setup: RTX A6000, CUDA 11.8, Python 3.9", {"cuda": "11.8", "python": "3.9", "gpu": "RTX A6000"}),
    ("We use tensorflow-gpu 2.10 on A100.", {"tf": "2.10", "gpu": "A100"}),
    (
        "I am on WSL2 with Python 3.11, TensorFlow 2.17.0 and an RTX 3060 laptop.",
        {"tf": "2.17.0", "python": "3.11", "os": "WSL2", "gpu": "RTX 3060 laptop"},
    ),
    (
        "Using tensorflow[and-cuda]==2.16.1, nvidia driver 550.54.14, RTX 4070.",
        {"tf": "2.16.1", "driver": "550.54.14", "gpu": "RTX 4070"},
    ),
    ("I installed TensorFlow 2.12 using conda on Fedora 39.", {"tf": "2.12", "os": "Fedora 39", "conda": "yes"}),
    ("System: Windows 10, GTX 1650, NVIDIA driver 531.41", {"driver": "531.41", "os": "Windows 10", "gpu": "GTX 1650"}),
    ("my RTX 2070 is not detected", {"gpu": "RTX 2070"}),
    ("I've got two RTX 3090 and python 3.8.", {"python": "3.8", "gpu": "two RTX 3090"}),
    ("tf 2.13, cuda 11.8, cudnn 8.6", {"tf": "2.13", "cuda": "11.8", "cudnn": "8.6"}),
    ("With TensorFlow 2.16.1 and Python 3.12 my model does not see the GPU.", {"tf": "2.16.1", "python": "3.12"}),
    ("I have tensorflow version 2.9.1 installed.", {"tf": "2.9.1"}),
    ("On Ubuntu 22.04 with a V100, driver 470.82.01.", {"driver": "470.82.01", "os": "Ubuntu 22.04", "gpu": "V100"}),
    ("Driver: 535.129.03", {"driver": "535.129.03"}),
    ("CUDA: 12.2", {"cuda": "12.2"}),
    ("I just installed version 2.16.1 of TensorFlow.", {"tf": "2.16.1"}),
    ("Hardware: Quadro P4000. Driver 516.94.", {"gpu": "Quadro P4000", "driver": "516.94"}),
    (
        "We're running TensorFlow 2.11.0 inside docker on a Tesla V100.",
        {"tf": "2.11.0", "container": "docker", "gpu": "Tesla V100"},
    ),
    (
        "I have a fresh Ubuntu 24.04 with Python 3.12 and CUDA toolkit 12.3.",
        {"cuda": "12.3", "python": "3.12", "os": "Ubuntu 24.04"},
    ),
    ("Environment: Python 3.9, TensorFlow 2.10.1, cudnn 8.1", {"tf": "2.10.1", "cudnn": "8.1", "python": "3.9"}),
    ("I use an RTX 5090 and driver 572.16.", {"driver": "572.16", "gpu": "RTX 5090"}),
    ("Currently using cuda 12.4 and L40S.", {"cuda": "12.4", "gpu": "L40S"}),
    ("I have an RTX 3080 but tensorflow does not see it", {"gpu": "RTX 3080"}),
)
NOT_IN_USE = (
    "With CUDA 12.2 you need another build.",
    "I have CUDA 12.2 (nvidia-smi) installed",
    "I have Python 3.10 and 3.11",
    "I trained 4 t4 epochs",
    "My l4 norm grows",
    "I want to use TensorFlow 2.16.1.",
    "I tried TensorFlow 2.10 before.",
    "Do I need CUDA 12.3?",
    "TensorFlow 2.16.1 requires CUDA 12.3 and cuDNN 8.9.",
    "/usr/local/cuda-12.2/lib64/libcudnn.so.8.9.7",
    "tensorflow-text 2.16.1 is what I have",
    "My wifi driver 535 crashes.",
    "It is slower than my friend's RTX 3080.",
    "Compared to an A100 it is slow.",
    "2024-01-01 12:00:00.0: I tensorflow/core/platform/cpu.cc:210] CUDA 12.2 RTX 3080",
    "Epoch 3: driver 123 loss 12.4",
    "I uninstalled TensorFlow 2.15.",
    "I should install CUDA 11.8, right?",
    "The docs say TensorFlow 2.10 with Python 3.10 works on Windows 10.",
    "Will I get my money back with an RTX 4090?",
    "tensorflow==2.16.1",
    "I have no CUDA 12.2 here",
    "I upgraded from TensorFlow 2.15.",
    "Found existing installation: tensorflow 2.15.0",
    "My colleague has an RTX 4090 and it works",
    "| tensorflow-2.10.0 | Python 3.10 | CUDA 11.2 |",
    "I followed a guide for CUDA 11.8",
)


WRAPPED: tuple[tuple[str, dict[str, str]], ...] = (
    (
        "I have an RTX\n3090 and TensorFlow\n2.10 on Windows 10",
        {"tf": "2.10", "os": "Windows 10", "gpu": "RTX 3090"},
    ),
    (
        "My machine has an NVIDIA GeForce\nRTX 3090, driver version\n535.104.05 and CUDA\n12.2.\nIt is on Ubuntu\n20.04.",
        {"cuda": "12.2", "driver": "535.104.05", "gpu": "NVIDIA GeForce RTX 3090"},
    ),
    (
        "Hello,\nI am on Ubuntu 22.04 with\nPython 3.11 and use\nTensorFlow 2.17.0 with an\nRTX 3060 laptop",
        {"python": "3.11", "os": "Ubuntu 22.04", "tf": "2.17.0", "gpu": "RTX 3060 laptop"},
    ),
    ("GPU: RTX 3090\nTensorFlow: 2.10\nDriver: 535", {"gpu": "RTX 3090", "tf": "2.10", "driver": "535"}),
    ("I use an RTX 3090\n- TensorFlow 2.10\n- CUDA 11.2", {"gpu": "RTX 3090"}),
    ("I have an RTX 3080\nThe docs say TensorFlow 2.10\nworks with CUDA 11.2", {"gpu": "RTX 3080"}),
    ("I tried\nTensorFlow 2.10, CUDA 11.2", {}),
    ("I upgraded from\nTensorFlow 2.10, CUDA 11.2\nand now it fails", {}),
    ("I have an RTX\n\n3090 is what others have", {}),
    ("I have an RTX.\n3090 images are in the set", {}),
    ("TensorFlow 2.16.1 requires\nCUDA 12.3 and cuDNN 8.9.", {}),
)


@pytest.mark.parametrize(("text", "facts"), WRAPPED)
def test_a_sentence_is_read_across_a_line_that_was_wrapped_by_hand(text: str, facts: dict[str, str]) -> None:
    assert stated_in(text) == facts


def wrapped_once(text: str) -> list[str]:
    return [f"{text[:place]}\n{text[place + 1 :]}" for place, sign in enumerate(text) if sign == " "]


def test_wherever_a_sentence_is_wrapped_it_never_tells_what_it_does_not_tell_in_one_line() -> None:
    """A log's line whose tail stands alone is no sentence; it is left out."""
    lines = [text for text, _ in IN_USE] + [text for text in NOT_IN_USE if not text.startswith("2024-")]
    pairs = [(text, wrapped) for text in lines for wrapped in wrapped_once(text)]
    kept = 0
    for text, wrapped in pairs:
        whole, parted = stated_in(text), stated_in(wrapped)
        assert set(parted.items()) <= set(whole.items()), wrapped
        kept += parted == whole
    assert len(pairs) > 300
    assert kept / len(pairs) > 0.95, "few wraps cost a fact"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_wrapped_post_tells_its_facts_whatever_its_line_ends_are(ending: str) -> None:
    lines = ["Hi all,", "I have an RTX", "3090 and TensorFlow", "2.10 on Windows 10", "and it is not found."]
    facts = merged(read_events([each + ending for each in lines]), {})
    assert (facts["gpu"], facts["tf"], facts["os"]) == ("RTX 3090", "2.10", "windows")


@pytest.mark.parametrize(("sentence", "facts"), IN_USE)
def test_what_a_sentence_says_is_in_use_is_read(sentence: str, facts: dict[str, str]) -> None:
    assert stated_in(sentence) == facts


@pytest.mark.parametrize("sentence", NOT_IN_USE)
def test_what_a_sentence_only_speaks_of_is_no_fact(sentence: str) -> None:
    assert stated_in(sentence) == {}


def test_two_answers_to_one_question_are_none() -> None:
    assert stated_in("I have an RTX 3080.\nMy laptop has an RTX 2060.") == {}


def test_a_shorter_number_agrees_with_the_fuller_one() -> None:
    assert stated_in("I use TensorFlow 2.16.\nTensorFlow: 2.16.1") == {"tf": "2.16.1"}


def test_what_a_program_prints_outranks_what_is_told_before() -> None:
    text = ["TensorFlow 2.15 on RTX 3080, as far as I know.\n", "I use TensorFlow 2.15.\n", "TF version: 2.16.1\n"]

    assert merged(read_events(text), {})["tf"] == "2.16.1"


def test_a_program_is_no_text_of_a_run(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text("import tensorflow as tf\n\ndef slow(x):\n    return x\n\nmodel.fit(data, batch_size=1)\n")

    with pytest.raises(UsageError, match="this is Python source, not a run's text: gpudoctor run "):
        read_texts([str(program)])


def test_a_text_that_a_run_printed_is_read_whatever_its_name_is(tmp_path: Path) -> None:
    text = tmp_path / "output.py"
    text.write_text("Cannot dlopen some GPU libraries\n")

    assert any(each.kind != "text_end" for each in read_texts([str(text)]))
