"""Fixes come in the order in which a person should apply them."""

from __future__ import annotations

from gpudoctor.diagnose.ranking import proven, rank, together
from gpudoctor.model.finding import Finding, Fix, Gain, Grade, Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.run import Breakdown


def fix(name: str, gain: Gain, effort: float = 5.0) -> Fix:
    return Fix(id=name, title=name, action="command", text=name, gain=gain, effort_minutes=effort)


def finding(
    code: str,
    *fixes: Fix,
    confidence: float = 1.0,
    caused_by: str | None = None,
    severity: Severity = Severity.WARNING,
) -> Finding:
    return Finding(
        summary=code,
        severity=severity,
        confidence=confidence,
        basis="test",
        code=code,
        fixes=fixes,
        caused_by=caused_by,
    )


def sped_up(speedup: float, grade: Grade = Grade.ESTIMATE) -> Gain:
    return Gain(grade=grade, speedup=speedup, low=speedup * 0.95, high=speedup * 1.05)


def names(*findings: Finding) -> list[str]:
    return [each.id for each in rank(findings)]


def test_what_unblocks_comes_before_any_speed_up() -> None:
    fast = fix("fast", sped_up(9.0))
    assert names(finding("GD601", fast), finding("GD203", fix("unblock", Gain(grade=Grade.UNBLOCKS)))) == [
        "unblock",
        "fast",
    ]


def test_time_saved_is_weighed_by_confidence() -> None:
    doubtful = finding("GD501", fix("doubtful", sped_up(4.0)), confidence=0.3)  # 0.75 x 0.3
    sure = finding("GD601", fix("sure", sped_up(1.6)), confidence=0.9)  # 0.375 x 0.9
    assert names(doubtful, sure) == ["sure", "doubtful"]


def test_on_a_tie_the_better_grade_wins_then_the_lower_effort() -> None:
    bound = fix("bound", sped_up(2.0, Grade.BOUND))
    estimate = fix("estimate", sped_up(2.0))
    assert names(finding("GD501", bound, estimate)) == ["estimate", "bound"]
    slow, quick = fix("slow", Gain(grade=Grade.UNPROVEN), 60), fix("quick", Gain(grade=Grade.UNPROVEN), 1)
    assert names(finding("GD501", slow, quick)) == ["quick", "slow"]


def test_a_measured_gain_whose_interval_touches_the_noise_is_unproven() -> None:
    touching = Gain(grade=Grade.MEASURED, speedup=1.3, low=1.01, high=1.6)
    assert proven(touching).grade is Grade.UNPROVEN
    assert proven(touching).speedup is None
    assert proven(sped_up(1.3, Grade.MEASURED)).grade is Grade.MEASURED


def test_one_fix_of_two_findings_is_listed_once_with_both_codes() -> None:
    same = fix("same", Gain(grade=Grade.UNBLOCKS))
    ranked = rank([finding("GD203", same), finding("GD204", same)])
    assert [each.addresses for each in ranked] == [("GD203", "GD204")]


def test_fixes_of_folded_symptoms_are_not_offered() -> None:
    assert names(finding("GD301", fix("useless", Gain(grade=Grade.UNBLOCKS)), caused_by="GD203")) == []


def test_what_mends_a_trouble_comes_before_what_a_note_offers() -> None:
    note = finding("GD501", fix("note", sped_up(9.0)), severity=Severity.INFO)
    docker = finding("GD106", fix("docker", Gain(grade=Grade.UNBLOCKS)), severity=Severity.INFO)
    sick = finding("GD801", fix("cool", Gain(grade=Grade.UNPROVEN)))
    assert names(note, docker, sick) == ["cool", "docker", "note"]


def test_all_fixes_of_a_run_together_leave_its_compute() -> None:
    assert together(Breakdown(input=0.5, host=0.2, tracing=0.05, compute=0.25)) == 4.0
    assert together(Breakdown(input=Missing("unknown"), compute=0.25)) is None


def test_the_same_change_under_two_names_is_one_fix_of_both_findings() -> None:
    install = fix("install", Gain(grade=Grade.UNBLOCKS))
    again = Fix(id="again", title="Again", action="command", text="install", gain=Gain(grade=Grade.UNBLOCKS))
    (one,) = rank((finding("GD203", install), finding("GD351", again), finding("GD353", install)))
    assert (one.id, one.addresses) == ("install", ("GD203", "GD351", "GD353"))


def test_one_release_is_installed_once_by_the_more_complete_command() -> None:
    def install(name: str, text: str, release: str = "2.20.0") -> Fix:
        gain = Gain(grade=Grade.UNBLOCKS)
        return Fix(id=name, title=name, action="command", text=text, gain=gain, release=release)

    plain = install("plain", "pip install 'tensorflow[and-cuda]==2.20.0'")
    pinned = install("pinned", f"{plain.text} 'nvidia-cudnn-cu12<9.11'")
    other = install("other", "pip install --force-reinstall --no-deps 'tensorflow==2.20.0'")
    older = install("older", "pip install 'tensorflow[and-cuda]==2.16.2'", "2.16.2")
    for order in ((plain, pinned), (pinned, plain)):
        first, *rest = rank((finding("GD203", order[0]), finding("GD351", order[1], older, other)))
        assert (first.text, first.addresses) == (pinned.text, ("GD203", "GD351"))
        assert [each.id for each in rest] == ["older", "other"]


def test_a_fix_of_the_first_trouble_leads_though_what_it_brings_is_not_known() -> None:
    graph = finding("GD611", fix("whole-step", Gain(grade=Grade.UNPROVEN)))
    host = finding("GD513", fix("take-out", sped_up(1.3, Grade.BOUND)))
    assert names(graph, host) == ["whole-step", "take-out"]
    assert names(host, graph) == ["take-out", "whole-step"]
    blocked = finding("GD203", fix("unblock", Gain(grade=Grade.UNBLOCKS)))
    assert names(graph, host, blocked) == ["unblock", "whole-step", "take-out"]


def test_a_note_leads_nothing() -> None:
    note = finding("GD611", fix("idea", Gain(grade=Grade.UNPROVEN)), severity=Severity.INFO)
    assert names(note, finding("GD513", fix("take-out", sped_up(1.3)))) == ["take-out", "idea"]
