"""GD106: this container was started without the GPU.

What it does
    Inside a container, looks for the device nodes (/dev/nvidia*), for libcuda, and for signs that the host has an
    NVIDIA GPU: its kernel module in /proc, the card on the PCI bus. Image variables (NVIDIA_VISIBLE_DEVICES,
    CUDA_VERSION) only show what the image was made for.

Why it matters
    A container sees a GPU only if it is started with one. Without it, libcuda is missing (TensorFlow: "failed call to
    cuInit: UNKNOWN ERROR (303)") or finds no device, and training runs on the CPU with no other error.

How to fix
    Docker: docker run --gpus all ... (since 19.03; the host needs the NVIDIA Container Toolkit). Podman: podman run
    --device nvidia.com/gpu=all ... Apptainer: --nv. Kubernetes: resources.limits "nvidia.com/gpu: 1". Compose:
    deploy.resources.reservations.devices with capabilities [gpu]. With NVIDIA_DRIVER_CAPABILITIES set, it must hold
    "compute". Libraries mounted where the image does not look: run ldconfig in the container.
    Never install a driver inside a container.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpudoctor.sdk import (
    Cuda,
    Environment,
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    Host,
    Kernel,
    NotApplicable,
    Severity,
    Skip,
    Trial,
    check,
    either,
    must_know,
    weigh_unusable,
)
from gpudoctor_checks.remedies import give_container_gpu

IMAGE_VARIABLES = ("NVIDIA_REQUIRE_CUDA", "CUDA_VERSION", "NVIDIA_VISIBLE_DEVICES")  # set by nvidia/cuda base images
LDCONFIG = Fix(
    id="ldconfig",
    title="Was it given the GPU? Refresh the loader",
    action="command",
    text="ldconfig",
    gain=Gain(grade=Grade.UNPROVEN, basis="helps only where libcuda is mounted and this image's loader does not look"),
    effort_minutes=1,
)


@check(
    code="GD106",
    slug="container-without-gpu",
    title="The container was started without the GPU",
    family="driver",
    cause="container-no-gpu",
)
def no_gpu_given(
    host: Host, kernel: Kernel | None, cuda: Cuda | None, env: Environment | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Tell a container that was given no GPU from one whose host has none."""
    container = must_know(host.container, "whether this is a container")
    if container == "none":
        raise NotApplicable("not a container")
    if cuda is not None and either(cuda.cu_init, -1) == 0:
        return
    if env is not None and env.get("NVIDIA_VISIBLE_DEVICES") in {"void", "none"}:
        raise NotApplicable("NVIDIA_VISIBLE_DEVICES says so itself: see GD105")
    nodes = either(kernel.device_nodes, None) if kernel is not None else None
    if kernel is None or nodes is None:
        raise Skip("the device nodes of this container are unknown")
    no_library = cuda is not None and either(cuda.status, "") == "library_not_found"
    if any(node.path != "/dev/nvidia-caps" for node in nodes) and not no_library:
        return  # it was given the device; what else may be wrong is for the other checks
    on_host = either(kernel.module_loaded, False) or bool(either(kernel.pci_gpus, ()))
    made_for_gpu = env is not None and any(env.get(name) for name in IMAGE_VARIABLES)
    unseen_bus = either(kernel.pci_gpus, None) is None
    capabilities = env.get("NVIDIA_DRIVER_CAPABILITIES") if env is not None else None
    lacks_compute = bool(nodes) and capabilities is not None and not {"compute", "all"} & set(capabilities.split(","))
    weight = weigh_unusable(0.95 if on_host else 0.6, baseline)
    fix = give_container_gpu(container, capabilities=bool(nodes))
    if not on_host:
        fix = replace(fix, gain=Gain(grade=Grade.UNPROVEN, basis="only where the host has a GPU"))
    yield Finding(
        summary=_summary(mounted=bool(nodes), on_host=on_host, unseen_bus=unseen_bus),
        severity=Severity.ERROR if on_host else Severity.WARNING if made_for_gpu and unseen_bus else Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="device nodes", value=len(nodes), unit="nodes", source="/dev"),
            Evidence(label="host's nvidia module", value=either(kernel.module_version, "not seen"), source="/proc"),
            Evidence(label="GPUs on the PCI bus", value=_count(kernel), source="sysfs"),
            Evidence(label="container", value=container, source="host"),
            Evidence(label="driver capabilities", value=capabilities or "not set", source="environment"),
        ),
        fixes=_fixes(fix, found=on_host or unseen_bus, mounted=bool(nodes) and not lacks_compute),
    )


def _summary(*, mounted: bool, on_host: bool, unseen_bus: bool) -> str:
    if mounted:
        return "Started without the compute capability: no libcuda here."
    if on_host:
        return "The host has an NVIDIA GPU, but this container was started without it."
    return "This container sees no GPU." if unseen_bus else "No GPU in this container, nor on its host."


def _count(kernel: Kernel) -> int | str:
    on_bus = either(kernel.pci_gpus, None)
    return "unknown" if on_bus is None else len(on_bus)


def _fixes(fix: Fix, *, found: bool, mounted: bool) -> tuple[Fix, ...]:
    if not found:
        return ()  # no start option brings a GPU that the host does not have
    return (fix, LDCONFIG) if mounted else (fix,)
