"""GD154: the log shows a container without the GPU.

What it does
    Reads the banner of NVIDIA's images, and what Docker and NVIDIA's container tools print, in the text of a run.

Why it matters
    An image with CUDA inside is not enough: the GPU is given to a container when it is started.

How to fix
    docker run --gpus all ... and, where Docker knows no such capability, install NVIDIA's container toolkit on the host.
    The driver belongs on the host only.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Host, Log, LogEvent, Trial, check, either, weigh_unusable
from gpudoctor_checks.driver.cuinit_events import NEWER_TOOLS, RENEW_UVM
from gpudoctor_checks.remedies import give_container_gpu
from gpudoctor_checks.said import by_hand, command, container_of, events, log_finding, on_windows, on_wsl

TOOLKIT = command(
    "install-container-toolkit",
    "Install the container toolkit on the host",
    "sudo apt install nvidia-container-toolkit && sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker",
    why="Docker itself cannot give a GPU to a container",
    minutes=10,
)

NO_CUDA_ON_MAC = by_hand(
    "start-without-gpu",
    "Start it without the GPU: macOS has no CUDA",
    "Take --gpus, or the reservation of devices in the compose file, away; for CUDA use a Linux machine with an NVIDIA GPU",
    why="no container on a Mac can be given an NVIDIA GPU",
)
OFFER_GPUS = by_hand(
    "offer-gpus-to-pods",
    "Let the nodes offer their GPUs",
    "No GPU listed there: on each GPU node the driver and the container toolkit as the runtime's default, then NVIDIA's device"
    " plugin or GPU operator. GPUs listed: other pods hold them, or a taint keeps this pod away",
    why="the scheduler places a pod only where a node offers what it asks for",
    minutes=20,
)
DRIVER_OF_HOST = command(
    "install-driver",
    "Install NVIDIA's driver on the host",
    "sudo ubuntu-drivers install  # or the distribution's own package; then reboot, and nvidia-smi must answer on the host",
    why="the container tools bring the host's driver in, and find none",
    minutes=20,
)
DRIVER_OF_WINDOWS = by_hand(
    "install-driver-on-windows",
    "Install NVIDIA's driver on Windows",
    "Install NVIDIA's current Windows driver, run `wsl --update`, restart Docker Desktop; nvidia-smi must answer inside WSL",
    why="WSL and Docker Desktop take the driver from Windows",
    minutes=20,
)
SEE_OFFER = "kubectl get nodes -o custom-columns='NODE:.metadata.name,GPUS:.status.allocatable.nvidia\\.com/gpu'"
DESKTOP = by_hand(
    "docker-desktop-wsl2",
    "Let Docker Desktop use its WSL2 backend",
    "Docker Desktop, Settings, General: use the WSL 2 based engine; update it and NVIDIA's Windows driver, then docker run --gpus all IMAGE",
    why="on Windows only the WSL2 backend gives a container the GPU",
)


@check(
    code="GD154",
    slug="container-without-gpu-in-log",
    title="The log shows a container without the GPU",
    family="driver",
    cause="container-no-gpu",
    core=False,
)
def without_gpu(log: Log, host: Host | None, baseline: Trial | None) -> Iterator[Finding]:
    """Believe the image's own banner and the runtime's own words."""
    if waits := events(log, "pod_waits"):
        yield log_finding(
            f"No node has a free {waits[0].values.get('resource', 'GPU')}: the pod is not started.",
            weigh_unusable(0.9, baseline),
            waits,
            OFFER_GPUS,
            cause="container-no-gpu",
            know=SEE_OFFER,
        )
    banner, runtime = events(log, "container_without_driver"), events(log, "container_runtime")
    if not banner and not runtime:
        return
    lacks = any(each.values.get("why") == "toolkit" for each in runtime)
    if lacks and host is not None and either(host.os, "") == "darwin":
        summary = "Docker on a Mac has no NVIDIA GPU to give."
        yield log_finding(summary, weigh_unusable(0.9, baseline), runtime, NO_CUDA_ON_MAC, cause="container-no-gpu")
        return
    if (host_fails := _host_fails(runtime, host, baseline)) is not None:
        yield host_fails
        return
    give = give_container_gpu(container_of(host) or "docker")
    yield log_finding(
        "Docker cannot give a GPU to a container: the toolkit is missing."
        if lacks
        else "The container was started without the GPU."
        if banner
        else "The container runtime could not bring the host's driver in.",
        weigh_unusable(0.9, baseline),
        (*banner, *runtime),
        *((DESKTOP if on_windows(host) else TOOLKIT, give) if lacks else (give,)),
        cause="container-no-gpu",
        know="nvidia-smi  # on the host",
    )


def _host_fails(runtime: tuple[LogEvent, ...], host: Host | None, trial: Trial | None) -> Finding | None:
    """Return the finding of tools that find no driver on the host, or a CUDA that does not start there."""
    reasons = {each.values.get("why") for each in runtime}
    cause = "container-no-gpu"
    if "cuda" in reasons:
        summary, know = (
            "The container tools start CUDA on the host, and it does not start.",
            "nvidia-container-cli --version; nvidia-smi  # on the host",
        )
        return log_finding(summary, weigh_unusable(0.8, trial), runtime, NEWER_TOOLS, RENEW_UVM, cause=cause, know=know)
    if "driver" in reasons:
        summary, know = "The host has no NVIDIA driver that the container tools can find.", "nvidia-smi  # on the host"
        fix = DRIVER_OF_WINDOWS if on_windows(host) or on_wsl(host) else DRIVER_OF_HOST
        return log_finding(summary, weigh_unusable(0.9, trial), runtime, fix, cause=cause, know=know)
    return None
