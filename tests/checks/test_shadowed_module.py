"""GD312: files beside the script that are named like what TensorFlow imports."""

from __future__ import annotations

from gpudoctor.model.finding import Severity
from gpudoctor.model.missing import Missing
from gpudoctor.testing import judge
from gpudoctor_checks.tensorflow.shadowed_module import shadowed
from tests.checks.case import Case
from tests.checks.machines import changed, healthy_t4, with_trial
from tests.checks.trials import broken, trained

CLEAN = with_trial(changed(healthy_t4(), python={"shadowing": ()}), None)
CASE = Case(
    check_code="GD312",
    fires=changed(CLEAN, python={"shadowing": ("random.py", "tensorflow.py")}),
    near_miss=CLEAN,
    lacking=changed(CLEAN, python={"shadowing": Missing("not looked for")}),
    trial_variants=(broken(), trained()),
)


def test_it_names_the_files_and_the_cure_moves_the_first_out_of_the_way() -> None:
    (finding,) = judge(shadowed, CASE.fires).findings
    assert finding.severity is Severity.WARNING
    assert finding.summary.startswith("random.py, tensorflow.py in this folder")
    assert finding.fixes[0].text == "mv random.py my_random.py"


def test_a_package_is_renamed_as_a_folder() -> None:
    (finding,) = judge(shadowed, changed(CLEAN, python={"shadowing": ("numpy/",)})).findings
    assert finding.fixes[0].text == "mv numpy my_numpy"


def test_a_training_in_the_probes_empty_folder_does_not_refute_it() -> None:
    (finding,) = judge(shadowed, with_trial(CASE.fires, trained())).findings
    assert finding.confidence > judge(shadowed, CASE.fires).findings[0].confidence
