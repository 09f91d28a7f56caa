"""Aim the commands of fixes: `pip` at the interpreter that was examined, `docker` at the container's own tool.

A bare `pip` belongs to whichever interpreter is active, and who is inside of podman may have no docker at all.

It is done once for the fixes of all checks, a third party's too; each check doing it would be tempting, and one forgets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from gpudoctor.model.finding import Finding, Fix
from gpudoctor.model.machine import Host, Scheduler
from gpudoctor.model.missing import either
from gpudoctor.model.shell import shell_path
from gpudoctor.model.software import Python

# Only characters that mean nothing in double quotes: any other path, of whatever system, is quoted as a POSIX word
WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\/][\w\\/ ().+~-]*")
ACTIVE = frozenset({"VIRTUAL_ENV", "CONDA_PREFIX"})  # these environments' own pip is the one that a shell finds
# Podman's options are Docker's, but for the GPUs, which it takes by CDI name (NVIDIA Container Toolkit, "Support for CDI").
DOCKER_GPUS = re.compile(r"\bdocker run --gpus[ =]all")
DOCKER = re.compile(r"\bdocker (?=run|rm|exec|pull)")
ROOT = re.compile(r"\bsudo ")
BATCH = frozenset({"slurm", "pbs", "lsf", "sge"})
# A pip or python of its own standing: not "uv pip", and not those of a folder that the command names.
BARE_PIP = re.compile(
    r"(?<![\w./\\-])(?:python3? -m pip|(?<!uv )(?<!-m )pip) (?=install|uninstall|check|show|list|download)"
)


def aim(
    findings: Iterable[Finding],
    python: Python | None,
    host: Host | None = None,
    scheduler: Scheduler | None = None,
) -> list[Finding]:
    """Return the findings with every bare `pip` run by the examined interpreter, unless that is the active one."""
    if scheduler is not None and either(scheduler.kind, "none") in BATCH:
        findings = [replace(each, fixes=tuple(_for_administrators(fix) for fix in each.fixes)) for each in findings]
    if host is not None and either(host.container, "") == "podman":
        findings = [replace(each, fixes=tuple(_for_podman(fix) for fix in each.fixes)) for each in findings]
    executable = either(python.executable, "") if python is not None else ""
    if python is None or not executable or either(python.chosen_by, "VIRTUAL_ENV") in ACTIVE:
        return list(findings)
    run = f"{_quoted(executable)} -m pip "
    return [replace(each, fixes=tuple(_aimed(fix, run) for fix in each.fixes)) for each in findings]


def _for_administrators(fix: Fix) -> Fix:
    """Hand what only root may do to those who are root on a cluster's node: whose job it is is not."""
    if fix.action != "command" or not ROOT.search(fix.text):
        return fix
    return replace(fix, action="manual", text=f"Ask the cluster's administrators for: {ROOT.sub('', fix.text)}")


def _for_podman(fix: Fix) -> Fix:
    text = DOCKER_GPUS.sub("podman run --device nvidia.com/gpu=all", fix.text)
    return replace(fix, text=DOCKER.sub("podman ", text))


def _aimed(fix: Fix, run: str) -> Fix:
    if fix.action != "command":
        return fix
    return replace(fix, text=BARE_PIP.sub(lambda _: run, fix.text))


def _quoted(path: str) -> str:
    if WINDOWS_PATH.fullmatch(path):  # Windows' shells know no single quotes
        return f'"{path}"' if set(" ()") & set(path) else path
    return shell_path(path)
