"""Find the checks of every installed plug-in; each plug-in loads inside its own boundary.

Built-in checks come the same way as anyone's: a naive loop over entry points would let one stale import take all down.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import ModuleType
from typing import Protocol

from gpudoctor.diagnose import entry_points
from gpudoctor.model.record import dataclass
from gpudoctor.model.report import Plugin
from gpudoctor.sdk import Check

GROUP = "gpudoctor.checks"
BUILT_IN = "builtin"  # the name of our own entry point
AnyCheck = Check[...]  # the parameters of a check are its own business; the engine matches them by type


class EntryPoint(Protocol):
    """What names a plug-in: ours, or one of `importlib.metadata`."""

    @property
    def name(self) -> str:
        """Return the plug-in's name."""
        ...

    @property
    def value(self) -> str:
        """Return what it names."""
        ...

    def load(self) -> object:
        """Import what it names."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """All checks by code, and where they come from."""

    checks: tuple[AnyCheck, ...]
    plugins: tuple[Plugin, ...]

    def find(self, name: str) -> tuple[AnyCheck, ...]:
        """Return the checks with that code or slug, or that may name that cause."""
        wanted = name.strip()
        exact = tuple(each for each in self.checks if wanted.upper() == each.code.upper() or wanted == each.slug)
        return exact or tuple(each for each in self.checks if wanted in each.causes)


def load(points: Iterable[EntryPoint] | None = None) -> Registry:
    """Load every plug-in of the entry-point group; a broken one becomes one line of the report."""
    found: dict[str, AnyCheck] = {}
    ordered = sorted(entry_points.find(GROUP) if points is None else points, key=_built_in_first)
    plugins = tuple(_load_one(point, found) for point in ordered)
    return Registry(checks=tuple(found[code] for code in sorted(found)), plugins=plugins)


def _built_in_first(point: EntryPoint) -> tuple[bool, str]:
    return (point.name != BUILT_IN, point.name)


def _load_one(point: EntryPoint, found: dict[str, AnyCheck]) -> Plugin:
    """Add the plug-in's checks to `found`; a module of it that fails costs its own checks only, and is told."""
    problems: list[str] = []
    added = 0
    for check in _checks_of(point, problems):
        known = found.setdefault(check.code, check)
        if known is not check:
            problems.append(f"{check.code} is taken by {known.judge.__module__}")
        added += known is check
    return Plugin(name=point.name, module=point.value, checks=added, error="; ".join(problems))


def _checks_of(point: EntryPoint, problems: list[str]) -> Iterator[AnyCheck]:
    loaded = _boundary(point.load, problems, point.value)
    if isinstance(loaded, Check):
        yield loaded
    elif isinstance(loaded, ModuleType):
        own = (value for module in _modules_below(loaded, problems) for value in tuple(vars(module).values()))
        yield from {id(each): each for each in own if isinstance(each, Check)}.values()
    elif loaded is not None:
        problems.append(f"the entry point must name a module, a package or a check, not {type(loaded).__name__}")


def _modules_below(package: ModuleType, problems: list[str]) -> Iterator[ModuleType]:
    """Yield the package and all modules below it; pkgutil alone would let the first broken one end the walk."""
    yield package
    for info in pkgutil.iter_modules(getattr(package, "__path__", ()), prefix=f"{package.__name__}."):
        module = _boundary(partial(importlib.import_module, info.name), problems, info.name)
        if isinstance(module, ModuleType):
            yield from _modules_below(module, problems)


def _boundary(load: Callable[[], object], problems: list[str], name: str) -> object:
    try:
        return load()
    except (Exception, SystemExit) as failure:  # noqa: BLE001  # whatever a plug-in does at import must not end the scan
        problems.append(f"{name}: {type(failure).__name__}: {failure}")
        return None
