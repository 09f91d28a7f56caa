"""A session becomes facts: steps, their time and wait, with warm-up, validation, replicas and unknowns told apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.missing import Missing
from gpudoctor.model.run import StepTimes
from gpudoctor.model.session import GpuSample, Session, Setting
from gpudoctor.profile.breakdown import WindowShare, input_class
from gpudoctor.profile.timeline import analyse
from tests.profile.timelines import PROCESS, START, loop, phase, readings, session, trace


def near(value: float | Missing, wanted: float, within: float = 1e-6) -> bool:
    return not isinstance(value, Missing) and abs(value - wanted) <= within


def steps_of(recording: Session, *windows: WindowShare) -> StepTimes:
    times = analyse(recording, windows, lambda _file, _line: "").steps
    assert times is not None
    return times


def two_epochs(*, validation: bool = False) -> Session:
    """Return 40 steps of 25 ms after a warm-up epoch of 40 slow ones; a fifth of each steady step waits."""
    inner = (phase(4, "validation", 6.0, 9.0), phase(5, "epoch_end", 9.0, 9.1)) if validation else ()
    return session(
        loop(),
        steps=readings((5.0, 40, 1.0), (6.0, 80, 1.2)),
        phases=(
            phase(1, "fit", 0.0, 9.2),
            phase(2, "epoch", 0.0, 5.0),
            phase(3, "epoch", 5.0, 9.1 if validation else 6.0),
            *inner,
        ),
    )


def test_the_warm_up_stands_apart() -> None:
    times = steps_of(two_epochs())
    assert (times.steps, times.warm_up_steps) == (40, 40)
    assert near(times.step_s, 0.025)
    assert near(times.shares.input, 0.2)


def test_validation_and_callbacks_are_no_time_of_training_steps() -> None:
    assert near(steps_of(two_epochs(validation=True)).step_s, 0.025)


def test_shares_add_up_to_one() -> None:
    shares = steps_of(two_epochs()).shares
    parts = (shares.input, shares.host, shares.tracing, shares.compute)
    assert near(sum(each for each in parts if not isinstance(each, Missing)), 1.0)


def test_replicas_count_the_same_steps_once() -> None:
    rows = ((5.0, 40, 1.0), (6.0, 80, 1.2))
    times = steps_of(
        session(
            loop(0),
            loop(1, replica=1),
            steps=(*readings(*rows), *readings(*rows, number=1)),
            phases=two_epochs().phases,
        )
    )
    assert times.steps == 40


def test_rows_of_one_function_add_up_and_its_wait_is_not_told() -> None:
    times = steps_of(
        session(
            loop(0),
            loop(1, overlaps=True),
            steps=(*readings((5.0, 10, 1.0), (6.0, 20, 1.1)), *readings((5.0, 30, 1.0), (6.0, 60, 1.1), number=1)),
            phases=two_epochs().phases,
        )
    )
    assert times.steps + times.warm_up_steps == 80


def test_many_steps_an_execution_leave_the_wait_to_the_window() -> None:
    recording = two_epochs()
    many = Setting(process=PROCESS, subject="model 1: m", name="steps_per_execution", value=4)
    recording = replace(recording, settings=(many,))
    assert isinstance(steps_of(recording).shares.input, Missing)
    seen = steps_of(recording, WindowShare(steps=10, step_s=0.025, input_share=0.31))
    assert (seen.shares.input, seen.methods) == (0.31, ("window",))


def test_a_reading_amid_the_first_tracing_is_warm_up_still() -> None:
    recording = session(
        loop(label="loop", kind="eager"),
        steps=readings((1.0, 1, 0.0), (4.0, 21, 0.0), (5.0, 41, 0.0)),
        traces=(trace(0.5, 3.0),),
    )
    assert near(steps_of(recording).step_s, 0.05)


def test_a_single_stretch_is_shortened_by_its_tracing_and_says_so() -> None:
    recording = session(
        loop(),
        steps=readings((3.0, 50, 0.5)),
        phases=(phase(1, "epoch", 0.0, 3.0),),
        traces=(trace(0.1, 1.1), trace(0.2, 0.9, "inner")),
    )
    times = steps_of(recording)
    assert near(times.step_s, 2.0 / 50)
    assert "warm-up not set apart" in times.basis


def test_two_methods_agree_or_disagree() -> None:
    agreeing = steps_of(two_epochs(), WindowShare(steps=10, step_s=0.025, input_share=0.24))
    assert (agreeing.agree, agreeing.confidence) == (True, 0.95)
    differing = steps_of(two_epochs(), WindowShare(steps=10, step_s=0.025, input_share=0.6))
    assert (differing.agree, differing.basis) == (False, "methods disagree")


def with_gpu(busy: int) -> Session:
    recording = two_epochs()
    gpus = tuple(GpuSample(at=START + 5 + at, gpu=0, gpu_percent=busy, own_processes=1) for at in (0.2, 0.6))
    told = Setting(process=PROCESS, subject="process", name="gpus", value=1)
    return replace(recording, gpu_samples=gpus, settings=(told,))


def test_without_a_device_plane_confidence_is_at_most_sixty_percent_and_said() -> None:
    times = steps_of(with_gpu(40))
    assert times.confidence <= 0.6
    assert "upper bound" in times.basis


def test_a_busy_gpu_outranks_the_wait() -> None:
    assert near(steps_of(with_gpu(97)).shares.input, 0.03)


def test_what_another_ones_gpu_does_is_no_work_of_these_steps() -> None:
    """A starved run on GPU 0 is starved, however busy somebody else's GPU 1 is."""
    recording = with_gpu(40)
    theirs = tuple(replace(each, gpu=1, gpu_percent=100, own_processes=0) for each in recording.gpu_samples)
    both = steps_of(replace(recording, gpu_samples=(*recording.gpu_samples, *theirs)))
    assert near(both.shares.input, 0.2)
    assert near(both.shares.device, 0.4)
    shared = tuple(replace(each, gpu_percent=97, foreign_processes=1) for each in recording.gpu_samples)
    beside = steps_of(replace(recording, gpu_samples=shared)).shares
    assert near(beside.input, 0.2)
    assert isinstance(beside.device, Missing)


def test_a_device_plane_outranks_the_stamps() -> None:
    times = steps_of(
        with_gpu(40), WindowShare(steps=10, step_s=0.025, input_share=0.11, device_plane=True, device_share=0.8)
    )
    assert (times.shares.input, times.device_plane) == (0.11, "seen")


@pytest.mark.parametrize(
    ("share", "name"), [(0.049, "not"), (0.05, "moderately"), (0.199, "moderately"), (0.2, "highly")]
)
def test_the_classes_are_xprofs(share: float, name: str) -> None:
    assert input_class(share) == name


@pytest.mark.parametrize(
    ("recording", "why"),
    [
        (Session(schema_version=1, session="x"), "agent did not get into"),
        (session(), "no training step"),
    ],
)
def test_a_run_without_steps_says_why(recording: Session, why: str) -> None:
    run = analyse(recording)
    assert run.steps is None
    assert why in run.unknown["steps"]


def test_batches_made_between_calls_are_unknown_input_but_host_time() -> None:
    rows = tuple(
        replace(each, wait_s=Missing("called"), inside_s=each.count * 0.01)
        for each in readings((1.0, 10, 0.0), (5.0, 90, 0.0))
    )
    times = steps_of(session(loop(label="train_on_batch", kind="call"), steps=rows))
    assert isinstance(times.shares.input, Missing)
    assert near(times.shares.host, 0.8, within=0.02)
