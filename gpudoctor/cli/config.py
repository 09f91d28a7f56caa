"""`gpudoctor config show`: each setting, its value and where it comes from; a mistake anywhere is told as `scan` tells it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from gpudoctor.cli import configuration
from gpudoctor.cli.arguments import Arguments
from gpudoctor.cli.configuration import KEYS, Settings
from gpudoctor.cli.judging import with_rules
from gpudoctor.cli.output import emit
from gpudoctor.codec import dumps
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.registry import Registry
from gpudoctor.diagnose.selection import select
from gpudoctor.model.threshold import Threshold
from gpudoctor.present.style import printable

DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    key: str
    value: Any  # as TOML has it
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limit:
    """A threshold of a check: what is in force, and where that comes from."""

    code: str
    threshold: Threshold
    value: float
    source: str

    @property
    def key(self) -> str:
        return f"rules.{self.code}.{self.threshold.name}"


def run(arguments: Arguments) -> int:
    """Print the settings. Raises UsageError for whatever `scan` would refuse."""
    folder = Path.cwd()
    settings = configuration.load(folder=folder, environ=os.environ)
    known = with_rules(registry.load(), settings)
    select(known.checks, chosen=settings.select, ignored=settings.ignore)
    told = configuration.merged(folder=folder, environ=os.environ)
    rows, limits = list(_rows(settings, told)), list(_limits(known, told))
    emit(_as_json(rows, limits) if arguments.json else _as_text(rows) + "\n" + _limits_as_text(limits), None)
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


def _limits(known: Registry, told: Mapping[str, tuple[str, Any]]) -> Iterator[_Limit]:
    for check in known.checks:
        for each in check.thresholds:
            source = told["rules"][0] if each.name in check.limits.moved else DEFAULT
            yield _Limit(code=check.code, threshold=each, value=check.limits.of(each), source=source)


def _as_json(rows: list[_Row], limits: list[_Limit]) -> str:
    thresholds = [
        {
            "key": each.key,
            "value": each.value,
            "default": each.threshold.default,
            "unit": each.threshold.unit,
            "source": each.source,
        }
        for each in limits
    ]
    settings = [_object(row) for row in rows]
    return dumps({"schema_version": 1, "settings": settings, "thresholds": thresholds}) + "\n"


def _limits_as_text(limits: list[_Limit]) -> str:
    shown = [(each.key, str(each.value), each.threshold.unit, printable(each.source)) for each in limits]
    widths = [max((len(row[column]) for row in shown), default=0) for column in (0, 1, 2)]
    lines = ("  ".join((*(f"{row[column]:<{widths[column]}}" for column in (0, 1, 2)), row[3])) for row in shown)
    return "".join(f"{line}\n" for line in ("Thresholds (meaning: `gpudoctor explain CODE`)", *lines))


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
