"""gradcheck: a sound device passes, any corrupted layer is found and named, in every precision and under XLA."""

from __future__ import annotations

from typing import Any

import pytest

from tests.probe.real_tensorflow import ask

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def verdicts() -> list[dict[str, Any]]:
    return list(ask("corrupt_gradients.py"))


def test_a_sound_device_passes_in_all_four_arms(verdicts: list[dict[str, Any]]) -> None:
    untouched = verdicts[0]
    assert (untouched["kind"], untouched["status"], untouched["reason"]) == ("untouched", "ok", "")
    assert untouched["arms"] == ["float32", "jit", "mixed", "mixed_jit"]


def test_every_corruption_of_every_layer_is_found(verdicts: list[dict[str, Any]]) -> None:
    broken = verdicts[1:]
    assert len(broken) == 4 * 6 * 5
    assert [each for each in broken if each["status"] != "failed"] == []


def test_the_corrupted_arm_and_layer_are_named_and_no_other(verdicts: list[dict[str, Any]]) -> None:
    for each in verdicts[1:]:
        assert each["reason"].startswith(f"{each['arm']}, {each['where']}: entry"), each
        assert ";" not in each["reason"], each
