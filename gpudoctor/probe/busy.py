"""Which GPU the probe may load, if any: a pure decision on what NVML, the driver and the environment tell.

Doing no harm outranks measuring: what cannot be seen is not idle. A GPU is busy when a foreign compute process holds it,
when it works all the time that it is watched, or when less memory is free than the probe may take. Graphics processes of
a desktop do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gpudoctor.model.gpu import Gpu
from gpudoctor.model.machine import Cuda, Nvml, Scheduler
from gpudoctor.model.missing import Missing, either
from gpudoctor.probe.grant import granted, hides_all

GIB = 1 << 30
CAP_BYTES = (
    6 * GIB
)  # what the widest twin of `precision` needs (5 GiB by its own formula), over the part of a pool usable
CAP_SHARE = 0.5  # policy: never more than half of a GPU
BUSY_PERCENT = 5  # policy: utilisation over 5 % for 3 s; an idle desktop stays below
WATCH_S = 3.0
WATCH_STEP_S = 0.5  # NVML's own sample period is 1/6 to 1 s (nvml.h, nvmlDeviceGetUtilizationRates)
FORCE = "--force runs it there all the same"

Samples = Sequence[Sequence[Gpu]]  # the GPUs as seen one after the other while they were watched


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Where to run. `left_alone`: why no GPU is used ('' = one may be, if TensorFlow can). `pin`: the UUID to use.

    `idle`: the UUIDs of all GPUs that may be used together; `gpu`: the one that is used, None where that is not known.
    """

    left_alone: str = ""
    pin: str = ""
    idle: tuple[str, ...] = ()
    gpu: Gpu | None = None
    cap_bytes: int = CAP_BYTES
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is known besides NVML's list of GPUs; None is unknown."""

    environment: Mapping[str, str]
    cuda: Cuda | None = None
    nvml: Nvml | None = None
    scheduler: Scheduler | None = None
    host_free_bytes: int | None = None


def choose(samples: Samples, around: Around, *, force: bool = False) -> Choice:
    """Return where the probe may run. `samples` is empty, or its first entry is, where NVML lists nothing."""
    cuda = around.cuda
    if cuda is not None and isinstance(cuda.cu_init, int) and cuda.cu_init != 0:
        return Choice(notes=("the CUDA driver does not start, so no GPU can be disturbed",))
    if hides_all(around.environment):
        return Choice(notes=("CUDA_VISIBLE_DEVICES hides every GPU; it is left as it is",))
    gpus = [gpu for gpu in (samples[0] if samples else ()) if gpu.status == "ok"]
    if not gpus:
        return _blind(around, force=force)
    kind = either(around.scheduler.kind, "none") if around.scheduler is not None else "none"
    if around.scheduler is not None and kind != "none" and around.scheduler.allocated_gpus == 0 and not force:
        return Choice(left_alone=f"the scheduler ({kind}) granted no GPU here; {FORCE}")
    mine = granted(gpus, cuda, around.environment)
    return _among(mine or gpus, samples, one_of_many=len(gpus) > 1, mapped=mine is not None, force=force)


def _blind(around: Around, *, force: bool) -> Choice:
    """Decide where NVML shows no GPU that answers: where none can be there, there is nothing to disturb."""
    free = around.host_free_bytes  # a GPU without memory of its own shares the host's
    cap = CAP_BYTES if free is None else min(CAP_BYTES, int(CAP_SHARE * free))
    if force or not _may_be_there(around):
        return Choice(cap_bytes=cap)
    return Choice(left_alone=f"NVML cannot tell whether others use the GPU; {FORCE}", cap_bytes=cap)


def _may_be_there(around: Around) -> bool:
    """Return whether a GPU may be there that NVML does not show: the CUDA driver decides, where it answered."""
    cuda, nvml = around.cuda, around.nvml
    if cuda is not None and not isinstance(cuda.devices, Missing):
        return bool(cuda.devices)
    if cuda is None or cuda.status in {"library_not_found", "error"}:
        return False
    return nvml is None or either(nvml.status, "") not in {"library_not_found", "driver_not_loaded"}


def _among(candidates: Sequence[Gpu], samples: Samples, *, one_of_many: bool, mapped: bool, force: bool) -> Choice:
    """Take the idle candidate with most free memory; where the order of TensorFlow is not known, all must be idle."""
    notes = _unseen(candidates)
    reasons = {gpu.index: why_busy(gpu, _utilisation(gpu, samples)) for gpu in candidates}
    idle = [gpu for gpu in candidates if not reasons[gpu.index]]
    pinned = one_of_many and mapped and all(_can_be_pinned(gpu) for gpu in candidates)
    if idle and (pinned or len(idle) == len(candidates)):
        chosen = _use(_freest(idle), pinned=pinned, known=pinned or not one_of_many, notes=notes)
        return replace(chosen, idle=tuple(either(gpu.uuid, "") for gpu in idle)) if pinned else chosen
    told = _told([reason for reason in reasons.values() if reason])
    if not force:
        return Choice(left_alone=f"{told}; {FORCE}", notes=notes)
    return _use(
        _freest(candidates),
        pinned=pinned,
        known=pinned or not one_of_many,
        notes=(*notes, f"used in spite of this, because of --force: {told}"),
    )


def _use(gpu: Gpu, *, pinned: bool, known: bool, notes: tuple[str, ...]) -> Choice:
    free = either(gpu.memory.free_bytes, 0)
    cap = cap_of(gpu)
    if 0 < free < cap:  # only under --force
        cap = int(CAP_SHARE * free)
    return Choice(pin=either(gpu.uuid, "") if pinned else "", gpu=gpu if known else None, cap_bytes=cap, notes=notes)


def cap_of(gpu: Gpu) -> int:
    """Return how much memory the probe may take on that GPU."""
    total = gpu.memory.total_bytes
    return CAP_BYTES if isinstance(total, Missing) else min(CAP_BYTES, int(CAP_SHARE * total))


def why_busy(gpu: Gpu, utilisation: Sequence[int]) -> str:
    """Return why the GPU is busy, '' where nothing says so. `utilisation`: the percentages seen one after the other."""
    label = f"GPU {gpu.index}"
    compute = [each for each in either(gpu.processes, ()) if each.kind == "compute"]
    if compute:
        more = f" and {len(compute) - 1} more" if len(compute) > 1 else ""
        return f"{label} is held by compute process {compute[0].pid}{more}"
    if utilisation and min(utilisation) > BUSY_PERCENT:
        return f"{label} works: utilisation {min(utilisation)} % or more in {len(utilisation)} of {len(utilisation)} samples"
    free, cap = gpu.memory.free_bytes, cap_of(gpu)
    if isinstance(free, int) and free < cap:
        return f"{label} has {free / GIB:.1f} GiB free, the probe may take {cap / GIB:.1f} GiB"
    return ""


def needs_watching(samples: Samples) -> bool:
    """Return whether utilisation must be seen for longer: one high sample may be a blink."""
    last = samples[-1] if samples else ()
    return any(either(gpu.utilization.gpu_percent, 0) > BUSY_PERCENT for gpu in last)


def _utilisation(gpu: Gpu, samples: Samples) -> list[int]:
    seen = [each.utilization.gpu_percent for sample in samples for each in sample if each.index == gpu.index]
    return [percent for percent in seen if isinstance(percent, int)]


def _can_be_pinned(gpu: Gpu) -> bool:
    """Return whether its UUID selects it: in MIG mode CUDA sees instances, whose names the list does not hold."""
    return isinstance(gpu.uuid, str) and either(gpu.mig_mode, "disabled") != "enabled"


def _freest(gpus: Sequence[Gpu]) -> Gpu:
    return max(gpus, key=lambda gpu: either(gpu.memory.free_bytes, 0))


def _told(reasons: Sequence[str]) -> str:
    more = f" ({len(reasons) - 1} more are busy)" if len(reasons) > 1 else ""
    return (reasons[0] if reasons else "it is not known which GPU TensorFlow would take") + more


def _unseen(gpus: Sequence[Gpu]) -> tuple[str, ...]:
    return tuple(
        f"GPU {gpu.index}: the process list cannot be read ({gpu.processes.reason}); memory and utilisation decided"
        for gpu in gpus
        if isinstance(gpu.processes, Missing)
    )
