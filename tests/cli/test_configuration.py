"""Settings merge by strength, and a mistake in them is an error that names file, key and cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.cli.configuration import Settings, load
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
