"""What a text alone cannot tell: which GPU it is about; findings that choose a release for it say so instead of guessing."""

from __future__ import annotations

import re
from dataclasses import replace

from gpudoctor.knowledge import tensorflow_releases
from gpudoctor.model.finding import NEXT_STEP, Evidence, Finding, Fix
from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import LogEvent
from gpudoctor.model.snapshot import Snapshot

ASK_GPU = "nvidia-smi --query-gpu=name,compute_cap --format=csv"


def with_gpu_to_know(snapshot: Snapshot, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings, those that choose a release for a GPU nobody named with what the choice depends on."""
    return findings if _gpu_known(snapshot) else tuple(_asking(each) for each in findings)


def _gpu_known(snapshot: Snapshot) -> bool:
    devices = snapshot.gpus or ()
    if any(not isinstance(each.compute_capability, Missing) for each in devices):
        return True
    events: tuple[LogEvent, ...] = snapshot.log.events if snapshot.log is not None else ()
    return any(each.values.get("compute_capability") or each.values.get("capability") for each in events)


def _asking(finding: Finding) -> Finding:
    chosen = next((fix.release for fix in finding.fixes if fix.release is not None), None)
    span = served(chosen) if chosen is not None else ""
    if not span:
        return finding
    value = f"TensorFlow {chosen} has code for compute capability {span}; yours: {ASK_GPU}"
    depends = Evidence(label="GPU unknown", value=value, source=NEXT_STEP)
    fixes = tuple(_bounded(fix, span) if fix.release == chosen else fix for fix in finding.fixes)
    return replace(finding, evidence=(*finding.evidence, depends), fixes=fixes)


def _bounded(fix: Fix, span: str) -> Fix:
    """Return the command with the GPUs that it is for behind it; one inside quotation marks stays as it is."""
    plain = fix.action == "command" and "#" not in fix.text and not fix.text.startswith("wsl")
    return replace(fix, text=f"{fix.text}  # GPUs of compute capability {span}; yours: {ASK_GPU}") if plain else fix


def served(version: str) -> str:
    """Return "6.0 to 9.0" for the GPUs that the release's official wheel has code for, '' where that is unknown."""
    release = tensorflow_releases.release_of(version) if version else None
    if release is None:
        return ""
    numbers = sorted(int(digits) for each in release.compute_capabilities for digits in re.findall(r"_(\d{2,3})", each))
    return f"{_dotted(numbers[0])} to {_dotted(numbers[-1])}" if numbers else ""


def _dotted(number: int) -> str:
    return f"{number // 10}.{number % 10}"
