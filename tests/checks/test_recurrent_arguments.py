"""GD619: arguments that rule out cuDNN are named; on a CPU that is a note."""

from __future__ import annotations

from gpudoctor.model.finding import Severity
from gpudoctor.testing import judge
from gpudoctor_checks.compute.recurrent_arguments import recurrent
from tests.checks.runs import case, make_settings, ran

GOOD = "activation=tanh, recurrent_activation=sigmoid, recurrent_dropout=0.0, unroll=False, use_bias=True"
BAD = GOOD.replace("recurrent_dropout=0.0", "recurrent_dropout=0.2")
CASE = case(
    "GD619",
    {"settings": make_settings(gpus=1, recurrent=BAD)},
    {"settings": make_settings(gpus=1, recurrent=GOOD)},
    "settings",
)


def test_the_argument_is_named_with_what_is_wanted() -> None:
    (finding,) = judge(recurrent, CASE.fires).findings
    assert finding.fixes[0].text == "- recurrent_dropout=0.2\n+ recurrent_dropout=0"
    assert finding.severity is Severity.WARNING


def test_on_a_cpu_it_is_a_note() -> None:
    (finding,) = judge(recurrent, ran(settings=make_settings(recurrent=BAD))).findings
    assert finding.severity is Severity.INFO
