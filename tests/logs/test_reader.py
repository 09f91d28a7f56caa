"""A whole text is read in one pass: events in order, equal ones folded, endless ones bounded."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path

import pytest

from gpudoctor.logs.reader import MAX_DISTINCT, read_events, stream_events
from gpudoctor.model.observed import LogEvent

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
SAID = {  # of each real text: what else than noise and a dump it says
    "tf-2.4-cuinit-100": {"cudart_optional", "dlopen_failed", "dlopen_ok", "cuinit_failed", "kernel_driver_not_running"},
    "tf-2.4-no-libcuda": {"cudart_optional", "dlopen_failed", "cuinit_failed", "kernel_driver_not_running"},
    "tf-2.4-missing-libraries": {
        "cudart_optional", "dlopen_failed", "dlopen_ok", "gpu_found", "gpu_libraries_missing", "gpus_not_registered",
    },
    "tf-2.10-cuinit-804": {"cudart_optional", "dlopen_failed", "cuinit_failed", "kernel_driver_not_running"},
    "tf-2.10-missing-libraries": {"cudart_optional", "dlopen_failed", "gpu_libraries_missing", "gpus_not_registered"},
    "tf-2.13-cuinit-999": {"cudart_not_loaded", "cuinit_failed"},
    "tf-2.15-no-cudart": {"cudart_not_loaded"},
    "tf-2.17-cuinit-999": {"cudart_not_loaded", "cuinit_failed"},
    "tf-2.17-missing-libraries": {"cudart_not_loaded", "gpu_libraries_missing", "gpus_not_registered"},
    "tf-2.20-no-cudnn": {"gpu_libraries_missing", "gpus_not_registered"},
    "tf-2.20-capability-12.0": {"ptx_jit"},
    "tf-2.20-few-multiprocessors": {"gpu_skipped", "device_unavailable"},
    "tf-2.20-driver-too-old": {"driver_too_old"},
    "tf-2.20-device-unavailable": {"device_unavailable"},
    "tf-2.20-driver-out-of-memory": {"oom_device"},
    "tf-2.21-retracing": {"retracing"},
    "tf-2.21-nan-fit": {"nan_loss", "epoch"},
    "tf-2.21-nan-terminated": {"nan_loss", "epoch"},
    "tf-2.21-nan-detected": {"nan_detected"},
    "tf-2.21-data-ended": {"data_ended"},
}  # fmt: skip
CODES = {
    "tf-2.4-cuinit-100": "100", "tf-2.4-no-libcuda": "303", "tf-2.10-cuinit-804": "804", "tf-2.13-cuinit-999": "999",
    "tf-2.17-cuinit-999": "999", "tf-2.20-cuinit-100": "100", "tf-2.20-cuinit-34": "34", "tf-2.20-cuinit-803": "803",
    "tf-2.20-cuinit-804": "804", "tf-2.20-cuinit-999": "999", "tf-2.20-libcuda-absent": "303",
}  # fmt: skip


def lines_of(name: str) -> list[str]:
    return (LOGS / f"{name}.log").read_text(encoding="utf-8").splitlines(keepends=True)


def serious(events: tuple[LogEvent, ...]) -> list[LogEvent]:
    return [event for event in events if event.kind not in {"harmless", "fact"}]


@pytest.mark.parametrize("name", SAID)
def test_a_real_text_says_what_it_says_and_nothing_else(name: str) -> None:
    assert {event.kind for event in serious(read_events(lines_of(name)))} == SAID[name]


@pytest.mark.parametrize("name", CODES)
def test_the_code_of_cuinit_is_read_from_every_release(name: str) -> None:
    (failed,) = [event for event in read_events(lines_of(name)) if event.kind == "cuinit_failed"]

    assert failed.values["code"] == CODES[name]
    assert failed.values["name"].startswith("CUDA_ERROR_")


def test_the_missing_libraries_are_named_where_tensorflow_names_them() -> None:
    missing = [event for event in read_events(lines_of("tf-2.10-missing-libraries")) if event.kind == "dlopen_failed"]

    assert {event.values["library"] for event in missing} == {
        "libcudart.so.11.0", "libcublas.so.11", "libcublasLt.so.11", "libcufft.so.10", "libcurand.so.10",
        "libcusolver.so.11", "libcusparse.so.11", "libcudnn.so.8",
    }  # fmt: skip


def test_tensorrt_is_noise_though_its_line_reads_like_a_missing_library() -> None:
    events = read_events(lines_of("tf-2.10-missing-libraries"))

    noise = [event for event in events if event.values.get("topic") == "tensorrt"]
    assert [event.values.get("library") for event in noise] == ["libnvinfer.so.7", "libnvinfer_plugin.so.7", None]


def test_equal_events_are_folded_into_the_first_with_a_count() -> None:
    events = read_events(["nothing\n", "Loaded cuDNN version 8907\n", "x\n", "Loaded cuDNN version 8907\n"])

    assert [(event.line, event.count) for event in events] == [(2, 2)]


def test_the_line_number_counts_line_ends_and_not_progress_bars() -> None:
    bar = "\r".join(f"{number}/100 - loss: 0.5" for number in range(100))

    (event,) = read_events([bar + "\n", "two\n", "Batch 3: Invalid loss, terminating training\n"])

    assert event.line == 3


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_lines_may_come_with_or_without_their_line_ends(end: str) -> None:
    lines = [line.rstrip("\n") + end for line in lines_of("tf-2.21-oom-fragmentation")]

    assert read_events(lines) == read_events(lines_of("tf-2.21-oom-fragmentation"))


def test_the_same_text_cut_into_other_blocks_gives_the_same_events() -> None:
    lines = [*repeat("nothing to see\n", 1990), *lines_of("tf-2.21-oom-fragmentation"), *repeat("nothing\n", 3000)]

    (whole,) = [event for event in read_events(lines) if event.kind == "oom"]

    assert whole.line == 1990 + 7
    assert whole.values["dump"] == "complete"


def test_a_stream_is_read_while_it_comes_and_not_held() -> None:
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        for line in chain(["Loaded cuDNN version 8907\n"], repeat("nothing\n")):
            taken += 1
            yield line

    event = next(stream_events(endless()))

    assert event.kind == "cudnn_loaded"
    assert taken < 10_000


def test_a_text_that_says_ever_new_things_does_not_fill_memory() -> None:
    lines = (f"Could not load dynamic library 'lib{number}.so'\n" for number in range(MAX_DISTINCT * 2))

    assert len(read_events(lines)) == MAX_DISTINCT


def test_no_terminal_escape_and_no_control_character_passes_through() -> None:
    line = (
        "\x1b]0;owned\x07Could not load dynamic library 'lib\x1b[2Jcudnn\x07\x9b31m\u202e.so.8'; dlerror: a\x08b\x00c\n"
    )

    (event,) = read_events([line])

    for text in (event.text, *event.values.values()):
        assert text.isprintable()
    assert event.values["library"].startswith("libcudnn")


def test_one_endless_line_is_read_in_parts_around_what_it_says() -> None:
    filler = "x" * 500_000

    events = read_events(
        [filler + " Loaded cuDNN version 8907 " + filler + " Batch 3: Invalid loss, terminating training" + filler]
    )

    assert [event.kind for event in events] == ["cudnn_loaded", "nan_loss"]


def test_an_empty_text_says_nothing() -> None:
    assert read_events([]) == ()
    assert read_events(["", "\n"]) == ()
