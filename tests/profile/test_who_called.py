"""What a sample belongs to: a callback for all that it calls, and a wait where an object in C waits on the user's own line."""

from __future__ import annotations

import queue
import socket
import time
from types import CodeType, SimpleNamespace
from typing import Any

import pytest

from gpudoctor.profile.agent import activities, core, phases, sampler, threads

KERAS = "/opt/venv/lib/python3.12/site-packages/keras/src/callbacks/callback_list.py"
KERAS_2 = "/opt/venv/lib/python3.11/site-packages/keras/src/callbacks.py"


def code(file: str, function: str) -> CodeType:
    """Return the code of a function of that name in that file."""
    made: dict[str, Any] = {}
    exec(compile(f"def {function}(): pass", file, "exec"), made)  # noqa: S102  # a frame's code is all that is looked at
    found = made[function].__code__
    assert isinstance(found, CodeType)
    return found


def told(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return a list into which goes what the agent tells."""
    rows: list[dict[str, Any]] = []

    def emit(_table: str, **values: Any) -> None:
        rows.append(values)

    monkeypatch.setattr(core, "emit", emit)
    return rows


@pytest.mark.parametrize(
    ("file", "function", "callback"),
    [
        (KERAS, "on_train_batch_end", "on_train_batch_end"),
        (KERAS_2, "on_epoch_begin", "on_epoch_begin"),
        (KERAS, "append", ""),
        ("/home/someone/callbacks.py", "on_epoch_end", ""),  # their own file of that name
    ],
)
def test_a_callback_is_known_by_the_method_of_keras_that_calls_it(file: str, function: str, callback: str) -> None:
    assert activities.callback_of(code(file, function)) == callback


CALLS: list[tuple[str, object, str]] = [
    ("connection.recv", socket.socket, "wait"),
    ("lines.get", queue.SimpleQueue[str](), "wait"),
    ("words.get", {}, "python"),
    ("text.join", "", "python"),
    ("select", None, "python"),  # a function of the user's by that name
]


@pytest.mark.parametrize(("name", "value", "activity"), CALLS)
def test_a_call_that_blocks_in_c_is_a_wait_and_one_that_works_is_none(name: str, value: object, activity: str) -> None:
    frame: Any = SimpleNamespace(f_globals={name.partition(".")[0]: value})
    assert activities._classed(name, frame)[0] == activity  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(("steps", "counted"), [((5, 5, 5), False), ((5, 9, 9), True)])
def test_outside_of_keras_samples_count_where_a_loop_of_the_users_goes_on(
    steps: tuple[int, ...], counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter((*steps, *[steps[-1]] * 10))
    monkeypatch.setattr(sampler, "sums", sampler.Sums())
    monkeypatch.setattr(sampler.sums, "steps", 5)
    monkeypatch.setattr(sampler, "_steps", lambda: next(counts))
    monkeypatch.setattr(sampler, "pause_s", lambda: 0.002)
    monkeypatch.setattr(core.process, "off", False)
    rows = told(monkeypatch)
    sampler.burst(0.02)
    assert bool(rows[0]["samples"]) is counted
    assert (rows[0]["duration_s"] > 0) is counted


def test_validation_is_not_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "sums", sampler.Sums())
    monkeypatch.setattr(phases, "phases", phases.Phases())
    phases.phases.open = [(1, "fit"), (2, "epoch"), (3, "validation")]
    monkeypatch.setattr(core.process, "off", False)
    rows = told(monkeypatch)
    sampler.burst(0.01)
    phases.phases.open = [(1, "fit"), (2, "epoch")]
    sampler.burst(0.01)
    assert [each["samples"] > 0 for each in rows] == [False, True]


def test_steps_of_many_seconds_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of four tenths, seen by a burst that ends long before it: what was sampled in it counts all the same."""
    monkeypatch.setattr(sampler, "sums", sampler.Sums())
    sampler.sums.steps, sampler.sums.step_s = 5, 0.4
    begun = time.perf_counter()
    monkeypatch.setattr(sampler, "_steps", lambda: 5 + (time.perf_counter() - begun > 0.4))
    monkeypatch.setattr(sampler, "pause_s", lambda: 0.002)
    monkeypatch.setattr(core.process, "off", False)
    rows = told(monkeypatch)
    sampler.burst(0.02)
    assert rows[0]["samples"] > 0


@pytest.mark.parametrize(("calls", "counted"), [(3, False), (12, True)])
def test_python_between_many_calls_of_keras_is_the_loops(
    calls: int, counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the folds of a validation it is not: they are few."""
    monkeypatch.setattr(sampler, "sums", sampler.Sums())
    monkeypatch.setattr(phases, "phases", phases.Phases())
    phases.phases.calls = calls
    monkeypatch.setattr(sampler, "_steps", lambda: 5)
    monkeypatch.setattr(core.process, "off", False)
    rows = told(monkeypatch)
    looks = iter(range(8))

    def stopped(_within_s: float) -> bool:
        """Let Keras's next call begin behind five samples, and end behind eight."""
        look = next(looks, None)
        if look == 5:
            phases.phases.open = [(1, "predict")]
        return look is None

    monkeypatch.setattr(threads, "stopped", stopped)
    sampler.burst(10.0)
    assert rows[0]["samples"] == (8 if counted else 3)
