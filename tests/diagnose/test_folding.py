"""Symptoms stand under their cause, and the order tells what to do first."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.diagnose.folding import fold
from gpudoctor.model.finding import Finding, Severity


def found(code: str, cause: str, severity: Severity = Severity.ERROR, confidence: float = 0.9) -> Finding:
    return Finding(
        summary=f"{code} fired", severity=severity, confidence=confidence, basis="test", code=code, cause=cause
    )


def test_a_missing_library_explains_that_tensorflow_sees_no_gpu_and_that_the_probe_ran_on_the_cpu() -> None:
    folded = fold(
        [found("GD301", "cpu-placement"), found("GD203", "missing-cuda-libs"), found("GD112", "cpu-placement")]
    )
    assert [(each.code, each.caused_by) for each in folded] == [
        ("GD203", None),
        ("GD112", "GD203"),
        ("GD301", "GD203"),
    ]


def test_a_chain_is_folded_under_its_root_not_under_the_middle() -> None:
    folded = fold(
        [
            found("GD301", "cpu-placement"),
            found("GD106", "container-no-gpu"),
            found("GD104", "kernel-module-not-loaded"),
        ]
    )
    assert folded[0].code == "GD106"
    assert {each.caused_by for each in folded[1:]} == {"GD106"}


def test_a_mere_suspicion_never_explains_an_error() -> None:
    folded = fold(
        [found("GD203", "missing-cuda-libs", Severity.INFO, 0.2), found("GD301", "cpu-placement", Severity.ERROR)]
    )
    assert [(each.code, each.caused_by) for each in folded] == [("GD301", None), ("GD203", None)]


def test_two_checks_with_one_cause_are_one_trouble() -> None:
    folded = fold([found("GD301", "cpu-placement"), found("GD112", "cpu-placement")])
    assert [(each.code, each.caused_by) for each in folded] == [("GD112", None), ("GD301", "GD112")]


def test_two_findings_of_one_check_stand_side_by_side() -> None:
    folded = fold([found("GD801", "throttle"), found("GD801", "throttle")])
    assert [each.caused_by for each in folded] == [None, None]


def test_unrelated_troubles_are_ordered_by_severity_then_depth() -> None:
    folded = fold(
        [
            found("GD601", "mixed-precision-off", Severity.INFO),
            found("GD801", "throttle", Severity.WARNING),
            found("GD302", "cpu-build", Severity.ERROR),
        ]
    )
    assert [each.code for each in folded] == ["GD302", "GD801", "GD601"]


def test_a_cause_that_only_a_third_party_knows_is_kept() -> None:
    folded = fold([found("AC101", "acme-cooling", Severity.WARNING)])
    assert folded[0].caused_by is None


def test_a_note_explains_nothing() -> None:
    notes = [found("GD504", "numpy-hot-loop", Severity.INFO), found("GD501", "input-pipeline", Severity.INFO)]
    assert [each.caused_by for each in fold(notes)] == [None, None]


def test_what_is_wrong_with_one_gpu_does_not_explain_what_is_wrong_with_another() -> None:
    lost = replace(found("GD802", "hardware-power-heat"), subject="GPU 1")
    hot = found("GD801", "throttle", Severity.ERROR, 0.8)
    for subject, caused_by in (("GPU 0", None), ("GPU 1", "GD802"), ("", "GD802")):
        folded = fold([lost, replace(hot, subject=subject)])
        assert next(each.caused_by for each in folded if each.code == "GD801") == caused_by


def test_not_even_over_a_finding_that_is_about_no_gpu() -> None:
    gone = replace(found("GD802", "hardware-power-heat"), subject="GPU 0")
    middle = found("GD112", "container-no-gpu")
    other = replace(found("GD801", "cpu-placement"), subject="GPU 1")
    folded = {each.code: each.caused_by for each in fold([gone, middle, other])}
    assert folded["GD801"] in {None, "GD112"}
