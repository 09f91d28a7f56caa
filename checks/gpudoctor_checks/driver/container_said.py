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

from gpudoctor.sdk import Finding, Host, Log, Trial, check, weigh_unusable
from gpudoctor_checks.remedies import give_container_gpu
from gpudoctor_checks.said import by_hand, command, container_of, events, log_finding, on_windows

TOOLKIT = command(
    "install-container-toolkit",
    "Install the container toolkit on the host",
    "sudo apt install nvidia-container-toolkit && sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker",
    why="Docker itself cannot give a GPU to a container",
    minutes=10,
)

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
    banner, runtime = events(log, "container_without_driver"), events(log, "container_runtime")
    if not banner and not runtime:
        return
    lacks = any(each.values.get("why") == "toolkit" for each in runtime)
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
