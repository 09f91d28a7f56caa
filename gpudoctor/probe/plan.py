"""What the reference probe can try: names, order, environment and expected time of each trial.

Names of arms and values are what checks read, so they stand here and not only in the child that makes them:

- `baseline`: arm `baseline`; values `loss_chance`, `first_step_s`
- `cpu`: arms `cpu`, and on a GPU `default`, compared with it
- `gradcheck`: arms `float32`, `jit`, `mixed` (full: `mixed_jit`); values `max_relative_error` and `tolerance` of the
  entry nearest to its limit, `detectable_share`, and the same per arm (`float32.max_relative_error` ...)
- `prefetch`: arms `none`, `default`, `explicit`; comparisons of the last two against `none`; value `ideal_speedup`
- `map`: arms `python`, `tf_serial`, `tf_parallel`, `tf_batched`; comparisons `tf_serial` against `python`, the last two
  against `tf_serial`; value `cores`
- `precision`: arms `float32`, `mixed`; values `width`, `batch`, `device_share`
- `numpy_loop`: arms `numpy`, `tensor_ops`, the second compared with the first
- `batch_ladder`: one arm a batch size, named by it; values `knee_batch`, `best_examples_per_s`, `memory_fixed_bytes`,
  `memory_per_example_bytes`
- `fragmentation`: see `fragmentation_child`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

DEFAULT_SET = "default"
FRAGMENTATION_SET = "fragmentation"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """One trial. `expected_s` feeds the progress bar; `limit_s` ends a silent trial; `judges_gpu`: says nothing on a CPU."""

    name: str
    expected_s: float
    limit_s: float
    environment: str = DEFAULT_SET
    judges_gpu: bool = False


# Expected seconds are measured: TensorFlow 2.21 on two shared cores, standard level. The limits are policy: room for a
# cold cuDNN, XLA autotuning and a slow disk, about ten times the expected time and never under 30 s.
PLANS: tuple[TrialPlan, ...] = (
    TrialPlan(name="baseline", expected_s=2.0, limit_s=60.0, judges_gpu=True),
    TrialPlan(name="cpu", expected_s=1.0, limit_s=30.0),
    TrialPlan(name="gradcheck", expected_s=1.5, limit_s=90.0, judges_gpu=True),
    TrialPlan(name="prefetch", expected_s=4.5, limit_s=30.0),
    TrialPlan(name="map", expected_s=2.5, limit_s=30.0),
    TrialPlan(name="precision", expected_s=0.1, limit_s=60.0, judges_gpu=True),
    TrialPlan(name="numpy_loop", expected_s=1.5, limit_s=30.0),
    TrialPlan(name="batch_ladder", expected_s=3.0, limit_s=60.0, judges_gpu=True),
    TrialPlan(name="fragmentation", expected_s=1.5, limit_s=60.0, environment=FRAGMENTATION_SET),
)
BY_NAME: Mapping[str, TrialPlan] = {plan.name: plan for plan in PLANS}
NAMES: frozenset[str] = frozenset(BY_NAME)


def chosen(names: Iterable[str]) -> tuple[TrialPlan, ...]:
    """Return the plans of these trials in the probe's own order, each once; raises KeyError for an unknown name."""
    wanted = {BY_NAME[name].name for name in names}
    return tuple(plan for plan in PLANS if plan.name in wanted)
