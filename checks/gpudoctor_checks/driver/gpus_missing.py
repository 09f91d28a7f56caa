"""GD131: some of the machine's GPUs are missing for training.

What it does
    Counts the NVIDIA GPUs at each station of their way: on the PCI bus, in NVML's list, in CUDA's list, in TensorFlow's
    list. What is left out on purpose does not count: a variable, a container, a job or MIG that gives only some.

Why it matters
    The rest of the GPUs work, so nothing fails: training is just slower than the machine could be, or a strategy runs on
    fewer replicas than was paid for. A GPU whose start failed stays on the PCI bus and is in no other list.

How to fix
    On the bus, but not in NVML: the kernel log names the reason (sudo dmesg | grep -iE 'nvrm|xid'); often power, seating
    or a riser. In NVML, but not in CUDA: its compute mode or MIG mode. In CUDA, but not in TensorFlow: TensorFlow's own
    line tells why it left it out. Count again after a restart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpudoctor.sdk import (
    Cuda,
    Environment,
    Evidence,
    Finding,
    Fix,
    Gpus,
    Host,
    Kernel,
    NotApplicable,
    Scheduler,
    Severity,
    Skip,
    TensorFlow,
    Trial,
    check,
    either,
)
from gpudoctor_checks.driver.cuda_errors import READ_LOG, RESTART, SEE_USE
from gpudoctor_checks.driver.tf_sees_no_gpu import ASK_TENSORFLOW
from gpudoctor_checks.remedies import under_scheduler
from gpudoctor_checks.usage import weigh_pace

COUNTED = 0.9  # both lists were read in this scan; left open is a GPU that is kept back on purpose
PINNED = 1  # the probe may choose one GPU among several for itself, so that one in TensorFlow's list tells nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Two neighbouring lists of which the second holds fewer GPUs."""

    wider: str
    many: int
    narrower: str
    few: int
    fixes: tuple[Fix, ...]


@check(
    code="GD131",
    slug="gpus-missing",
    title="Some GPUs are missing",
    family="driver",
    cause="gpus-missing",
    core=False,
)
def fewer(
    kernel: Kernel | None,
    gpus: Gpus | None,
    cuda: Cuda | None,
    tensorflow: TensorFlow | None,
    env: Environment | None,
    host: Host | None,
    scheduler: Scheduler | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Compare neighbouring lists; a list that holds none is for the checks of a GPU that is not usable at all."""
    granted = (host is not None and either(host.container, "none") != "none") or under_scheduler(scheduler)
    masked = env is not None and bool(env.get("CUDA_VISIBLE_DEVICES"))
    bus = 0 if granted else _on_bus(kernel)
    nvml = len(gpus) if gpus is not None else 0
    sound = sum(gpu.status == "ok" for gpu in gpus) if gpus is not None else 0
    split = gpus is not None and any(gpu.mig_mode == "enabled" for gpu in gpus)
    listed = len(either(cuda.devices, ())) if cuda is not None and either(cuda.cu_init, -1) == 0 else 0
    used = either(tensorflow.visible_gpus, 0) if tensorflow is not None else 0
    known = [count for count in (bus, nvml, listed, used) if count]
    if not known or (len(known) == 1 and not granted):
        raise Skip("fewer than two lists of GPUs are known")
    if max(known) == 1:
        raise NotApplicable("one GPU, or none")
    gap = _gap(bus, nvml, 0 if masked or split else sound, listed, used)
    if gap is not None:
        yield _finding(gap, baseline)


def _gap(bus: int, nvml: int, sound: int, listed: int, used: int) -> Gap | None:
    """Return the first two neighbouring lists that differ: later ones then differ for the same reason."""
    if bus > nvml > 0:
        return Gap(wider="the PCI bus", many=bus, narrower="NVML", few=nvml, fixes=(READ_LOG, RESTART))
    if sound > listed > 0:
        return Gap(wider="NVML", many=sound, narrower="CUDA", few=listed, fixes=(SEE_USE, READ_LOG))
    if listed > used > PINNED:
        return Gap(wider="CUDA", many=listed, narrower="TensorFlow", few=used, fixes=(ASK_TENSORFLOW,))
    return None


def _finding(gap: Gap, baseline: Trial | None) -> Finding:
    weight = weigh_pace(COUNTED, baseline)
    lost = gap.many - gap.few
    return Finding(
        summary=f"{lost} of {gap.many} GPUs missing: {gap.wider} shows {gap.many}, {gap.narrower} lists {gap.few}.",
        severity=Severity.WARNING,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="missing", value=lost, unit="GPUs", source=f"{gap.wider} against {gap.narrower}"),
            Evidence(label=gap.wider, value=gap.many, unit="GPUs", source=gap.wider),
            Evidence(label=gap.narrower, value=gap.few, unit="GPUs", source=gap.narrower),
        ),
        fixes=gap.fixes,
    )


def _on_bus(kernel: Kernel | None) -> int:
    """Return how many GPUs the nvidia module holds; one without a driver is GD119's."""
    boards = either(kernel.pci_gpus, ()) if kernel is not None else ()
    return sum(either(each.driver, "") == "nvidia" for each in boards)
