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
- `jit`: arms `off`, `on`, the second compared with the first; on a GPU also `wide_off`, `wide_on`; value `compile_s`
- `eager`: arms `eager`, `graph`, the second compared with the first; values `eager_op_s`, `graph_op_s`, `ops`
- `transfer`: arm `copies`; values `host_to_device_bytes_per_s`, and from NVML while it ran, by the parent: `gpu_index`,
  `link_samples`, `pcie_gen`, `pcie_gen_max`, `pcie_width`, `pcie_width_max`, `pcie_received_bytes_per_s`
- `fragmentation`: see `fragmentation_child`
- `batch_ladder`: one arm a batch size, named by it; values `half_batch` (with `_low`, `_high`), `knee_batch`, `saturated`,
  `best_examples_per_s`, `memory_fixed_bytes`, `memory_per_example_bytes`, the same with `_high_bytes`,
  `memory_residual_bytes`, `memory_excess_share`, `weights_bytes`, `pool_bytes`, `largest_batch`, `full_at_batch`, and by
  the parent `free_bytes`, `largest_batch_in_free`; see `child_ladder`
- `replicas`: on GPUs arms `one`, `all`, the second compared with the first; values `replicas`, `gpus` (0: two devices of
  the CPU), `global_batch`, `fewest_steps`, `most_steps`, `gradient_error`, `tolerance`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gpudoctor.model.words import Level

DEFAULT_SET = "default"
FRAGMENTATION_SET = "fragmentation"
LADDER_SET = "ladder"
REPLICAS_SET = "replicas"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """One trial. `expected_s` feeds the progress bar; `limit_s` ends a silent trial; `judges_gpu`: says nothing on a CPU.

    `level`: the lowest at which a scan runs it; asked for by name, it runs at any.
    """

    name: str
    expected_s: float
    limit_s: float
    environment: str = DEFAULT_SET
    judges_gpu: bool = False
    level: Level = "standard"


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
    TrialPlan(name="jit", expected_s=3.5, limit_s=90.0, judges_gpu=True),
    TrialPlan(name="eager", expected_s=2.5, limit_s=60.0, judges_gpu=True),
    TrialPlan(name="transfer", expected_s=0.1, limit_s=30.0, judges_gpu=True),
    TrialPlan(name="fragmentation", expected_s=1.5, limit_s=60.0, environment=FRAGMENTATION_SET),
    # a process of its own, as a training has: in a pool that another trial cut to pieces chunks fit more closely, and the
    # peaks came a fifth lower (measured: 5.2 KiB an example behind `fragmentation`, 6.4 alone; what was promised did not fit)
    TrialPlan(name="batch_ladder", expected_s=4.0, limit_s=60.0, environment=LADDER_SET, judges_gpu=True),
    # a process of its own, since devices are divided before the first is used: another import, hence the higher level
    TrialPlan(name="replicas", expected_s=2.5, limit_s=90.0, environment=REPLICAS_SET, judges_gpu=False, level="full"),
)
BY_NAME: Mapping[str, TrialPlan] = {plan.name: plan for plan in PLANS}
NAMES: frozenset[str] = frozenset(BY_NAME)


def at_level(level: Level) -> tuple[str, ...]:
    """Return the names of the trials that a scan runs at this level."""
    return tuple(plan.name for plan in PLANS if level in {"full", plan.level})


def chosen(names: Iterable[str]) -> tuple[TrialPlan, ...]:
    """Return the plans of these trials in the probe's own order, each once; raises KeyError for an unknown name."""
    wanted = {BY_NAME[name].name for name in names}
    return tuple(plan for plan in PLANS if plan.name in wanted)
