"""`gpudoctor config show`: each setting, its value and where it comes from; a mistake anywhere is told as `scan` tells it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from gpudoctor.cli import configuration
from gpudoctor.cli.configuration import KEYS, Settings
from gpudoctor.cli.output import emit
from gpudoctor.cli.parser import Arguments
from gpudoctor.cli.judging import check_rules
from gpudoctor.codec import dumps
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.selection import select
from gpudoctor.present.style import printable

DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    key: str
    value: Any  # as TOML has it
    source: str


def run(arguments: Arguments) -> int:
    """Print the settings. Raises UsageError for whatever `scan` would refuse."""
    folder = Path.cwd()
    settings = configuration.load(folder=folder, environ=os.environ)
    known = registry.load()
    check_rules(settings, known)
    select(known.checks, chosen=settings.select, ignored=settings.ignore)
    rows = list(_rows(settings, configuration.merged(folder=folder, environ=os.environ)))
    emit(_as_json(rows) if arguments.json else _as_text(rows), None)
    return 0


def _rows(settings: Settings, told: Mapping[str, tuple[str, Any]]) -> Iterator[_Row]:
    for key in KEYS:
        source = told[key][0] if key in told else DEFAULT
        if key != "rules":
            value: Any = getattr(settings, key.replace("-", "_"))
            listed = list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value
            yield _Row(key=key, value=listed, source=source)
    for code, severity in sorted(settings.severities.items()):
        yield _Row(key=f"rules.{code}.severity", value=severity.value, source=told["rules"][0])


def _as_json(rows: list[_Row]) -> str:
    return dumps({"schema_version": 1, "settings": [_object(row) for row in rows]}) + "\n"


def _object(row: _Row) -> dict[str, Any]:
    return {"key": row.key, "value": row.value, "source": row.source}


def _as_text(rows: list[_Row]) -> str:
    shown = [(row.key, _shown(row.value), printable(row.source)) for row in rows]
    widths = [max(len(each[column]) for each in shown) for column in (0, 1)]
    return "".join(f"{key:<{widths[0]}}  {value:<{widths[1]}}  {source}\n" for key, value, source in shown)


def _shown(value: Any) -> str:
    """Return the value as it would stand in the TOML file; `-` where it is not set."""
    if value is None or value == []:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(_shown(each) for each in cast('list[str]', value))}]"
    return f'"{printable(value)}"' if isinstance(value, str) else str(value)
