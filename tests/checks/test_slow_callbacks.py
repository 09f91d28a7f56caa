"""GD615: callbacks are found at the end of epochs and in batches, by their share; small ones are not."""

from __future__ import annotations

import pytest

from gpudoctor.model.phases import Calls
from gpudoctor.model.run import HotLines
from gpudoctor.testing import judge
from gpudoctor_checks.compute.slow_callbacks import stalled
from tests.checks.runs import case, make_line, ran

LINE = HotLines(lines=(make_line(0.5, function="on_epoch_end", line=13),), sampled_s=3.0)


def epochs(end_s: float) -> Calls:
    return Calls(epochs=5, steady_epochs=5, epoch_s=13.0, epoch_end_s=end_s)


CASE = case("GD615", {"calls": epochs(6.0), "hot_lines": LINE}, {"calls": epochs(1.0), "hot_lines": LINE}, "calls")


def test_the_line_in_the_callback_is_the_place() -> None:
    (finding,) = judge(stalled, CASE.fires).findings
    assert finding.location is not None
    assert finding.location.line == 13


def test_callbacks_of_each_batch_are_found_by_their_samples() -> None:
    lines = HotLines(lines=(make_line(0.4, function="on_train_batch_end", line=22),), sampled_s=3.0)
    (finding,) = judge(stalled, ran(hot_lines=lines)).findings
    assert "each batch" in finding.summary


@pytest.mark.parametrize(
    ("function", "instead"),
    [
        ("on_train_batch_end", "on_epoch_end"),
        ("on_train_batch_begin", "on_epoch_begin"),
        ("on_batch_end", "on_epoch_end"),
    ],
)
def test_the_diff_of_a_callback_of_each_batch_is_of_its_own_method(function: str, instead: str) -> None:
    lines = HotLines(lines=(make_line(0.4, function=function, line=22),), sampled_s=3.0)
    (finding,) = judge(stalled, ran(hot_lines=lines)).findings
    assert finding.fixes[0].text.splitlines() == [
        f"- def {function}(self, batch, logs=None):",
        f"+ def {instead}(self, epoch, logs=None):",
    ]
    assert "batch" in finding.fixes[0].title
    assert [each.label for each in finding.evidence] == ["callbacks of each batch", "train.py:22"]


def test_the_diff_of_a_callback_at_the_end_of_epochs_is_of_its_own_method() -> None:
    (finding,) = judge(stalled, CASE.fires).findings
    assert finding.fixes[0].text.startswith("- def on_epoch_end(")


def test_where_the_method_was_not_seen_no_line_of_it_is_shown_as_the_users() -> None:
    (finding,) = judge(stalled, ran(calls=epochs(6.0), hot_lines=None)).findings
    assert finding.fixes[0].action == "manual"
    assert "def " not in finding.fixes[0].text


def test_of_what_a_callback_calls_no_method_is_shown_that_may_be_keras_own() -> None:
    schedule = make_line(0.5, function="on_epoch_begin > schedule", line=3)
    rate = make_line(0.4, function="on_train_batch_begin > rate", line=9)
    lines = HotLines(lines=(schedule, rate), sampled_s=3.0)
    ends, batches = judge(stalled, ran(calls=epochs(6.0), hot_lines=lines)).findings
    assert ends.location is not None
    assert ends.location.line == 3
    assert ends.fixes[0].text == "# schedule(), which on_epoch_begin calls: every few epochs, or after fit"
    assert batches.fixes[0].text == "# rate(), which on_train_batch_begin calls: every N batches, or once an epoch"


def test_callbacks_of_both_kinds_are_both_told_each_with_its_own_change() -> None:
    batch = make_line(0.33, function="on_train_batch_end", line=25)
    both = HotLines(lines=(batch, *LINE.lines), sampled_s=3.0)
    found = judge(stalled, ran(calls=epochs(6.0), hot_lines=both)).findings
    assert [each.location.line for each in found if each.location is not None] == [13, 25]
    assert len({each.fixes[0].id for each in found}) == 2


def test_short_epochs_with_quick_callbacks_are_no_fault() -> None:
    assert judge(stalled, ran(calls=Calls(epochs=100, steady_epochs=100, epoch_s=5.0, epoch_end_s=1.0))).findings == ()
