"""Whether a text means a GPU at all: without one TensorFlow's words about it are no trouble, and most machines have none.

Calling a training on the CPU broken would be tempting, since the lines are the same as where a GPU is missed. Some of them
TensorFlow itself prints as information on every machine without CUDA; those alone are never a fault.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gpudoctor.model.finding import NEXT_STEP, Evidence, Finding, Gain, Grade, Severity
from gpudoctor.model.missing import Missing, either
from gpudoctor.model.observed import EPOCH, STATED, LogEvent
from gpudoctor.model.snapshot import Snapshot

# Causes that leave training as it is, on the CPU.
ONLY_NO_GPU = frozenset(
    {
        "container-no-gpu",
        "kernel-module-not-loaded",
        "missing-cuda-libs",
        "and-cuda-wheels",
        "cpu-build",
        "windows-native",
        "wsl-libcuda",
        "cuda-visible-devices",
    }
)
# Lines that only somebody who means a GPU has in the text. TensorFlow misses "some GPU libraries" only after it has counted
# a device (gpu_device.cc: with none it returns before).
MEANT = frozenset(
    {
        "gpu_found", "gpu_created", "gpu_skipped", "visible_gpus", "nvidia_smi_failed", "nvml_failed", "ptx_jit", "xid",
        "container_runtime", "container_without_driver", "not_on_gpu", "gpu_process", "module_refused", "module_missing",
        "nouveau_holds", "device_cgroup", "driver_reported", "driver_library_mismatch", "oom_device", "built_with_cuda",
        "gpu_libraries_missing", "gpus_not_registered", "gpu_missed", "no_device_node", "gpu_use",
        "channels_on_cpu",
    }
)  # fmt: skip
MEANT_BY_FACT = ("cuda", "cudnn", "nccl", "multiprocessors")
HIDES = frozenset({"", "-1", "none", "NoDevFiles", "void"})  # values of CUDA_VISIBLE_DEVICES that ask for no GPU
# What TensorFlow prints as information wherever it finds no CUDA: cudart_stub.cc, from 2.11 on in one line; before, the
# loader's warning about cudart and behind it that it may be ignored without a GPU.
AS_INFORMATION = "cudart_not_loaded"
MAY_BE_IGNORED, LOADER = "cudart_optional", "dlopen_failed"
RAN_WITHOUT = "Ran on the CPU; the text asks for no GPU"
ASKS_FOR_NONE = "No CUDA found; the text asks for no GPU"
WISH = "say it with --fact gpu=NAME, or run `nvidia-smi -L`: a GPU that is there is not used"

ONLY_WITH_A_GPU = Gain(grade=Grade.UNPROVEN, basis="only where a GPU is there and wanted")


def without_a_gpu(snapshot: Snapshot, findings: Iterable[Finding]) -> str:
    """Return the headline where no fact or line means a GPU and nothing else is wrong, '' where a GPU is missed."""
    grave = [each for each in findings if each.severity is not Severity.INFO and each.caused_by is None]
    if not grave or any(each.cause not in ONLY_NO_GPU for each in grave) or is_meant(snapshot):
        return ""
    events = _events(snapshot)
    if any(each.kind == EPOCH for each in events):
        return RAN_WITHOUT
    return ASKS_FOR_NONE if _told_as_information(events) else ""


def is_meant(snapshot: Snapshot) -> bool:
    """Return whether a fact or a line says that a GPU is there, or that somebody wants one."""
    events = _events(snapshot)
    driver = snapshot.nvml is not None and not isinstance(snapshot.nvml.driver_version, Missing)
    named = "gpu" in (either(snapshot.tensorflow.distribution, "") if snapshot.tensorflow is not None else "")
    chosen = (snapshot.env or {}).get("CUDA_VISIBLE_DEVICES", "") not in HIDES
    said = any(each.values.get(key) for each in events if each.kind == STATED for key in MEANT_BY_FACT)
    return bool(snapshot.gpus) or driver or named or chosen or said or any(each.kind in MEANT for each in events)


def _events(snapshot: Snapshot) -> tuple[LogEvent, ...]:
    return snapshot.log.events if snapshot.log is not None else ()


def _told_as_information(events: Iterable[LogEvent]) -> bool:
    """Return whether all that the text says of CUDA is what TensorFlow itself calls no fault."""
    listed = tuple(events)
    ignorable = any(each.kind == MAY_BE_IGNORED for each in listed)
    missed = [each for each in listed if each.kind == LOADER]
    if any("cudart" not in each.values.get("library", "") for each in missed) or (missed and not ignorable):
        return False
    told = {each.kind for each in listed}
    return bool(told & {AS_INFORMATION, MAY_BE_IGNORED}) and "cuinit_failed" not in told


def as_note(finding: Finding) -> Finding:
    """Return the finding as a note, with what would make it a trouble."""
    if finding.severity is Severity.INFO:
        return finding
    wish = Evidence(label="a GPU was meant?", value=WISH, source=NEXT_STEP)
    fixes = tuple(replace(each, gain=ONLY_WITH_A_GPU) for each in finding.fixes)
    return replace(finding, severity=Severity.INFO, evidence=(*finding.evidence, wish), fixes=fixes)
