"""Each text of `texts_of_eras` gets the answer that was written down for it, once, and with commands that its release has."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.api_fit import release_in_use
from gpudoctor.diagnose.from_text import judge_text
from gpudoctor.diagnose.gate import exit_code
from gpudoctor.diagnose.summary import primary_of
from gpudoctor.knowledge import apis
from gpudoctor.logs.facts import snapshot_of
from gpudoctor.logs.intake import events_in
from gpudoctor.logs.stated import read_facts
from gpudoctor.model.finding import Severity
from gpudoctor.model.report import Report
from tests.texts_of_eras import CUINIT, DUMP, NO_GPU, ON_GPU, TEXTS, Told

CHECKS = registry.load().checks
CAUSES_OF_303 = {"container-no-gpu", "kernel-module-not-loaded", "wsl-libcuda", "missing-cuda-libs"}
BARE = CUINIT[0]


def judged(told: Told, *facts: str) -> Report:
    events = tuple(events_in(io.BytesIO(told.lines.encode())))
    return judge_text(snapshot_of(events, read_facts([*told.facts, *facts])), CHECKS)


@pytest.mark.parametrize("told", TEXTS, ids=lambda told: told.name)
def test_a_text_gets_the_answer_that_was_written_down_before(told: Told) -> None:
    report = judged(told)
    primary = primary_of(report.findings)

    assert (primary.cause if primary is not None else "", report.summary.status.value) == (told.cause, told.status)
    assert not told.cause or report.fixes[0].id == told.first_fix
    assert exit_code(report) == (1 if told.status == "broken" else 0)


@pytest.mark.parametrize("told", TEXTS, ids=lambda told: told.name)
def test_no_cause_is_listed_twice(told: Told) -> None:
    roots = Counter(each.cause for each in judged(told).findings if each.caused_by is None)
    del roots["harmless-line"]
    assert max(roots.values(), default=0) <= 1


@pytest.mark.parametrize("told", TEXTS, ids=lambda told: told.name)
@pytest.mark.parametrize(
    "version", ["", "1.12.0", "1.15.5", "2.1.0", "2.3.0", "2.4.4", "2.10.1", "2.15.1", "2.16.2", "2.20.0"]
)
def test_no_fix_or_command_names_what_the_release_lacks(told: Told, version: str) -> None:
    report = judged(told, *([f"tf={version}"] if version else []))
    release = release_in_use(report.snapshot)
    texts = [fix.text for each in report.findings for fix in each.fixes]
    texts += [str(item.value) for each in report.findings for item in each.evidence if item.source == "next step"]

    assert [(text, lacking) for text in texts if (lacking := apis.lacking(text, release))] == []


def test_a_bare_303_ranks_what_is_possible_and_says_what_decides() -> None:
    report = judged(BARE)
    told = [each for each in report.findings if each.code == "GD155"]

    assert {each.cause for each in told} == CAUSES_OF_303 - {"missing-cuda-libs"}
    assert [each.confidence for each in told] == sorted((each.confidence for each in told), reverse=True)
    assert all(each.confidence <= 0.6 for each in told)
    assert report.summary.headline.startswith("libcuda is not found, and nothing tells why")
    commands = {item.value for each in told for item in each.evidence if item.label == "run this to know"}
    assert len(commands) == 1
    assert all(
        word in str(commands) for word in ("/.dockerenv", "/dev/dxg", "/proc/driver/nvidia/version", "ldconfig -p")
    )


@pytest.mark.parametrize(
    ("facts", "cause", "fix"),
    [
        (("container=docker",), "container-no-gpu", "give-container-gpu"),
        (("container=docker", "os=wsl"), "container-no-gpu", "give-container-gpu"),
        (("container=none",), "kernel-module-not-loaded", "load-driver"),
        (("os=windows",), "kernel-module-not-loaded", "load-driver"),
        (("os=windows", "driver=572.16"), "kernel-module-not-loaded", "load-driver"),
        (("os=wsl",), "wsl-libcuda", "wsl-libcuda-first"),
        (("driver=535",), "container-no-gpu", "give-container-gpu"),
        (("driver=535", "container=none", "os=linux"), "missing-cuda-libs", "loader-finds-libcuda"),
        (("driver=535", "os=wsl"), "wsl-libcuda", "wsl-libcuda-first"),
    ],
)
def test_facts_decide_among_the_causes_of_303(facts: tuple[str, ...], cause: str, fix: str) -> None:
    report = judged(BARE, *facts)
    primary = primary_of(report.findings)

    assert primary is not None
    assert (primary.cause, report.fixes[0].id, primary.severity) == (cause, fix, Severity.ERROR)


def test_on_windows_nobody_is_told_to_look_into_folders_of_linux() -> None:
    shown = repr(judged(BARE, "os=windows"))
    assert "/dev/dxg" not in shown
    assert "installed only in part" in repr(judged(BARE, "os=windows", "driver=572.16"))
    assert "for Windows" in shown


@pytest.mark.parametrize("told", NO_GPU[:4], ids=lambda told: told.name)
@pytest.mark.parametrize(
    "sign", ["--fact", "| NVIDIA-SMI 550.54.14   Driver Version: 550.54.14   CUDA Version: 12.4 |"]
)
def test_what_shows_a_gpu_makes_a_note_the_finding_it_is(told: Told, sign: str) -> None:
    changed = (
        replace(told, facts=("gpu=RTX 3090",)) if sign == "--fact" else replace(told, lines=f"{sign}\n{told.lines}")
    )
    report = judged(changed)

    assert report.summary.status.value == "broken"
    assert exit_code(report) == 1


@pytest.mark.parametrize("allocator", ["cpu", "mklcpu", "bfc_cpu_allocator_for_gpu", "gpu_host_bfc", "cuda_host_bfc"])
@pytest.mark.parametrize("dumped", [False, True])
def test_an_allocator_of_the_host_is_never_told_as_the_gpus(allocator: str, dumped: bool) -> None:
    dump = DUMP.replace("{}", "").replace("GPU_0_bfc", allocator) if dumped else ""
    lines = dump + ON_GPU.format("64,256,56,112", allocator).replace("GPU:0", "CPU:0") + "\nResourceExhaustedError"
    report = judged(Told(name="", lines=lines, cause="", first_fix=""))
    (found,) = (each for each in report.findings if each.severity is Severity.ERROR)

    assert "host" in f"{found.title} {found.summary}"
    assert "need more memory than the GPU has" not in found.summary
    assert {each.id for each in found.fixes}.isdisjoint({"mixed-precision-memory", "part-on-cpu", "end-other-process"})
    assert "smaller-host-buffers" in {each.id for each in found.fixes}


@pytest.mark.parametrize(
    ("version", "form"), [("1.13.1", "compute_gradients"), ("2.9.0", "apply_gradients"), ("2.20.0", "_steps=2")]
)
def test_gradients_are_added_up_as_the_release_can(version: str, form: str) -> None:
    told = next(each for each in TEXTS if each.name == "a model on the GPU with its dump, 2.20")
    fix = next(each for each in judged(told, f"tf={version}").fixes if each.id == "gradient-accumulation")

    assert form in fix.text
    assert ("gradient_accumulation_steps" in fix.text) is version.startswith("2.20")


def test_a_text_without_a_number_is_dated_by_what_only_older_releases_print() -> None:
    told = next(each for each in TEXTS if each.name == "a model on the GPU with its dump, 2.9")
    assert release_in_use(judged(told).snapshot).tensorflow == "2.10"
    assert not any("gradient_accumulation_steps" in fix.text for fix in judged(told).fixes)
