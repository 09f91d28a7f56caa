"""`gpudoctor compare`: what changed, and a gate on step times that does not pass where nothing could be compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpudoctor.profile.record import SessionWriter
from tests.system.command import Json, Run, assert_clean, bare_environment, gpudoctor

MACHINES = Path(__file__).parents[2] / "fixtures/machines"
HEALTHY = MACHINES / "healthy-h100/snapshot.json"


def compare(folder: Path, *arguments: str | Path) -> Run:
    run = gpudoctor("compare", *arguments, env=bare_environment(folder / "home"))
    assert_clean(run)
    return run


def slower(folder: Path, factor: float, *, version: str = "") -> Path:
    """Return the healthy machine with each step of the baseline so many times as long."""
    document: Json = json.loads(HEALTHY.read_text(encoding="utf-8"))
    for arm in document["probe"]["trials"]["baseline"]["arms"]:
        arm["step_s"] *= factor
    if version:
        document["tensorflow"]["version"] = version
    path = folder / "slower.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_machine_does_not_differ_from_itself(tmp_path: Path) -> None:
    run = compare(tmp_path, HEALTHY, HEALTHY, "--max-regression", "0")
    assert run.code == 0
    assert "0 new, 0 gone" in run.out
    assert "FACTS" not in run.out


@pytest.mark.parametrize(
    ("factor", "allowed", "code"), [(1.05, "10", 0), (1.15, "10", 1), (0.5, "0", 0), (1.15, "20%", 0)]
)
def test_the_gate_looks_at_how_much_longer_a_step_takes(factor: float, allowed: str, code: int, tmp_path: Path) -> None:
    run = compare(tmp_path, HEALTHY, slower(tmp_path, factor), "--max-regression", allowed)
    assert run.code == code, run.out
    assert "One run against one run" in run.out


def test_without_a_gate_a_difference_is_no_failure(tmp_path: Path) -> None:
    assert compare(tmp_path, HEALTHY, slower(tmp_path, 9)).code == 0


def test_what_may_explain_it_stands_beside_it(tmp_path: Path) -> None:
    run = compare(tmp_path, HEALTHY, slower(tmp_path, 1.5, version="2.99.0"))
    assert "-> 2.99.0" in run.out
    assert "+50.0 %" in run.out


def test_new_and_gone_findings_are_listed(tmp_path: Path) -> None:
    broken = MACHINES / "h100-driver-535-cannot-compile/snapshot.json"
    there, back = compare(tmp_path, HEALTHY, broken), compare(tmp_path, broken, HEALTHY)
    assert "+ error    GD101" in there.out
    assert "- error    GD101" in back.out


def test_a_trial_that_worked_and_now_fails_is_a_regression(tmp_path: Path) -> None:
    broken = MACHINES / "h100-driver-535-cannot-compile/snapshot.json"
    assert compare(tmp_path, HEALTHY, broken, "--max-regression", "50").code == 1
    assert compare(tmp_path, broken, HEALTHY, "--max-regression", "50").code == 0


def test_where_nothing_can_be_compared_the_gate_does_not_pass(tmp_path: Path) -> None:
    quick = MACHINES / "t4-no-tensorflow/snapshot.json"
    run = compare(tmp_path, quick, quick, "--max-regression", "10")
    assert run.code == 3
    assert "nothing to compare, so not passed (exit 3): neither of the two holds a trial" in run.out
    assert "gpudoctor scan --json -o FILE" in run.out


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ("t4-no-tensorflow", "healthy-h100", "the first holds no trial"),
        ("healthy-h100", "t4-no-tensorflow", "the second holds no trial"),
        ("t4-no-tensorflow", "t4-no-tensorflow", "neither of the two holds a trial"),
    ],
)
def test_it_says_which_of_the_two_lacks_trials(first: str, second: str, says: str, tmp_path: Path) -> None:
    files = [MACHINES / name / "snapshot.json" for name in (first, second)]
    text, document = (
        compare(tmp_path, *files, *more) for more in (("--max-regression", "9"), ("--json", "--max-regression", "9"))
    )
    assert (text.code, document.code) == (3, 3)
    assert says in text.out
    assert says in document.document["regression"]["reason"]


def test_trials_that_end_without_a_time_are_nothing_to_compare(tmp_path: Path) -> None:
    untimed: Json = json.loads(HEALTHY.read_text(encoding="utf-8"))
    for trial in untimed["probe"]["trials"].values():
        trial["status"] = "inconclusive"
    path = tmp_path / "untimed.json"
    path.write_text(json.dumps(untimed), encoding="utf-8")
    run = compare(tmp_path, path, path, "--max-regression", "10")
    assert run.code == 3
    assert "no trial measured a step in both" in run.out


def test_what_explains_most_stands_before_what_explains_little(tmp_path: Path) -> None:
    one: Json = json.loads(HEALTHY.read_text(encoding="utf-8"))
    other: Json = json.loads(HEALTHY.read_text(encoding="utf-8"))
    one["packages"] |= {f"aaa{number}": "1.0" for number in range(40)}
    one["packages"] |= {"numpy": "1.26.4", "wrapt": "1.14.1"}
    other["packages"] |= {"numpy": "2.2.6", "wrapt": "2.0.0", "zzz": "3"}
    other["tensorflow"]["version"], other["nvml"]["driver_version"] = "2.99.0", "999.1"
    paths = [tmp_path / name for name in ("one.json", "other.json")]
    for path, document in zip(paths, (one, other), strict=True):
        path.write_text(json.dumps(document), encoding="utf-8")
    run = compare(tmp_path, *paths)
    told = [run.out.index(word) for word in ("  driver ", "  TensorFlow ", "package numpy", "OTHER PACKAGES")]
    assert told == sorted(told)
    assert max(told) < min(run.out.index(word) for word in ("wrapt 1.14.1 -> 2.0.0", "aaa0 1.0", "zzz 3"))
    assert "OTHER PACKAGES  1 other version, 40 first only, 1 second only" in run.out
    assert all(f"aaa{number} 1.0" in run.out.replace("\n    ", " ") for number in range(40)), "nothing is left out"
    assert run.out.count("\n") < 40
    facts = compare(tmp_path, *paths, "--json").document["facts"]
    assert len(facts) == 45
    assert {each["group"] for each in facts} == {"machine", "stack", "package"}


def test_a_list_that_one_side_never_took_is_one_difference(tmp_path: Path) -> None:
    sparse: Json = json.loads(HEALTHY.read_text(encoding="utf-8"))
    listed = len(sparse.pop("packages"))
    path = tmp_path / "sparse.json"
    path.write_text(json.dumps(sparse), encoding="utf-8")
    run = compare(tmp_path, path, HEALTHY)
    counts = [int(line.split()[-2]) for line in run.out.splitlines() if "packages" in line and "unknown ->" in line]
    assert sum(counts) == listed, "each package is counted, none is called new"
    assert "package numpy" not in run.out


def test_json_holds_the_same(tmp_path: Path) -> None:
    run = compare(tmp_path, HEALTHY, slower(tmp_path, 2), "--json", "--max-regression", "10")
    assert run.code == 1
    document = run.document
    assert document["regression"]["steps"][0]["trial"] == "baseline"
    assert {each["ratio"] for each in document["steps"] if each["trial"] == "baseline"} == {2.0}
    assert document["findings"]["new"] == []


def test_reports_snapshots_and_bundles_can_be_mixed(tmp_path: Path) -> None:
    env = bare_environment(tmp_path / "home")
    report = gpudoctor("scan", "--json", "-o", tmp_path / "report.json", "--snapshot", HEALTHY, env=env)
    bundle = gpudoctor("bundle", "--snapshot", HEALTHY, "--yes", "-o", tmp_path / "b.tgz", env=env)
    assert (report.code, bundle.code) == (0, 0)
    for one, other in ((tmp_path / "report.json", tmp_path / "b.tgz"), (HEALTHY, tmp_path / "b.tgz")):
        assert "0 new, 0 gone" in compare(tmp_path, one, other, "--max-regression", "0").out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((HEALTHY,), "FILE"),
        ((HEALTHY, "nowhere.json"), "nowhere.json: cannot be read"),
        (("-", "-"), "only one of the two"),
        ((HEALTHY, HEALTHY, "--max-regression", "-5"), "percentage of 0 or more"),
        ((HEALTHY, HEALTHY, "--max-regression", "lots"), "percentage of 0 or more"),
    ],
)
def test_what_cannot_be_compared_is_refused(words: tuple[str | Path, ...], says: str, tmp_path: Path) -> None:
    run = compare(tmp_path, *words)
    assert (run.code, run.out) == (2, "")
    assert says in run.err


def test_two_sessions_are_compared_by_their_files(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.session", "two.session")]
    for each in files:
        writer = SessionWriter(each)
        writer.note(session="x", command=["python", "train.py"], started_at=1.0, outcome="ended", exit_code=0)
        writer.close()
    run = compare(tmp_path, *files)
    assert run.code == 0
    assert "0 new, 0 gone" in run.out


@pytest.mark.parametrize("name", ["x" * 300, "nosuchsession", "."])
def test_what_is_neither_file_nor_session_is_told_as_a_file_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    run = compare(tmp_path, HEALTHY, name)
    assert run.code == 2
    assert "cannot be read" in run.err
