"""Settings merge by strength, and a mistake in them is an error that names file, key and cure."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpudoctor.cli.configuration import Settings, load
from gpudoctor.cli.judging import with_rules
from gpudoctor.diagnose import registry
from gpudoctor.errors import UsageError
from gpudoctor.model.finding import Severity


def settings_of(
    folder: Path, text: str = "", *, name: str = "gpudoctor.toml", environ: dict[str, str] | None = None
) -> Settings:
    if text:
        (folder / name).write_text(text)
    return load(folder=folder, environ={"XDG_CONFIG_HOME": str(folder / "none"), **(environ or {})})


def test_without_any_file_the_defaults_stand(tmp_path: Path) -> None:
    assert settings_of(tmp_path).fail_on == "error"


def test_variables_outrank_the_project_and_the_project_outranks_the_user(tmp_path: Path) -> None:
    user = tmp_path / "config" / "gpudoctor"
    user.mkdir(parents=True)
    (user / "gpudoctor.toml").write_text('fail-on = "info"\ntimeout = 9\nselect = ["GD1"]\n')
    (tmp_path / "pyproject.toml").write_text('[tool.gpudoctor]\nfail-on = "warning"\ntimeout = 5\n')
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "GPUDOCTOR_FAIL_ON": "never"}
    merged = load(folder=tmp_path, environ=environ)
    assert (merged.fail_on, merged.timeout, merged.select) == ("never", 5, ("GD1",))


def test_a_project_file_is_found_from_a_folder_below(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "gpudoctor.toml").write_text("strict = true\n")
    assert load(folder=below, environ={"XDG_CONFIG_HOME": str(tmp_path / "none")}).strict


def test_rules_set_a_severity(tmp_path: Path) -> None:
    merged = settings_of(tmp_path, '[rules.GD801]\nseverity = "error"\n')
    assert merged.severities == {"GD801": Severity.ERROR}


def test_rules_set_thresholds(tmp_path: Path) -> None:
    merged = settings_of(
        tmp_path, '[rules.GD801]\nseverity = "info"\nslowdown_ratio = 3\n[rules.GD331]\ncrawl_ratio = 20.5\n'
    )
    assert merged.thresholds == {"GD801": {"slowdown_ratio": 3}, "GD331": {"crawl_ratio": 20.5}}
    assert merged.severities == {"GD801": Severity.INFO}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('fail_on = "error"', "did you mean 'fail-on'"),
        ('fail-on = "fatal"', "error, warning, info, never"),
        ("strict = 1", "true or false"),
        ('timeout = "3"', "a number"),
        ("timeout = true", "a number"),
        ('select = "GD1"', "list of check names"),
        ('[rules.GD801]\nlevel = "error"', "unknown key 'level'"),
        ('[rules.GD801]\nseverity = "loud"', "severity must be one of"),
        ('[rules.GD801]\nslowdown_ratio = "3"', "no number: '3'"),
        ("[rules.GD801]\nslowdown_ratio = true", "no number: True"),
        ("[rules.GD801]\nslowdown_ratio = [3]", "no number"),
        ("rules = 7", "a table is expected"),
        ("[tool", "not valid TOML"),
    ],
)
def test_a_mistake_is_named_with_its_cure(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        settings_of(tmp_path, text)


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "gpudoctor.toml").write_bytes(b'select = ["\xff"]')
    with pytest.raises(UsageError, match="not UTF-8"):
        settings_of(tmp_path)


def test_a_bad_number_in_a_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="GPUDOCTOR_TIMEOUT"):
        settings_of(tmp_path, environ={"GPUDOCTOR_TIMEOUT": "soon"})


@pytest.mark.parametrize(("text", "strict"), [("on", True), ("TRUE", True), ("0", False), ("No", False)])
def test_a_switch_in_a_variable_takes_the_usual_words(tmp_path: Path, text: str, strict: bool) -> None:
    assert settings_of(tmp_path, environ={"GPUDOCTOR_STRICT": text}).strict is strict


@pytest.mark.parametrize("text", ["enabled", "2", "ture"])
def test_another_word_for_a_switch_is_refused_with_those_that_are_known(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="GPUDOCTOR_STRICT: one of 1, true, yes, on, 0, false, no, off"):
        settings_of(tmp_path, environ={"GPUDOCTOR_STRICT": text})


def test_a_variable_that_nothing_reads_is_told_with_the_nearest_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = {"GPUDOCTOR_OFF": "0", "GPUDOCTOR_SYSROOT": "/", "GPUDOCTOR_TEST_X": "1", "GPUDOCTOR_FAIL_ON": "never"}
    settings_of(tmp_path, environ=read)
    assert capsys.readouterr().err == ""
    settings_of(tmp_path, environ={"GPUDOCTOR_STRCIT": "1", "GPUDOCTOR_\x1b[31m": "1"})
    said = capsys.readouterr().err
    assert "GPUDOCTOR_STRCIT is not read by anything; did you mean GPUDOCTOR_STRICT?" in said
    assert "\x1b" not in said


@pytest.mark.parametrize("kind", ["dangling", "loop", "folder", "pipe"])
def test_what_bears_the_name_of_the_configuration_and_is_no_file_is_named(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "gpudoctor.toml"
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("gpudoctor.toml" if kind == "loop" else "nowhere")
    with pytest.raises(UsageError, match=r"gpudoctor\.toml: (a link that leads to no file|not a file)"):
        settings_of(tmp_path)


def test_the_mark_that_editors_on_windows_put_first_is_no_part_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "gpudoctor.toml").write_bytes(b'\xef\xbb\xbffail-on = "info"\n')
    assert settings_of(tmp_path).fail_on == "info"


def test_a_rule_by_the_name_of_a_check_is_told_its_code(tmp_path: Path) -> None:
    for rule in ('severity = "info"', "slowdown_ratio = 0.5"):
        with pytest.raises(UsageError, match=r"write \[rules\.GD801\]"):
            with_rules(registry.load(), settings_of(tmp_path, f"[rules.throttle]\n{rule}\n"))
