"""Find the checks of every installed plug-in; each plug-in loads inside its own boundary.

Built-in checks come the same way as anyone's: a naive loop over entry points would let one stale import take all down.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
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
    try:
        fresh = {each.code: each for each in _checks_below(point.load())}
        clash = sorted(code for code in fresh if code in found and found[code] is not fresh[code])
        error = f"these codes are taken: {', '.join(clash)}" if clash else ""
    except (Exception, SystemExit) as failure:  # noqa: BLE001  # whatever a plug-in does at import must not end the scan
        return Plugin(name=point.name, module=point.value, error=f"{type(failure).__name__}: {failure}")
    added = {code: each for code, each in fresh.items() if code not in found}
    found.update(added)
    return Plugin(name=point.name, module=point.value, checks=len(added), error=error)


def _checks_below(loaded: object) -> Iterator[AnyCheck]:
    if isinstance(loaded, Check):
        yield loaded
        return
    if not isinstance(loaded, ModuleType):
        message = f"the entry point must name a module, a package or a check, not {type(loaded).__name__}"
        raise TypeError(message)
    seen: set[int] = set()
    for module in _modules_below(loaded):
        for value in vars(module).values():
            if isinstance(value, Check) and id(value) not in seen:
                seen.add(id(value))
                yield value


def _modules_below(package: ModuleType) -> Iterator[ModuleType]:
    yield package
    paths = getattr(package, "__path__", None)
    if paths is not None:
        for info in pkgutil.walk_packages(paths, prefix=f"{package.__name__}."):
            yield importlib.import_module(info.name)
