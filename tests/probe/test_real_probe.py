"""The probe with a real TensorFlow on the CPU: it trains, measures and tells where."""

from __future__ import annotations

import math
import statistics
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from gpudoctor.model.missing import Missing, either
from gpudoctor.model.observed import Probe, Trial
from gpudoctor.probe.runner import KNOWN_TRIALS, run_probe
from tests.probe.real_tensorflow import HIDDEN, ask, interpreter
from tests.side_by_side import together

# Two-sided 95 % quantiles of Student's t by the number of pairs less one (NIST/SEMATECH e-Handbook, 1.3.6.7.2)
T_95 = {4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 19: 2.093}
pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def standard() -> Probe:
    return run_probe(
        interpreter(), KNOWN_TRIALS, environment=HIDDEN, script=Path(__file__).with_name("sampled_child.py")
    )


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Probe]:
    """Return the probes in which something is made wrong, by what it is."""
    python, here, site = interpreter(), Path(__file__).parent, tmp_path_factory.mktemp("site")
    (site / "sitecustomize.py").write_text("print('hello from the site'); print('{\"kind\": \"done\"}')")
    probes = {
        "a lossy gradient": partial(run_probe, python, ("gradcheck",), script=here / "corrupted_child.py"),
        "a replica alone": partial(run_probe, python, ("replicas",), script=here / "lone_replica_child.py"),
        "too little memory": partial(
            run_probe, python, ("baseline", "batch_ladder"), script=here / "climbing_child.py"
        ),
        "a site that prints": partial(run_probe, python, ("gradcheck",)),
    }
    variables = {
        "too little memory": {"TF_CPU_ALLOCATOR_USE_BFC": "true", "TF_CPU_BFC_MEM_LIMIT_IN_MB": "16"},
        "a site that prints": {"PYTHONPATH": str(site), "TF_CPP_MIN_LOG_LEVEL": "3"},
    }
    works = [partial(each, environment=HIDDEN | variables.get(name, {})) for name, each in probes.items()]
    return dict(zip(probes, together(*works), strict=True))


def test_every_trial_ends_well_on_the_cpu(standard: Probe) -> None:
    assert {name: trial.status for name, trial in standard.trials.items() if trial.status != "ok"} == {
        "precision": "unsupported",
        "transfer": "unsupported",
    }
    assert {trial.device for trial in standard.trials.values() if trial.status == "ok"} == {"CPU"}


def test_tensorflow_is_imported_once_for_each_set_of_variables(standard: Probe) -> None:
    assert [child.environment for child in standard.children] == ["default", "fragmentation", "ladder", "replicas"]
    for child in standard.children:
        assert (child.status, child.exit_code, child.visible_gpus) == ("ok", 0, 0)
        assert either(child.import_s, 0) > 0
        assert isinstance(child.import_error, Missing)


def test_the_network_learns(standard: Probe) -> None:
    arm = standard.trials["baseline"].arm("baseline")
    assert arm is not None
    assert either(arm.loss_first, 0) > 2.0
    assert either(arm.loss_last, 9) < 0.2
    assert arm.steps >= 150
    assert standard.trials["baseline"].values["loss_chance"] == pytest.approx(math.log(10))


def test_every_comparison_rests_on_enough_pairs(standard: Probe) -> None:
    comparisons = [each for trial in standard.trials.values() for each in trial.comparisons]
    assert {(each.arm, each.against) for each in comparisons} == {
        ("default", "none"),
        ("explicit", "none"),
        ("tf_serial", "python"),
        ("tf_parallel", "tf_serial"),
        ("tf_batched", "tf_serial"),
        ("tensor_ops", "numpy"),
        ("on", "off"),
        ("graph", "eager"),
    }
    for each in comparisons:
        assert each.pairs >= 5
        assert 0 < each.low <= each.speedup <= each.high


def samples(trial: Trial, arm: str) -> list[float]:
    return [seconds for name, seconds in trial.values.items() if name.startswith(f"sample.{arm}.")]


def test_a_ratio_is_what_the_samples_of_its_arms_say(standard: Probe) -> None:
    """The mean of the pairs' logarithms with its t-interval, by another way than the probe's own."""
    for trial in standard.trials.values():
        for each in trial.comparisons:
            fast, slow = samples(trial, each.arm), samples(trial, each.against)
            assert len(fast) == len(slow) == each.pairs, each
            logs = [math.log(one) - math.log(other) for one, other in zip(slow, fast, strict=True)]
            half = T_95[each.pairs - 1] * statistics.stdev(logs) / math.sqrt(each.pairs)
            assert math.log(each.speedup) == pytest.approx(statistics.fmean(logs)), each
            assert math.log(each.low) == pytest.approx(statistics.fmean(logs) - half, abs=1e-3), each
            assert math.log(each.high) == pytest.approx(statistics.fmean(logs) + half, abs=1e-3), each
            assert min(logs) <= math.log(each.speedup) <= max(logs), each


def test_the_step_of_an_arm_is_the_mean_of_its_samples(standard: Probe) -> None:
    told = [(trial, arm) for trial in standard.trials.values() for arm in trial.arms if samples(trial, arm.name)]
    assert len(told) >= 10
    for trial, arm in told:
        assert either(arm.step_s, 0) == pytest.approx(statistics.fmean(samples(trial, arm.name))), (
            trial.name,
            arm.name,
        )


# Which way each goes is known, how far depends on what else the machine does: no interval may prove the opposite.
@pytest.mark.parametrize(("trial", "arm"), [("map", "tf_batched"), ("eager", "graph")])
def test_no_measurement_proves_the_opposite_of_what_is_known(trial: str, arm: str, standard: Probe) -> None:
    ratio = standard.trials[trial].comparison(arm)
    assert ratio is not None
    assert ratio.high > 1
    agreeing = [
        fast < slow
        for fast, slow in zip(
            samples(standard.trials[trial], arm), samples(standard.trials[trial], ratio.against), strict=True
        )
    ]
    assert any(agreeing) or ratio.speedup < 1
    assert not all(agreeing) or ratio.speedup > 1


def test_the_ladder_climbs_in_powers_of_two_to_its_knee(standard: Probe) -> None:
    ladder = standard.trials["batch_ladder"]
    sizes = [int(arm.name) for arm in ladder.arms]
    assert sizes[0] == 32
    assert all(above == 2 * below for below, above in pairwise(sizes))
    assert ladder.values["knee_batch"] in sizes
    assert all(not isinstance(arm.peak_bytes, Missing) for arm in ladder.arms)  # the BFC allocator tells, on a CPU too
    assert all(isinstance(arm.peak_bytes, Missing) for arm in standard.trials["baseline"].arms)  # a CPU's own does not


def test_memory_against_batch_is_a_line(standard: Probe) -> None:
    ladder = standard.trials["batch_ladder"]
    peaks = {int(arm.name): either(arm.peak_bytes, 0) for arm in ladder.arms}
    fixed, each = ladder.values["memory_fixed_bytes"], ladder.values["memory_per_example_bytes"]
    for size, peak in peaks.items():
        assert abs(peak - fixed - each * size) <= ladder.values["memory_residual_bytes"] * 1.001
    top = max(peaks)
    assert peaks[top] >= 0.2 * ladder.values["pool_bytes"]
    assert ladder.values["memory_residual_bytes"] < 0.15 * peaks[top]
    assert top < ladder.values["largest_batch"] < ladder.values["pool_bytes"] / each


def test_the_batch_where_overhead_ends_has_an_interval(standard: Probe) -> None:
    values = standard.trials["batch_ladder"].values
    assert 0 < values["half_batch_low"] <= values["half_batch"] <= values["half_batch_high"]


def test_an_op_called_from_python_costs_more_than_one_in_a_graph(standard: Probe) -> None:
    values = standard.trials["eager"].values
    # the best of several rounds each, and the way through Python on every op against one on all of them
    assert 0 < values["graph_op_s"] < values["eager_op_s"]


def test_both_replicas_step_and_their_gradients_add_up_to_those_of_one_device(standard: Probe) -> None:
    values = standard.trials["replicas"].values
    assert (values["replicas"], values["gpus"], values["global_batch"]) == (2, 0, 256)
    assert values["fewest_steps"] == values["most_steps"] == 30
    assert (values["smallest_part"], values["examples_per_step"]) == (128, 256)
    assert 0 <= values["gradient_error"] <= values["tolerance"]
    assert standard.trials["replicas"].comparisons == ()  # two devices of one CPU tell nothing about speed


def test_gradcheck_tells_its_tolerance_and_what_it_would_find(standard: Probe) -> None:
    values = standard.trials["gradcheck"].values
    assert 0 < values["max_relative_error"] <= values["tolerance"] < 0.01
    assert values["float32.detectable_share"] < 0.001


def test_nothing_that_the_probe_provokes_is_told_as_the_machines_trouble(standard: Probe) -> None:
    kinds = {event.kind for child in standard.children for event in child.events}
    assert not kinds & {"oom", "oom_tensor", "growth_forced", "retracing", "mixed_precision_slow"}


def test_a_device_that_loses_two_percent_of_one_gradient_is_found_through_the_whole_way(
    faults: dict[str, Probe],
) -> None:
    trial = faults["a lossy gradient"].trials["gradcheck"]
    assert trial.status == "failed"
    assert trial.reason.startswith("float32, layer 2 W: entry")


def test_a_real_shortage_of_memory_is_told_and_the_rest_goes_on(faults: dict[str, Probe]) -> None:
    probe = faults["too little memory"]
    assert probe.trials["baseline"].status == "ok"
    ladder = probe.trials["batch_ladder"]
    assert (ladder.status, len(ladder.arms) > 3) == ("ok", True)
    assert "does not fit into the probe's memory cap: ResourceExhaustedError: OOM when allocating" in ladder.notes[0]


def test_gradients_that_are_not_added_up_over_the_replicas_are_found(faults: dict[str, Probe]) -> None:
    trial = faults["a replica alone"].trials["replicas"]
    assert trial.status == "failed"
    assert "the gradients added up over 2 replicas differ by" in trial.reason


def test_a_sitecustomize_that_prints_and_a_module_in_the_way_do_no_harm(faults: dict[str, Probe]) -> None:
    assert faults["a site that prints"].trials["gradcheck"].status == "ok"


def test_the_twin_of_precision_grows_until_the_device_works_or_a_limit_comes() -> None:
    told = ask("precision_twin.py")
    assert "tensor cores" in told["on_cpu"]
    assert told["grown"] == [512, 512, 0.75], "the first twin whose step is long enough beside a tiny one's"
    width, _, share = told["measured"]
    assert (width, 0 <= share < 1) == (32, True)
    assert "99% are needed; wider ones are not tried" in told["too_small"]
    assert told["capped"] == "no wide twin was tried: the next one does not fit into the probe's memory cap"
    assert [each["name"] for each in told["competition"]["arms"]] == ["float32", "mixed"]
    assert told["competition"]["comparisons"][0]["pairs"] >= 5
