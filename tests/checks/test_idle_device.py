"""GD613: a step smaller than its overhead: told by the GPU at rest, on a CPU by an empty step."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.run import Breakdown, HotLine, HotLines
from gpudoctor.testing import judge
from gpudoctor_checks.compute.idle_device import overhead
from tests.checks.runs import case, make_pipeline, make_settings, make_steps, ran

AT_REST = make_steps(gpu=True, shares=Breakdown(input=0.03, host=0.05, tracing=0.0, compute=0.92, device=0.12))
AT_WORK = make_steps(gpu=True, shares=Breakdown(input=0.03, host=0.05, tracing=0.0, compute=0.92, device=0.9))
GPU = make_settings(gpus=1)
CASE = case("GD613", {"steps": AT_REST, "settings": GPU}, {"steps": AT_WORK, "settings": GPU}, "steps")


def test_the_bound_is_the_device_at_rest() -> None:
    (finding,) = judge(overhead, CASE.fires).findings
    assert finding.fixes[0].gain.speedup == round(1 / 0.12, 2)


def test_a_starved_gpu_is_not_launch_bound() -> None:
    starved = replace(AT_REST, shares=Breakdown(input=0.6, host=0.0, compute=0.4, device=0.12))
    assert judge(overhead, ran(steps=starved, settings=GPU)).findings == ()


def test_a_few_bytes_a_step_of_a_millisecond_are_found_on_a_cpu() -> None:
    pipeline = make_pipeline(batch_s=0.00001)
    tiny = replace(pipeline, stages=(replace(pipeline.stages[0], element_bytes=80.0), *pipeline.stages[1:]))
    assert judge(overhead, ran(steps=make_steps(step_s=0.0012), pipeline=tiny)).findings != ()
    assert judge(overhead, ran(steps=make_steps(step_s=0.0012), pipeline=pipeline)).findings == ()


def test_with_many_steps_an_execution_it_is_done_already() -> None:
    assert judge(overhead, ran(steps=replace(AT_REST, steps_per_execution=16), settings=GPU)).findings == ()


def test_keras_is_asked_for_several_steps_by_a_setting_and_no_line_is_shown_that_nobody_wrote() -> None:
    (finding,) = judge(overhead, CASE.fires).findings
    assert finding.fixes[0].text == "+ model.compile(..., steps_per_execution=16)"


def test_a_loop_of_ones_own_is_told_what_fits_it_with_its_own_line() -> None:
    line = HotLine(file=AT_REST.file, line=AT_REST.line, function="<module>", role="main", activity="tensorflow",
                   leaf="", share=0.4, snippet="for batch in ds:")  # fmt: skip
    own = replace(AT_REST, label="loop", kind="eager")
    facts = ran(steps=own, settings=GPU, hot_lines=HotLines(lines=(line,), sampled_s=5.0))
    text = judge(overhead, facts).findings[0].fixes[0].text
    assert "compile" not in text
    assert text.startswith("- for batch in ds:\n+ @tf.function\n")


def test_a_loop_inside_a_function_can_only_do_more_in_a_step() -> None:
    facts = ran(steps=replace(AT_REST, label="loop", kind="scan"), settings=GPU)
    assert "larger batch" in judge(overhead, facts).findings[0].fixes[0].text


def test_train_on_batch_which_takes_one_step_a_call_is_told_to_fit() -> None:
    facts = ran(steps=replace(AT_REST, label="train_on_batch", kind="call"), settings=GPU)
    assert "model.fit(ds" in judge(overhead, facts).findings[0].fixes[0].text
