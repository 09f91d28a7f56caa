"""GD653: a text that asks why training is slow gets its suspects, ranked, and the one command that decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.compute.slow_said import slow
from tests.checks.runs import make_run
from tests.checks.texts import FAULTY, a_text, found, nothing, text_case

SMI = (
    "| 30%   45C    P2    62W / 250W |   {used}MiB / 11264MiB |      {percent}%      Default |",
    "|    0   N/A  N/A      4242      C   python3                          7000MiB |",
)
STEP = "120/120 [==============================] - 600s 5s/step - loss: 0.4123"
CASE = text_case("GD653", "My training is very slow, GPU-Util is only 3%.", STEP, near=(STEP,), variants=FAULTY)


def table(percent: int, *, process: bool = True) -> tuple[str, ...]:
    line = SMI[0].format(used=10000, percent=percent)
    return (line, SMI[1]) if process else (line, "|  No running processes found |")


def test_an_idle_gpu_beside_a_step_time_leaves_the_usual_suspects() -> None:
    finding = found(slow, "Epoch 1/5", STEP, *table(3))

    assert finding.cause == "input-pipeline"
    assert finding.confidence < 0.5
    assert "mostly idle (3 %, 5 s a step)" in finding.summary
    assert "too little work a step" in finding.summary
    assert [fix.text for fix in finding.fixes] == ["gpudoctor run -- python train.py"]


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("model.fit_generator(gen, steps_per_epoch=100)", "input-pipeline"),
        ("datagen = ImageDataGenerator(rescale=1./255)", "input-pipeline"),
        ("model.fit(seq, workers=4, use_multiprocessing=True)", "input-pipeline"),
        ("files = '/content/drive/MyDrive/data'", "storage"),
        ("for x in samples:\n    y = model.predict(x[None])", "per-call-overhead"),
        ("model.fit(x, y, batch_size=1)", "launch-bound"),
        ("model.compile(run_eagerly=True)", "eager-or-tracing"),
        ("TensorBoard(histogram_freq=1)", "epoch-end-stall"),
        ("strategy = tf.distribute.MirroredStrategy()", "multi-gpu-no-gain"),
    ],
)
def test_what_the_code_does_comes_first(code: str, cause: str) -> None:
    finding = found(slow, "Training is slow, why?", *code.split("\n"), "10/10 - 3s 300ms/step")

    assert finding.cause == cause
    assert finding.confidence < 0.5


@pytest.mark.parametrize(
    ("words", "percent"),
    [
        ("GPU utilization is around 0-5% most of the time", 5),
        ("gpu usage never goes above 10 percent", 10),
        ("GPU-Util 3%, CPU at 100%", 3),
        ("it uses 2% of the GPU", 2),
        ("GPU utilization is not 100%, it is at 20%", 20),
        ("[0] NVIDIA A100 | 45'C,   3 % |  10240 / 40960 MB |", 3),
    ],
)
def test_how_busy_the_gpu_is_is_read_as_people_say_it(words: str, percent: int) -> None:
    finding = found(slow, "Training is so slow.", words, STEP)

    assert [each.value for each in finding.evidence if each.label == "GPU in use"] == [percent]


def test_the_columns_of_a_query_are_read() -> None:
    lines = ("index, utilization.gpu [%], memory.used [MiB]", "0, 4 %, 10240 MiB", "1, 0 %, 3 MiB")
    finding = found(slow, "slow training on two cards", *lines, STEP)

    assert [each.value for each in finding.evidence if each.label == "GPU in use"] == [4]


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("100/100 - 12s - 120ms/step", 0.12),
        ("each step takes long: 5 seconds per step", 5),
        (" 12%|#2   | 12/100 [01:00<07:00,  5.02s/it]", 5.02),
        (" 12%|#2   | 12/100 [01:00<07:00,  2.00it/s]", 0.5),
        ("INFO:tensorflow:global_step/sec: 0.8", 1.25),
        ("INFO:tensorflow:Step 100 per-step time 3.521s", 3.521),
        ("it needs 2 minutes per iteration", 120),
        ("100 milliseconds per step", 0.1),
    ],
)
def test_a_step_time_is_read_in_each_tools_words(words: str, seconds: float) -> None:
    finding = found(slow, "training is slow", words)

    assert [each.value for each in finding.evidence if each.label == "step"] == [pytest.approx(seconds)]


@pytest.mark.parametrize("words", ["I use 32 per batch", "with 64 each step", "after 100/step of the schedule"])
def test_a_number_without_a_unit_is_no_step_time(words: str) -> None:
    finding = found(slow, "training is slow", words, *table(3))

    assert not [each for each in finding.evidence if each.label == "step"]


def test_a_gpu_at_work_is_not_called_starved() -> None:
    finding = found(slow, "Training is slow with this ImageDataGenerator(", STEP, *table(98))

    assert finding.cause == "compute-bound-healthy"
    assert "input" not in finding.summary


def test_a_gpu_without_a_program_leaves_the_question_whether_it_is_used() -> None:
    finding = found(slow, "Training is slow.", STEP, *table(0, process=False))

    assert finding.cause == "cpu-placement"


def test_who_says_that_the_cpu_trains_is_believed_first() -> None:
    finding = found(slow, "Training is slow and only the CPU is used.", STEP)

    assert finding.cause == "cpu-placement"


@pytest.mark.parametrize(
    "lines",
    [
        ("Training is slow.", "Could not find cuda drivers on your machine, GPU will not be used.", STEP),
        ("Epoch 1/5", STEP),  # a step time alone is no trouble
        (*table(0, process=False), "Epoch 1/5", STEP),  # nor a GPU that is looked at before
        ("It is slow, what can I do?",),
        ("Importing the package is slow", STEP),
        ("WARNING:tensorflow:Callback method `on_train_batch_end` is slow compared to the batch time", STEP),
        ("*** WARNING *** Very slow compile? If you want to file a bug", STEP),
    ],
)
def test_a_text_without_complaint_or_idle_gpu_says_nothing(lines: tuple[str, ...]) -> None:
    assert nothing(slow, *lines)


def test_a_run_that_was_measured_is_not_guessed_at() -> None:
    verdict = judge(slow, replace(a_text("Training is slow.", STEP), run=make_run()))

    assert (verdict.status, verdict.applies) == (Outcome.PASSED, False)
