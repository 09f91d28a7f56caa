"""Real training under `gpudoctor run`: the same losses and weights bit for bit, the same output, and every step counted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from gpudoctor.model.missing import Missing
from gpudoctor.model.session import LoopRecord, Session
from tests.profile.launched import plain, run, with_tensorflow
from tests.side_by_side import together

pytestmark = pytest.mark.tensorflow

SCRIPT = str(Path(__file__).parent / "scripts" / "kinds_of_loops.py")
STEPS = 40  # 2 epochs of 20 batches
ADDRESS = re.compile(rb"\b0x[0-9a-f]+\b")
# kind of loop -> label -> steps
COUNTED = {
    "fit": {"fit": STEPS},
    "arrays": {"fit": STEPS},
    "generator": {"fit": STEPS},
    "sequence": {"fit": STEPS},
    "sequence_workers": {"fit": STEPS},
    "four_steps_per_execution": {"fit": STEPS},
    "seven_steps_per_execution": {"fit": STEPS},
    "compiled_by_xla": {"fit": STEPS},
    "run_eagerly": {"fit": STEPS},
    "validated": {"fit": STEPS, "evaluate": STEPS},
    "evaluated": {"evaluate": STEPS // 2},
    "predicted": {"predict": STEPS // 2},
    "own_train_step": {"fit": STEPS},
    "on_batch": {"train_on_batch": STEPS, "loop": STEPS},
    "eager_loop": {"loop": STEPS},
    "loop_around_a_function": {"loop": STEPS},
    "dataset_in_a_function": {"loop": STEPS},
    "iterator_in_a_function": {"loop": STEPS},
    "next_in_a_function": {"loop": STEPS},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """What was printed alone, alone again, and under the wrapper; the wrapper's session."""

    alone: bytes
    again: bytes
    watched: bytes
    alone_err: bytes
    again_err: bytes
    watched_err: bytes
    session: Session


def _runs(folder: Path, *names: str) -> Runs:
    command = (with_tensorflow(), SCRIPT, *names)
    watched, alone, again = together(*(partial(each, folder, *command) for each in (run, plain, plain)))
    assert (alone.code, watched.code) == (0, 0), watched.err.decode()[-3000:]
    return Runs(
        alone=alone.out,
        again=again.out,
        watched=watched.out,
        alone_err=alone.err,
        again_err=again.err,
        watched_err=watched.err,
        session=watched.session,
    )


@pytest.fixture(scope="module")
def all_kinds(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return _runs(tmp_path_factory.mktemp("kinds"), *COUNTED)


def _digest(told: bytes, name: str) -> str:
    return dict(line.split() for line in told.decode().splitlines())[name]


def _counts(session: Session, function: str) -> dict[str, int]:
    loops = [each for each in session.loops if each.function == function and each.replica == 0]
    found: dict[str, int] = {}
    for loop in loops:
        found[loop.label] = found.get(loop.label, 0) + _count(session, loop)
    return {label: count for label, count in found.items() if count}


def _count(session: Session, loop: LoopRecord) -> int:
    mine = [each.count for each in session.steps if (each.process, each.loop) == (loop.process, loop.loop)]
    return max(mine, default=0)


@pytest.mark.parametrize("name", COUNTED)
def test_losses_and_weights_are_the_same_bit_for_bit(all_kinds: Runs, name: str) -> None:
    alone = _digest(all_kinds.alone, name)
    assert _digest(all_kinds.again, name) == alone, "the script does not repeat itself; nothing can be told from it"
    assert _digest(all_kinds.watched, name) == alone


@pytest.mark.parametrize("name", COUNTED)
def test_every_step_is_counted(all_kinds: Runs, name: str) -> None:
    assert _counts(all_kinds.session, name) == COUNTED[name]


def test_nothing_of_ours_failed(all_kinds: Runs) -> None:
    assert [each.text for each in all_kinds.session.events if each.kind == "agent_fault"] == []


def test_the_scripts_stderr_is_the_same_apart_from_times_and_ids(all_kinds: Runs) -> None:
    """TensorFlow's own threads log in another number and place from run to run, so two plain runs say what is constant."""
    alone, again, watched = map(_lines, (all_kinds.alone_err, all_kinds.again_err, all_kinds.watched_err))
    assert watched - (alone | again) == set()
    assert (alone & again) - watched == set()


def _lines(text: bytes) -> set[bytes]:
    """Return the distinct lines, without digits and addresses: "XLA service 0x7f3c8c00fe10 initialized"."""
    lines = (ADDRESS.sub(b"", line) for line in text.splitlines())
    return {bytes(each for each in line if not chr(each).isdigit()).strip() for line in lines}


def test_phases_have_their_borders_and_validation_is_not_training(all_kinds: Runs) -> None:
    kinds = [each.kind for each in all_kinds.session.phases]
    assert kinds.count("validation") == 2
    assert kinds.count("evaluate") == 1
    assert kinds.count("predict") == 1
    assert kinds.count("epoch") == kinds.count("epoch_end") == 2 * kinds.count("fit")
    assert not [each for each in all_kinds.session.phases if isinstance(each.ended_at, Missing)]


def test_waits_that_overlap_compute_are_marked(all_kinds: Runs) -> None:
    overlapping = {each.function for each in all_kinds.session.loops if each.overlaps}
    assert overlapping == {"four_steps_per_execution", "seven_steps_per_execution", "iterator_in_a_function"}


def test_under_a_strategy_each_replica_has_its_own_row(tmp_path: Path) -> None:
    runs = _runs(tmp_path, "mirrored")
    assert runs.alone == runs.again == runs.watched
    counts = {(each.replica, _count(runs.session, each)) for each in runs.session.loops if each.kind == "graph"}
    assert {(0, STEPS), (1, STEPS)} <= counts
