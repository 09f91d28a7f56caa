"""The step at which a loss became NaN is found exactly, without asking for a loss in each step."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gpudoctor import codec
from gpudoctor.profile.timeline import analyse
from tests.profile.launched import Ran, run, with_tensorflow
from tests.side_by_side import together

pytestmark = pytest.mark.tensorflow
SCRIPT = Path(__file__).parent / "scripts" / "loss_becomes_nan.py"
LINES = SCRIPT.read_text(encoding="utf-8").splitlines()


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(LINES, start=1) if text in line)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """Return a run of each way; the one in float16 with its report."""
    python = with_tensorflow()

    def ran(way: str) -> Ran:
        options = ("--json", "report.json") if way == "float16" else ("--quiet",)
        return run(tmp_path_factory.mktemp(way), python, str(SCRIPT), way, options=options)

    ways = ("fit", "second_epoch", "train_on_batch", "float16")
    return dict(zip(ways, together(*(partial(ran, way) for way in ways)), strict=True))


@pytest.mark.parametrize(
    ("way", "step", "call"),
    [("fit", 30, "model.fit("), ("second_epoch", 70, "model.fit("), ("train_on_batch", 30, "model.train_on_batch(")],
)
def test_the_first_step_of_a_loss_that_is_not_finite_is_exact(
    runs: dict[str, Ran], way: str, step: int, call: str
) -> None:
    ran = runs[way]
    assert ran.code == 0, ran.err
    loss = analyse(ran.session).loss
    assert loss is not None
    assert (loss.bad_step, loss.bad_value, loss.line) == (step, "nan", line_of(call))
    assert not [each for each in ran.session.events if each.kind == "agent_fault"]


def test_the_report_names_the_step_and_suspects_float16_where_it_is_in_force(runs: dict[str, Ran]) -> None:
    place = runs["float16"].path.with_name("report.json")
    report: Any = codec.loads(place.read_bytes())  # a JSON document
    first = report["findings"][0]
    assert (first["code"], first["cause"]) == ("GD952", "fp16-nan")
    assert "step 30 " in first["summary"]
