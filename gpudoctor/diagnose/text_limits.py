"""What a text alone cannot tell: whether a GPU was meant at all, and which one; findings say so instead of guessing.

Calling a training on the CPU broken would be tempting, since the lines are the same as where a GPU is missed; but most
machines have none, and TensorFlow prints those lines on each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from gpudoctor.knowledge import tensorflow_releases
from gpudoctor.model.finding import Evidence, Finding, Fix, Severity
from gpudoctor.model.missing import Missing, either
from gpudoctor.model.observed import LogEvent
from gpudoctor.model.snapshot import Snapshot

EPOCH = "epoch"
# Causes that leave training as it is, on the CPU.
ONLY_NO_GPU = frozenset(
    {
        "container-no-gpu",
        "kernel-module-not-loaded",
        "missing-cuda-libs",
        "and-cuda-wheels",
        "cpu-build",
        "windows-native",
        "cuda-visible-devices",
    }
)
# Lines that only somebody who means a GPU has in the text.
MEANT = frozenset(
    {
        "gpu_found", "gpu_created", "gpu_skipped", "visible_gpus", "nvidia_smi_failed", "nvml_failed", "ptx_jit", "xid",
        "container_runtime", "container_without_driver", "not_on_gpu", "gpu_process", "module_refused", "module_missing",
        "nouveau_holds", "device_cgroup", "driver_reported", "driver_library_mismatch", "oom_device", "built_with_cuda",
    }
)  # fmt: skip
RAN_WITHOUT = "Ran on the CPU; the text asks for no GPU"
WISH = "say it with --fact gpu=NAME, or run `nvidia-smi -L`: a GPU that is there is not used"
INSTALLED = re.compile(r"tensorflow(?:\[and-cuda\])?==(\d+\.\d+\.\d+)")
ASK_GPU = "nvidia-smi --query-gpu=name,compute_cap --format=csv"


def ran_without_gpu(snapshot: Snapshot, findings: Iterable[Finding]) -> bool:
    """Return whether training ran, nothing else is wrong, and no fact or line says that a GPU was meant."""
    events: tuple[LogEvent, ...] = snapshot.log.events if snapshot.log is not None else ()
    kinds = {each.kind for each in events}
    grave = [each for each in findings if each.severity is not Severity.INFO and each.caused_by is None]
    if EPOCH not in kinds or not grave or any(each.cause not in ONLY_NO_GPU for each in grave):
        return False
    driver = snapshot.nvml is not None and not isinstance(snapshot.nvml.driver_version, Missing)
    named = "gpu" in (either(snapshot.tensorflow.distribution, "") if snapshot.tensorflow is not None else "")
    return not (snapshot.gpus or driver or named or kinds & MEANT)


def as_note(finding: Finding) -> Finding:
    """Return the finding as a note, with what would make it a trouble."""
    if finding.severity is Severity.INFO:
        return finding
    wish = Evidence(label="a GPU was meant?", value=WISH, source="next step")
    return replace(finding, severity=Severity.INFO, evidence=(*finding.evidence, wish))


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
    chosen = next((match[1] for fix in finding.fixes if (match := INSTALLED.search(fix.text)) is not None), "")
    span = served(chosen)
    if not span:
        return finding
    value = f"TensorFlow {chosen} has code for compute capability {span}; yours: {ASK_GPU}"
    depends = Evidence(label="GPU unknown", value=value, source="next step")
    fixes = tuple(_bounded(fix, span) if f"=={chosen}" in fix.text else fix for fix in finding.fixes)
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
