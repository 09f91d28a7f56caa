"""`gpudoctor config show`: each value with its source, and the same refusals as a scan."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.system.command import Run, assert_clean, bare_environment, gpudoctor


def config(folder: Path, *arguments: str, project: str = "", user: str = "", **variables: str) -> Run:
    env = bare_environment(folder / "home", **variables)
    if user:
        (folder / "home/.config/gpudoctor").mkdir(parents=True)
        (folder / "home/.config/gpudoctor/gpudoctor.toml").write_text(user, encoding="utf-8")
    (folder / "project").mkdir()
    if project:
        (folder / "project/gpudoctor.toml").write_text(project, encoding="utf-8")
    run = gpudoctor("config", *arguments, env=env, folder=folder / "project")
    assert_clean(run)
    return run


def test_each_value_names_its_source(tmp_path: Path) -> None:
    run = config(
        tmp_path,
        "show",
        "--json",
        project='fail-on = "warning"\nselect = ["GD1"]\n[rules.GD101]\nseverity = "info"\n',
        user="timeout = 9\nstrict = true\n",
        GPUDOCTOR_TIMEOUT="4",
    )
    told = {each["key"]: (each["value"], Path(each["source"]).name) for each in run.document["settings"]}
    assert told == {
        "select": (["GD1"], "gpudoctor.toml"),
        "ignore": ([], "default"),
        "fail-on": ("warning", "gpudoctor.toml"),
        "strict": (True, "gpudoctor.toml"),
        "timeout": (4.0, "GPUDOCTOR_TIMEOUT"),
        "python": (None, "default"),
        "rules.GD101.severity": ("info", "gpudoctor.toml"),
    }


def test_thresholds_are_listed_with_default_unit_and_source(tmp_path: Path) -> None:
    run = config(tmp_path, "show", "--json", project="[rules.GD801]\nslowdown_ratio = 3\n")
    told = {each["key"]: each for each in run.document["thresholds"]}
    moved, kept = told["rules.GD801.slowdown_ratio"], told["rules.GD804.at_work_percent"]
    assert (moved["value"], moved["default"], Path(moved["source"]).name) == (3, 2.0, "gpudoctor.toml")
    assert (kept["value"], kept["unit"], kept["source"]) == (5.0, "%", "default")


def test_show_is_the_default_and_says_it_in_columns(tmp_path: Path) -> None:
    run = config(tmp_path, GPUDOCTOR_FAIL_ON="info")
    told = [line.split() for line in run.lines]
    assert ["fail-on", '"info"', "GPUDOCTOR_FAIL_ON"] in told
    assert ["strict", "false", "default"] in told


@pytest.mark.parametrize(
    ("project", "says"),
    [
        ('fail_on = "error"', "did you mean 'fail-on'"),
        ('[rules.GD999]\nseverity = "error"', "rules.GD999: no check has this code"),
        ("[rules.GD999]\nslowdown_ratio = 3", "rules.GD999: no check has this code"),
        ("[rules.GD801]\nslowdown_rato = 3", "did you mean 'slowdown_ratio'"),
        ("[rules.GD801]\nslowdown_ratio = 0.5", "a number .times. 1 or more, not 0.5"),
        ("[rules.GD801]\nslowdown_ratio = nan", "1 or more, not nan"),
        ("[rules.GD804]\nat_work_percent = inf", "from 0 to 100, not inf"),
        ("[rules.GD804]\nat_work_percent = " + "9" * 4_000, "at_work_percent must be a number"),
        ("[rules.GD804]\nat_work_percent = -1e400", "from 0 to 100, not -inf"),
        ('[rules.GD801]\n"\\u001b[31mslow" = 3', "unknown key"),
        ('[rules.GD801]\nslowdown_ratio = "\\u001b[31m\\u202e"', "no number"),
        ("[rules.GD801]\n" + "x" * 100_000 + " = 3", "unknown key"),
        ("[rules.GD801.slowdown_ratio]\na = 1", "no number"),
        ("[[rules.GD801]]\na = 1", "a table is expected"),
        ('select = ["GD999"]', "no check is called 'GD999'"),
        ("x = " + "[" * 10_000, "not valid TOML|too deeply|nest"),
        ("timeout = 1e400", "timeout must be a number of seconds"),
        ("timeout = " + "9" * 5_000, "timeout|not valid TOML"),
        ('python = "\x1b[31m"', "not valid TOML"),
        ('"\\u001b[31m" = 1', "unknown key"),
        ('[rules."\\u001b[31mGD1"]\nseverity = "error"', "no check has this code"),
        ('[rules."\\u001b[31mGD1"]\nseverity = 3', "severity must be one of"),
        ('select = ["\\u001b[31m"]', "no check is called"),
        ('fail-on = "' + "x" * 1_000_000 + '"', "fail-on must be one of"),
        ('fail-on = "\\u001b[31m\\u202e"', "fail-on must be one of"),
    ],
)
def test_a_mistake_or_an_attack_is_told_in_a_sentence(project: str, says: str, tmp_path: Path) -> None:
    run = config(tmp_path, project=project)
    assert (run.code, run.out) == (2, "")
    assert re.search(says, run.err), run.err
    assert "\x1b" not in run.err
    assert "\u202e" not in run.err
    assert len(run.err) < 600, run.err
    assert len(run.err.splitlines()) == 1


def test_a_moved_threshold_decides_in_a_scan_and_is_told(tmp_path: Path) -> None:
    machine = Path(__file__).parents[2] / "fixtures/machines/h100-hardware-thermal-slowdown-quick/snapshot.json"
    env = bare_environment(tmp_path / "home")

    def scanned(project: str) -> tuple[str, object]:
        (tmp_path / "gpudoctor.toml").write_text(project, encoding="utf-8")
        report = gpudoctor("scan", "--json", "--snapshot", machine, env=env, folder=tmp_path).document
        verdict = next(each for each in report["checks"] if each["code"] == "GD801")
        return next(each["severity"] for each in report["findings"] if each["code"] == "GD801"), verdict["moved"]

    assert scanned("") == ("error", {})
    assert scanned("[rules.GD801]\nslowdown_ratio = 100\n") == ("warning", {"slowdown_ratio": 100})


def test_a_scan_says_that_the_configuration_chose_the_interpreter(tmp_path: Path) -> None:
    (tmp_path / "gpudoctor.toml").write_text(f'python = "{sys.executable}"\n', encoding="utf-8")
    run = gpudoctor("scan", "--level", "quick", "--json", env=bare_environment(tmp_path / "home"), folder=tmp_path)
    assert run.document["target"]["chosen_by"] == "--python, from the configuration"
