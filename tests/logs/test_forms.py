"""What a form for bug reports and a sentence of the first person tell of the machine."""

from __future__ import annotations

import pytest

from gpudoctor.logs.facts import merged, snapshot_of
from gpudoctor.logs.reader import EventReader, read_events

FORM = """### Issue type

Bug

### TensorFlow version

{tf}

### OS platform and distribution

Windows 11 24h2

### Python version

3.11(Microsoft Store)

### CUDA/cuDNN version

{cuda}

### GPU model and memory

{gpu}

### Current behavior?

```shell
the rest
```
"""


def facts_of(text: str) -> dict[str, str]:
    return merged(read_events(text.splitlines()), {})


def form(tf: str = "2.16.1", cuda: str = "12.4", gpu: str = "RTX 4080") -> dict[str, str]:
    return facts_of(FORM.format(tf=tf, cuda=cuda, gpu=gpu))


def test_a_form_tells_the_machine_and_that_the_reporter_said_so() -> None:
    facts = form()

    assert facts["tf"] == "2.16.1"
    assert facts["os"] == "windows"
    assert facts["python"] == "3.11"
    assert facts["cuda"] == "12.4"
    assert facts["gpu"] == "RTX 4080"
    assert facts["said_by"] == "reporter"


@pytest.mark.parametrize(
    ("answer", "cuda", "cudnn"),
    [
        ("CUDA 12.4 / cuDNN 8.9", "12.4", "8.9"),
        ("11.6r11.6/8.6", "11.6", "8.6"),
        ("CUDA 8.0, cuDNN v5.1", "8.0", "5.1"),
        ("8.1", None, None),
        ("CUDA Version (from nvidia-smi): 13.0", None, None),
        ("N/A", None, None),
    ],
)
def test_numbers_of_cuda_and_cudnn_are_told_apart(answer: str, cuda: str | None, cudnn: str | None) -> None:
    facts = form(cuda=answer)

    assert (facts.get("cuda"), facts.get("cudnn")) == (cuda, cudnn)


@pytest.mark.parametrize("answer", ["_No response_", "none", "N/A", "", "unknown"])
def test_a_heading_that_nobody_answered_is_no_fact(answer: str) -> None:
    assert "tf" not in form(tf=answer)
    assert "gpu" not in form(gpu=answer)


@pytest.mark.parametrize("name", ["4080 RTX", "RTX4060", "5070TI", "Nvidia GeForce 1060 3GB"])
def test_a_gpu_as_people_write_it_has_its_compute_capability(name: str) -> None:
    snapshot = snapshot_of(read_events(FORM.format(tf="2.18", cuda="12.5", gpu=name).splitlines()))

    assert snapshot.gpus is not None
    assert isinstance(snapshot.gpus[0].compute_capability, str)


def test_a_heading_at_the_end_of_the_text_is_no_fact() -> None:
    assert facts_of("### TensorFlow version") == {}
    assert facts_of("### TensorFlow version\n\n") == {}


def test_a_line_of_a_log_is_no_answer() -> None:
    assert "tf" not in facts_of("### TensorFlow version\n2025-03-02 12:00:00.123456: I a line 2.1\n")


@pytest.mark.parametrize(
    ("bullets", "tf"),
    [
        ("- **TensorFlow version (use command below)**: 1.4\n- **Python version**: 3.6", "1.4"),
        ("- TensorFlow version (use command below): 2.1.0\n- Python version: 3.6", "2.1.0"),
    ],
)
def test_bullets_of_the_older_form_are_read(bullets: str, tf: str) -> None:
    facts = facts_of(bullets)

    assert facts["tf"] == tf
    assert facts["python"] == "3.6"


def test_a_sentence_of_the_first_person_tells_the_machine() -> None:
    facts = facts_of("I have CUDA 12.4, cuDNN 8.9, Python 3.10 and an RTX 3060 on Windows 11 with TensorFlow 2.12.0.")

    assert facts["cuda"] == "12.4"
    assert facts["cudnn"] == "8.9"
    assert facts["gpu"] == "RTX 3060"
    assert facts["os"] == "windows"
    assert facts["tf"] == "2.12.0"
    assert facts["said_by"] == "reporter"


@pytest.mark.parametrize(
    "line",
    ["You need CUDA 12.4 and cuDNN 8.9.", "TensorFlow 2.4 works with CUDA 11.0", "My code fails at step 12.4 of 8.9"],
)
def test_a_version_that_is_not_said_of_the_own_machine_is_no_fact(line: str) -> None:
    assert "cuda" not in facts_of(line)
    assert "cudnn" not in facts_of(line)


@pytest.mark.parametrize("lines_before_the_cut", [1, 2, 3])
def test_an_answer_that_falls_into_the_next_block_is_read(lines_before_the_cut: int) -> None:
    form = "### TensorFlow version\n\n```\n2.18.0\n".splitlines(keepends=True)
    reader = EventReader()
    first = "x\n" * 50 + "".join(form[:lines_before_the_cut])
    events = [*reader.feed(first), *reader.feed("".join(form[lines_before_the_cut:]) + "y\n"), *reader.finish()]
    assert [(each.values["tf"], each.line) for each in events] == [("2.18.0", 51)]


def test_a_heading_at_a_blocks_end_holds_back_what_follows_only_until_the_text_ends() -> None:
    reader = EventReader()
    events = [*reader.feed("### Python version\n3.11\n"), *reader.finish()]
    assert [each.values["python"] for each in events] == ["3.11"]


PAGE = """Issue type

Bug

Have you reproduced the bug with TensorFlow Nightly?

Yes

Source

binary

TensorFlow version

2.15

Custom code

Yes

OS platform and distribution

Linux Ubuntu 22.04

Mobile device

No response

Python version

3.10.12

Bazel version

No response

CUDA/cuDNN version

CUDA 12.2, cuDNN 8.9

GPU model and memory

RTX 4090 24GB

Current behavior?

It is slow.

Standalone code to reproduce the issue

```python
import tensorflow as tf
```
"""
NOISE = (
    "I tensorflow/core/platform/cpu_feature_guard.cc:210] This TensorFlow binary is optimized to use available CPU instructions in performance-critical operations.",
    "W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT",
)


def told_by_page(lines: list[str]) -> tuple[str | None, ...]:
    facts = merged(read_events(lines), {})
    return tuple(facts.get(key) for key in ("tf", "os", "python", "cuda", "cudnn", "gpu"))


ANSWERS = ("2.15", "linux", "3.10.12", "12.2", "8.9", "RTX 4090 24GB")
MARKED = (
    FORM.format(tf="2.15", cuda="CUDA 12.2, cuDNN 8.9", gpu="RTX 4090 24GB")
    .replace("3.11(Microsoft Store)", "3.10.12")
    .replace("Windows 11 24h2", "Linux Ubuntu 22.04")
)


@pytest.mark.parametrize(
    "page", [PAGE, PAGE.replace("\n\n", "\n"), MARKED, MARKED.replace("### ", "**").replace("version\n", "version**\n")]
)
@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "> ",
        "2025-03-02T12:00:00.123456789Z stderr F ",
        "2025-03-02 12:00:00.123456: ",
        "[2025-03-02T12:00:00.123Z] ",
        "trainer-0  | ",
        "build\tRun tests\t2025-03-02T12:00:00.1234567Z ",
        "#12 0.345 ",
        "[1,0]<stderr>: ",
    ],
)
def test_a_page_with_what_a_logger_puts_before_each_line_tells_the_same(page: str, prefix: str) -> None:
    assert told_by_page([prefix + line for line in page.splitlines()]) == ANSWERS


@pytest.mark.parametrize("page", [PAGE, MARKED])
def test_what_a_program_prints_between_a_question_and_its_answer_is_passed_over(page: str) -> None:
    lines = [each for line in page.splitlines() for each in (line, NOISE[len(line) % 2])]

    assert told_by_page(lines) == ANSWERS


def test_times_may_differ_from_line_to_line() -> None:
    lines = [
        f"2025-03-02T12:{index // 60:02d}:{index % 60:02d}.{index}Z {line}"
        for index, line in enumerate(PAGE.splitlines())
    ]

    assert told_by_page(lines) == ANSWERS


def test_a_question_that_the_next_one_follows_was_not_answered() -> None:
    page = (
        "GPU model and memory\n\nCurrent behavior?\n\nIt fails on a GTX 1070\n\nPython version\nBazel version\n3.11\n"
    )

    assert "gpu" not in facts_of(page)
    assert "python" not in facts_of(page)


@pytest.mark.parametrize("line", ["What is your Python version\n3.11", "I do not know the TensorFlow version\n2.15"])
def test_a_sentence_is_no_question_of_a_form(line: str) -> None:
    assert facts_of(line) == {}


@pytest.mark.parametrize("at", range(1, 16))
def test_a_page_that_is_cut_between_blocks_tells_the_same(at: int) -> None:
    lines = [line + "\n" for line in PAGE.splitlines()]
    reader = EventReader()
    events = [*reader.feed("".join(lines[:at])), *reader.feed("".join(lines[at:])), *reader.finish()]

    assert [each.values["tf"] for each in events if "tf" in each.values] == ["2.15"]
    assert [each.line for each in events if "tf" in each.values] == [13]


@pytest.mark.parametrize(
    "asks",
    [
        ">>> tf.__version__\n'2.13.0'",
        ">>> print(tf.__version__)\n2.13.0",
        '$ python -c "import tensorflow as tf; print(tf.__version__)"\n2.13.0',
        "print(tensorflow.__version__)\n2.13.0",
    ],
)
def test_a_version_that_is_asked_for_at_the_prompt_is_read_from_the_next_line(asks: str) -> None:
    assert merged(read_events(asks.splitlines()), {}).get("tf") == "2.13.0"


@pytest.mark.parametrize("text", ["print(tf.__version__)\nrate = 0.5.1", "print(np.__version__)\n1.26.4"])
def test_a_line_of_a_program_behind_the_question_is_no_version(text: str) -> None:
    assert "tf" not in merged(read_events(text.splitlines()), {})
