"""Settings from files and variables: command line > GPUDOCTOR_* > project > user > default.

The project's file is `gpudoctor.toml`, or `[tool.gpudoctor]` in `pyproject.toml`, in the current folder or above it.
An unknown key is an error with the nearest right name: a setting that is silently ignored is worse than none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeGuard, cast

from gpudoctor.errors import UsageError
from gpudoctor.examine.read_file import read_bounded
from gpudoctor.model.finding import Severity
from gpudoctor.model.words import FailOn
from gpudoctor.present.style import printable

MAX_BYTES = 8 * 1024 * 1024  # a pyproject.toml of a megabyte is already strange
FAIL_ON: tuple[FailOn, ...] = ("error", "warning", "info", "never")
SEVERITY = "severity"  # what every rule has; the rest are thresholds of the check
KEYS = ("select", "ignore", "fail-on", "strict", "timeout", "python", "rules")
SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
# Variables of ours that are no settings: they are read elsewhere, by the agent, the tests and the measurements.
OTHER_VARIABLES = frozenset(
    {
        "GPUDOCTOR_BENCHMARK", "GPUDOCTOR_CI_SCRATCH", "GPUDOCTOR_DEBUG", "GPUDOCTOR_NEW_PICTURES", "GPUDOCTOR_OFF",
        "GPUDOCTOR_SPOOL", "GPUDOCTOR_SYSROOT", "GPUDOCTOR_WINDOWS",
    }
)  # fmt: skip
OURS, OF_TESTS = "GPUDOCTOR_", "GPUDOCTOR_TEST_"
Table = dict[str, Any]  # a TOML table: values of any TOML type, checked key by key


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What may be configured; None or empty: not set. `severities` by check code, `thresholds` by code and name.

    Which thresholds there are is the checks' to say: `diagnose.tuning` refuses what none declares.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: FailOn = "error"
    strict: bool = False
    timeout: float | None = None
    python: str | None = None
    severities: Mapping[str, Severity] = field(default_factory=dict[str, Severity])
    thresholds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])


def load(*, folder: Path, environ: Mapping[str, str]) -> Settings:
    """Return the merged settings.

    Raises UsageError naming file and key for anything that cannot be used.
    """
    warn_of_unknown_variables(environ)
    return _settings(merged(folder=folder, environ=environ))


def merged(*, folder: Path, environ: Mapping[str, str]) -> Mapping[str, tuple[str, Any]]:
    """Return each key that is set, with the source that wins and its value. Raises UsageError for an unknown key."""
    strongest: dict[str, tuple[str, Any]] = {}
    for source, table in _tables(folder, environ):
        _check_keys(source, table, KEYS)
        strongest.update({key: (source, value) for key, value in table.items()})
    return strongest


def _tables(folder: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, Table]]:
    """Yield the sources from the weakest to the strongest."""
    home = environ.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())
    user = Path(home) / "gpudoctor" / "gpudoctor.toml"
    if _is_there(user):
        yield str(user), read_toml(user)
    project = _project_file(folder)
    if project is not None:
        yield project
    for key, value in _variables(environ):
        yield _variable(key), {key: value}


def _project_file(folder: Path) -> tuple[str, Table] | None:
    for place in (folder, *folder.parents):
        own = place / "gpudoctor.toml"
        if _is_there(own):
            return str(own), read_toml(own)
        shared = place / "pyproject.toml"
        if shared.is_file():
            if b"gpudoctor" not in _bytes_of(shared):
                return None
            tool: object = read_toml(shared).get("tool", {})
            section: object = tool.get("gpudoctor", {}) if _is_table(tool) else {}
            return f"{shared} [tool.gpudoctor]", _table(str(shared), section)
    return None


def _is_there(path: Path) -> bool:
    """Return whether the file exists; what bears the name and is no file would be ignored silently otherwise."""
    if path.is_file():
        return True
    if os.path.lexists(path):
        kind = "a link that leads to no file" if path.is_symlink() else "not a file"
        raise UsageError(f"{path}: {kind}; remove it, or put the settings there")
    return False


def warn_of_unknown_variables(environ: Mapping[str, str]) -> None:
    """Tell on stderr of a GPUDOCTOR_ variable that nothing reads: a misspelt one changes nothing, and nobody sees why."""
    known = {_variable(key) for key in KEYS if key != "rules"} | OTHER_VARIABLES
    for name in sorted(environ):
        if name.startswith(OURS) and not name.startswith(OF_TESTS) and name not in known:
            close = get_close_matches(name, sorted(known), n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            sys.stderr.write(f"gpudoctor: {printable(name)} is not read by anything{hint}\n")


def _variables(environ: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for key in KEYS:
        value = environ.get(_variable(key))
        if value and key != "rules":
            yield key, _as_toml_would(key, value)


def _variable(key: str) -> str:
    return f"GPUDOCTOR_{key.replace('-', '_').upper()}"


def _as_toml_would(key: str, text: str) -> Any:
    if key in {"select", "ignore"}:
        return [each.strip() for each in text.split(",")]
    if key == "strict":
        if text.lower() not in SWITCH:
            raise UsageError(f"GPUDOCTOR_STRICT: one of {', '.join(SWITCH)} is expected, not {text!r:.80}")
        return SWITCH[text.lower()]
    if key == "timeout":
        try:
            return float(text)
        except ValueError:
            raise UsageError(f"GPUDOCTOR_TIMEOUT: a number of seconds is expected, not {text!r}") from None
    return text


def _bytes_of(path: Path) -> bytes:
    content = read_bounded(str(path), MAX_BYTES, cure="give read permission or run elsewhere")
    if len(content) > MAX_BYTES:
        raise UsageError(f"{path}: larger than {MAX_BYTES >> 20} MiB; this is no configuration")
    return content


def read_toml(path: Path) -> Table:
    """Return the file's content; raises UsageError naming line and cure."""
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415  # start-up: most runs have no configuration file
    else:
        import tomli as tomllib  # noqa: PLC0415  # the same parser before 3.11
    try:
        return tomllib.loads(_bytes_of(path).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 (byte {error.start}); save the file as UTF-8") from error
    except ValueError as error:  # TOML's own error is one; so is that of a number with thousands of digits
        raise UsageError(f"{path}: not valid TOML: {error}") from error
    except RecursionError as error:
        raise UsageError(f"{path}: not valid TOML: nested too deeply") from error


def _is_table(value: object) -> TypeGuard[Table]:
    return isinstance(value, dict)


def _table(source: str, value: object) -> Table:
    if not _is_table(value):
        raise UsageError(f"{source}: a table is expected, not {value!r}")
    return value


def _check_keys(source: str, table: Table, known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            close = get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
            raise UsageError(f"{source}: unknown key {key!r}; {hint}")


def _settings(merged: Mapping[str, tuple[str, Any]]) -> Settings:
    def get(key: str, kind: type, default: Any) -> Any:
        source, value = merged.get(key, ("default", default))
        if value is not default and (not isinstance(value, kind) or (kind is not bool and isinstance(value, bool))):
            raise UsageError(f"{source}: {key} must be {KINDS[kind]}, not {value!r}")
        return value

    fail_on = get("fail-on", str, "error")
    if fail_on not in FAIL_ON:
        raise UsageError(f"{merged['fail-on'][0]}: fail-on must be one of {', '.join(FAIL_ON)}, not {fail_on!r}")
    timeout = get("timeout", (int, float), None)  # type: ignore[arg-type]  # isinstance takes the pair
    if timeout is not None and not 0 < timeout < sys.maxsize:
        raise UsageError(f"{merged['timeout'][0]}: timeout must be a number of seconds above 0, not {timeout!r}")
    rules = _rules(*merged.get("rules", ("default", {})))
    return Settings(
        select=_names(merged, "select"),
        ignore=_names(merged, "ignore"),
        fail_on=fail_on,
        strict=get("strict", bool, default=False),
        timeout=timeout,
        python=get("python", str, None),
        severities={code: rule[SEVERITY] for code, rule in rules.items() if SEVERITY in rule},
        thresholds={code: moved for code, rule in rules.items() if (moved := _without_severity(rule))},
    )


KINDS: Mapping[Any, str] = {str: "a text", bool: "true or false", list: "a list of texts", (int, float): "a number"}


def _names(merged: Mapping[str, tuple[str, Any]], key: str) -> tuple[str, ...]:
    source, value = merged.get(key, ("default", []))
    names = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(each, str) and each for each in names):
        raise UsageError(f"{source}: {key} must be a list of check names, not {value!r}")
    return tuple(cast("list[str]", names))


def _rules(source: str, rules: object) -> dict[str, Table]:
    """Return the tables of single checks, each with its severity, where it has one, as such."""
    tables: dict[str, Table] = {}
    for code, rule in _table(source, rules).items():
        table = dict(_table(f"{source} rules.{code}", rule))
        if SEVERITY in table:
            try:
                table[SEVERITY] = Severity(table[SEVERITY])
            except ValueError:
                words = ", ".join(each.value for each in Severity)
                raise UsageError(f"{source} rules.{code}: severity must be one of {words}") from None
        for key, value in table.items():
            if key != SEVERITY and (isinstance(value, bool) or not isinstance(value, (int, float))):
                where = f"{source} rules.{code}"
                raise UsageError(f"{where}: unknown key {key!r:.80}, or a threshold that is no number: {value!r:.80}")
        tables[code] = table
    return tables


def _without_severity(rule: Table) -> Table:
    return {key: value for key, value in rule.items() if key != SEVERITY}
