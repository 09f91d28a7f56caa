"""Aim the commands of fixes at the interpreter that was examined: a bare `pip` belongs to whichever one is active.

It is done once for the fixes of all checks, a third party's too; each check doing it would be tempting, and one forgets.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import replace

from gpudoctor.model.finding import Finding, Fix
from gpudoctor.model.missing import either
from gpudoctor.model.software import Python

ACTIVE = frozenset({"VIRTUAL_ENV", "CONDA_PREFIX"})  # these environments' own pip is the one that a shell finds
# A pip of its own standing: not "uv pip", and not the pip of a folder that the command names.
BARE_PIP = re.compile(r"(?<!uv )(?<![\w./\\-])pip (?=install|uninstall|check|show)")


def aim(findings: Iterable[Finding], python: Python | None) -> list[Finding]:
    """Return the findings with every bare `pip` run by the examined interpreter, unless that is the active one."""
    executable = either(python.executable, "") if python is not None else ""
    if python is None or not executable or either(python.chosen_by, "VIRTUAL_ENV") in ACTIVE:
        return list(findings)
    run = f"{_quoted(executable)} -m pip "
    return [replace(each, fixes=tuple(_aimed(fix, run) for fix in each.fixes)) for each in findings]


def _aimed(fix: Fix, run: str) -> Fix:
    if fix.action != "command":
        return fix
    return replace(fix, text=BARE_PIP.sub(lambda _: run, fix.text))


def _quoted(path: str) -> str:
    if "\\" in path:  # Windows' shells know no single quotes
        return f'"{path}"' if " " in path else path
    return f"~/{shlex.quote(path[2:])}" if path.startswith("~/") else shlex.quote(path)
