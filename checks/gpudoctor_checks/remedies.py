"""Fixes that several checks share, so that one trouble has one fix however many checks see it.

A fix is known by its id: the engine shows equal ids once. Commands are for the platform that was found, never for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gpudoctor.sdk import (
    Action,
    Driver,
    Fix,
    Gain,
    Host,
    Python,
    Scheduler,
    TensorFlow,
    cuda_toolkits,
    cudnn_releases,
    drivers,
    either,
    tensorflow_releases,
    unblocks,
    versions,
)

DRIVER_PAGE = "https://www.nvidia.com/en-us/drivers/"
# NVIDIA's last TensorFlow image (TensorFlow 2.17, CUDA 12.8); public users report it on RTX PRO 6000 Blackwell.
NGC_IMAGE = "nvcr.io/nvidia/tensorflow:25.02-tf2-py3"
TURING = 75
WORKING = frozenset({"sass", "partial", "ptx"})  # coverage with which a GPU computes, at once or after compiling
# TensorFlow 2.21.0 fails in convolutions with the cuDNN that pre-Turing GPUs need: defect conv-autotuner-old-cudnn.
WITHOUT_PRE_TURING_CUDNN = "2.21"
INSTEAD_FOR_PRE_TURING = "2.20.0"

REBOOT = Fix(
    id="reboot",
    title="Reboot: module and libraries of one version",
    action="command",
    text="sudo reboot",
    gain=unblocks("the driver loads again as one"),
    effort_minutes=5,
)
# How each scheduler's manual asks for one GPU: srun(1), PBS Professional User's Guide, IBM LSF bsub -gpu, Grid Engine
# complex "gpu" (a common name, chosen by the site), NVIDIA device plugin for Kubernetes.
ASKING = {
    "slurm": "srun --gres=gpu:1 --pty gpudoctor scan",
    "pbs": "qsub -I -l select=1:ngpus=1",
    "lsf": 'bsub -gpu "num=1" -Is gpudoctor scan',
    "sge": "qrsh -l gpu=1 gpudoctor scan",
    "kubernetes": "resources: {limits: {nvidia.com/gpu: 1}}",
}
RUN_NGC = Fix(
    id="run-ngc-container",
    title="Train in NVIDIA's TensorFlow container",
    action="command",
    text=f'docker run --gpus all -it --rm -v "$PWD:/workspace" {NGC_IMAGE}',
    gain=unblocks("this image is built for GPUs up to Blackwell"),
    effort_minutes=20,
)


def batch_scheduler(scheduler: Scheduler | None) -> str:
    """Return which batch scheduler hands out the GPUs here, '' where none does."""
    kind = either(scheduler.kind, "none") if scheduler is not None else "none"
    return "" if kind in {"none", "kubernetes"} or kind not in ASKING else kind


def under_scheduler(scheduler: Scheduler | None) -> bool:
    """Return whether a batch scheduler hands out the GPUs here."""
    return bool(batch_scheduler(scheduler))


def ask_scheduler(kind: str) -> Fix:
    """Return how this kind of scheduler is asked for a GPU."""
    return Fix(
        id="ask-scheduler-for-gpu",
        title="Ask the scheduler for a GPU",
        action="setting" if kind == "kubernetes" else "command",
        text=ASKING[kind],
        gain=unblocks("GPUs belong to jobs here"),
        risk="none",
    )


def install_driver(capabilities: Sequence[int], host: Host | None, *, gain: Gain | None = None) -> Fix:
    """Return how to install the recommended driver: on Windows for WSL, on the host for a container."""
    branch = drivers.recommended_branch(min(capabilities) if capabilities else None).number
    system = "" if host is None else either(host.distribution, "").lower()
    wsl = host is not None and either(host.wsl, False)
    container = host is not None and either(host.container, "none") != "none"
    where = "on Windows, not inside WSL" if wsl else "on the host, not in the container" if container else ""
    action: Action = "command"
    if not where and system.startswith(("ubuntu", "linux mint", "pop")):
        text = f"sudo apt install nvidia-driver-{branch} && sudo reboot"
    elif not where and system.startswith(("red hat", "rhel", "rocky", "almalinux", "centos")):
        text = f"sudo dnf module install nvidia-driver:{branch}-dkms && sudo reboot"
    else:
        action, text = (
            "manual",
            f"Install driver R{branch} or newer{where and f' {where}'} ({DRIVER_PAGE}), then restart",
        )
    return Fix(
        id="install-driver",
        title=f"Install NVIDIA driver R{branch}",
        action=action,
        text=text,
        gain=gain or unblocks("nothing on the GPU works before the driver does"),
        risk="medium",
        effort_minutes=20,
    )


def give_container_gpu(kind: str, *, capabilities: bool = False) -> Fix:
    """Return how to start this kind of container with the GPU."""
    docker = "docker run --gpus all" + (" -e NVIDIA_DRIVER_CAPABILITIES=compute,utility" if capabilities else "")
    commands = {
        "podman": "podman run --device nvidia.com/gpu=all IMAGE",
        "singularity": "apptainer exec --nv IMAGE.sif python train.py",
        "apptainer": "apptainer exec --nv IMAGE.sif python train.py",
        "kubernetes": "resources: {limits: {nvidia.com/gpu: 1}}",
    }
    return Fix(
        id="give-container-gpu",
        title="On the host: start it with the GPU",
        action="setting" if kind == "kubernetes" else "command",
        text=commands.get(kind, f"{docker} IMAGE"),
        gain=unblocks("the container gets device nodes and driver libraries"),
        effort_minutes=5,
    )


def advised_version(python: str = "") -> str:
    """Return the newest stable release that shows a GPU as pip installs it, of those with a wheel for this Python.

    An install without a version brings the newest release, and 2.21.0 does not find its own CUDA wheels.
    """
    fitting = tensorflow_releases.releases_for_python(python) if python else ()
    sound = (
        each.latest
        for each in reversed(fitting or tensorflow_releases.RELEASES)
        if not each.prerelease and tensorflow_releases.finds_its_wheels(each.latest)
    )
    return next(sound)


def _that_finds_its_wheels(version: str) -> str:
    """Return this version, or the nearest one that does not have its fault: a later patch, else the release before."""
    release = tensorflow_releases.release_of(version)
    if release is None or tensorflow_releases.finds_its_wheels(version):
        return version
    if tensorflow_releases.finds_its_wheels(release.latest):
        return release.latest
    place = tensorflow_releases.RELEASES.index(release)
    return _that_finds_its_wheels(tensorflow_releases.RELEASES[place - 1].latest)


class Package(NamedTuple):
    """What pip is asked for, as words of the command, and the TensorFlow release that it installs."""

    words: str
    release: str


def with_cuda(version: str, capabilities: Sequence[int]) -> Package:
    """Return what to ask pip for: TensorFlow with its CUDA wheels, and a cuDNN that still knows these GPUs."""
    version = _that_finds_its_wheels(version)
    release = tensorflow_releases.release_of(version)
    oldest = min(capabilities, default=TURING)
    if release is not None and not release.and_cuda:
        return Package(f"'tensorflow=={version}'", version)  # before 2.14 there is no extra; the system brings CUDA
    if release is None or release.and_cuda_pinned or oldest >= TURING:
        return Package(f"'tensorflow[and-cuda]=={version}'", version)
    if versions.minor(version) == WITHOUT_PRE_TURING_CUDNN:
        version = INSTEAD_FOR_PRE_TURING
    return Package(f"'tensorflow[and-cuda]=={version}' {pin_cudnn(oldest)}", version)


def pin_cudnn(capability: int) -> str:
    """Return the pip requirement of the newest cuDNN with code for this GPU: 'nvidia-cudnn-cu12<9.11'."""
    last = cudnn_releases.last_with(capability)
    return f"'nvidia-cudnn-cu12{cudnn_releases.next_after(last)}'" if last else "nvidia-cudnn-cu12"


def release_for_driver(
    driver: Driver, capabilities: Sequence[int], tensorflow: TensorFlow, python: Python | None
) -> tuple[Fix, ...]:
    """Return the newest release that the present driver can run, for those who cannot change the driver."""
    version = either(driver.version, "")
    for release in reversed(tensorflow_releases.RELEASES):
        found = {tensorflow_releases.covers(release, cc) for cc in capabilities}
        rule = cuda_toolkits.minimum_driver if found == {"sass"} else cuda_toolkits.ptx_driver
        needed = rule(release.cuda_version or "", windows=driver.windows_numbering)
        if release.prerelease or not found <= WORKING or not version or not needed:
            continue
        if not tensorflow_releases.finds_its_wheels(release.latest):
            continue
        if versions.at_least(version, needed):
            return _install_release(release, capabilities, tensorflow, python, "Same driver:")
    return ()


def install_release_for(capability: int, tensorflow: TensorFlow, python: Python | None) -> tuple[Fix, ...]:
    """Return the newest release whose official wheel has working code for this GPU."""
    for release in reversed(tensorflow_releases.RELEASES):
        sound = not release.prerelease and tensorflow_releases.finds_its_wheels(release.latest)
        if sound and tensorflow_releases.covers(release, capability) in WORKING:
            return _install_release(release, (capability,), tensorflow, python, "Use")
    return ()


def _install_release(
    release: tensorflow_releases.TfRelease,
    capabilities: Sequence[int],
    tensorflow: TensorFlow,
    python: Python | None,
    verb: str,
) -> tuple[Fix, ...]:
    if either(tensorflow.origin, "official_wheel") != "official_wheel" or not release.and_cuda:
        return ()  # pip's wheels do not belong into conda or NVIDIA's container; before 2.14 they bring no CUDA
    own = versions.minor(python.version) if python is not None and isinstance(python.version, str) else ""
    fitting = [each for each in release.python if not extra_fails(release.latest, each)]
    where = f", Python {fitting[-1]}" if own not in fitting else ""
    package = with_cuda(release.latest, capabilities)
    make = f"uv venv --python {fitting[-1]} ~/tf && uv pip install --python ~/tf"
    return (
        Fix(
            id="install-older-tensorflow",
            title=f"{verb} TensorFlow {release.latest}{where}",
            action="command",
            text=f"{make if where else 'pip install'} {package.words}",
            gain=unblocks("its code runs here"),
            risk="medium",
            effort_minutes=30,
            release=package.release,
        ),
    )


def extra_fails(version: str, python: str) -> bool:
    """Tell whether pip cannot resolve the and-cuda extra of this version on this Python."""
    defect = tensorflow_releases.defect("tensorrt-pin-py311", version)
    return defect is not None and defect.applies(python=f"{python}.0") is True
