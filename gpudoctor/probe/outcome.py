"""What a child's ending means: facts of the child, and a Trial for each trial that did not end by itself.

A run on the CPU because the GPU was left alone must never read as "TensorFlow cannot use the GPU": such a trial is
`refused`, its device and the count of GPUs are missing, and what TensorFlow said about the GPU that we hid is dropped.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from gpudoctor.logs import reader
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.observed import LogEvent, ProbeChild, Trial
from gpudoctor.model.words import TrialStatus
from gpudoctor.probe.attend import Ending
from gpudoctor.probe.plan import BY_NAME, FRAGMENTATION_SET, LADDER_SET

# Kinds of gpudoctor.logs that the probe itself provokes: by its growth variable, its float16 arm, its many traces, ...
OWN_KINDS = frozenset({
    "growth_forced", "mixed_precision_slow", "half_precision", "retracing", "tf32", "nccl_used", "fact", "visible_gpus",
})  # fmt: skip
# ... by filling the memory on purpose ...
MEMORY_KINDS = frozenset({"oom", "oom_soft", "oom_tensor", "oom_device", "oom_bare", "bfc_garbage_collection"})
# ... and by hiding the GPU: cuInit then answers CUDA_ERROR_NO_DEVICE; any other code is a fault of the machine.
HIDDEN_KINDS = frozenset({"no_cuda_device", "gpus_not_registered"})
NO_DEVICE = "100"
NOT_FAILED = Missing("none: the import succeeded")
NOT_REACHED = Missing("the child did not come so far")


def as_child(ending: Ending, *, environment: str, left_alone: str, trials: Mapping[str, Trial]) -> ProbeChild:
    """Return the facts of a child."""
    seen = ending.seen
    failed, imported, devices = seen.import_failed, seen.imported, seen.devices
    visible: Maybe[int] = devices.visible_gpus if devices is not None else NOT_REACHED
    timing = imported or failed
    return ProbeChild(
        environment=environment,
        status="crashed" if ending.fate == "oom" else ending.fate,
        reason=ending.reason,
        exit_code=ending.exit_code if ending.exit_code is not None else Missing("it could not be ended"),
        import_s=timing.import_s if timing is not None else NOT_REACHED,
        import_error=failed.error if failed is not None else (NOT_FAILED if imported is not None else NOT_REACHED),
        tensorflow_version=imported.tensorflow_version if imported is not None else NOT_REACHED,
        keras_version=_keras(ending),
        visible_gpus=Missing(f"GPU left alone: {left_alone}") if left_alone else visible,
        duration_s=ending.duration_s,
        loaded=seen.loaded,
        events=_events(ending.text, environment, trials, hidden=bool(left_alone)),
    )


def _keras(ending: Ending) -> Maybe[str]:
    imported = ending.seen.imported
    if imported is None:
        return NOT_REACHED
    return imported.keras_version or Missing(f"tf.keras cannot be loaded: {imported.keras_error}")


def _events(text: str, environment: str, trials: Mapping[str, Trial], *, hidden: bool) -> tuple[LogEvent, ...]:
    """Return what the child's text says, without what the probe provoked."""
    dropped = OWN_KINDS | HIDDEN_KINDS if hidden else OWN_KINDS
    fell = any(trial.status in {"oom", "crashed"} for trial in trials.values())
    if environment in {FRAGMENTATION_SET, LADDER_SET} or not fell:
        dropped |= MEMORY_KINDS
    events = reader.read_events(text.splitlines())
    return tuple(event for event in events if event.kind not in dropped and not (hidden and _is_no_device(event)))


def _is_no_device(event: LogEvent) -> bool:
    return event.kind == "cuinit_failed" and event.values.get("code", NO_DEVICE) == NO_DEVICE


def ended(ending: Ending, asked: Collection[str]) -> dict[str, Trial]:
    """Return the trials that ended by themselves, and the one during which the child ended; none that nobody asked for."""
    trials = {name: trial for name, trial in ending.seen.trials.items() if name in asked}
    name = ending.seen.running
    if name in asked and ending.fate != "ok":
        trials[name] = _broken(name, ending)
    return trials


def _broken(name: str, ending: Ending) -> Trial:
    status: TrialStatus = ending.fate if ending.fate in ("timeout", "oom") else "crashed"
    notes = ("ptx-jit",) if ending.compiling else ()
    return Trial(name=name, status=status, reason=ending.reason, device=Missing(status), notes=notes)


def unborn(name: str, ending: Ending, *, first: bool) -> Trial:
    """Return a trial that could not begin: the child ended before any of them. The first one carries the fault."""
    if ending.seen.import_failed is not None and ending.seen.import_failed.absent:
        return unrun(name, f"TensorFlow is not installed there ({ending.reason})", status="unsupported")
    what = "TensorFlow cannot be imported" if ending.fate == "import_failed" else _stage(ending)
    if not first:
        return unrun(name, f"not run: {what}")
    return replace(_broken(name, ending), reason=f"{what}: {ending.reason}")


def _stage(ending: Ending) -> str:
    if ending.fate == "not_started":
        return "the interpreter did not start"
    return "the child ended while it " + (
        "asked for the GPUs" if ending.seen.imported is not None else "imported TensorFlow"
    )


def unrun(name: str, reason: str, *, status: TrialStatus = "inconclusive") -> Trial:
    """Return a trial that was not run."""
    return Trial(name=name, status=status, reason=reason, device=Missing("not run"))


def as_refused(trial: Trial, left_alone: str) -> Trial:
    """Return what a trial on the CPU says about a GPU that was left alone: nothing, its figures apart."""
    if trial.status != "ok" or not BY_NAME[trial.name].judges_gpu:
        return trial
    note = "its figures are the CPU's"
    return replace(
        trial, status="refused", reason=left_alone, device=Missing("GPU left alone"), notes=(*trial.notes, note)
    )
