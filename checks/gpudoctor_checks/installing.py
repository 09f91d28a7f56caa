"""Which TensorFlow to install for these GPUs, this driver, processor, system and Python: one answer for all checks.

Each check choosing by itself would be tempting; it forgets one of the five, and the machine that follows its advice is
one that the next scan calls broken.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.sdk import (
    Devices,
    Driver,
    Fix,
    Host,
    Python,
    cuda_toolkits,
    either,
    tensorflow_releases,
    unblocks,
    versions,
)
from gpudoctor_checks.remedies import RUN_NGC, WORKING, Package, extra_fails, with_cuda

# Python of the Ubuntu that `wsl --install -d Ubuntu` brings: 24.04, the distribution's release notes.
WSL_PYTHON = "3.12"
BLACKWELL = 100
ARM = frozenset({"aarch64", "arm64"})  # its wheels are CPU-only, and and-cuda still downloads gigabytes there
OTHER_BUILD = Fix(
    id="other-build",
    title="Use a TensorFlow with code for this GPU",
    action="manual",
    text="Use an image or package built for this compute capability, or build TensorFlow with it",
    gain=unblocks("a GPU below the build's minimum is never used"),
    effort_minutes=60,
)
OTHER_GPU = Fix(
    id="other-gpu",
    title="Use another GPU, or the CPU",
    action="manual",
    text="No TensorFlow from 2.4 on has code for this GPU, nor can its CUDA compile any: take a newer GPU or train on the CPU",
    gain=unblocks("a GPU that CUDA 11 and newer dropped is never used"),
    effort_minutes=60,
)


def install_tensorflow(
    title: str,
    *,
    wanted: str = "",
    before: str = "",
    devices: Devices | None,
    driver: Driver | None,
    host: Host | None,
    python: Python | None,
    cuda: bool = True,
) -> tuple[Fix, ...]:
    """Return how to get a TensorFlow that trains on this machine's GPUs; `wanted`: the release to stay with if it can.

    Without `cuda`, where there is no GPU for certain, the gigabytes of CUDA are left out.
    """
    system = either(host.os, "linux") if host is not None else "linux"
    if system == "darwin":
        return ()
    capabilities = devices.compute_capabilities if devices is not None else ()
    own = WSL_PYTHON if system == "windows" else minor_of(python)
    release = release_for(capabilities, driver, own, wanted)
    if release is None or (host is not None and either(host.arch, "x86_64") in ARM):
        new = not capabilities or max(capabilities) >= BLACKWELL or release is not None
        return (RUN_NGC,) if new else (elsewhere(min(capabilities)),)
    stays = bool(wanted) and tensorflow_releases.release_of(wanted) is release
    version = wanted if stays else release.latest
    package = with_cuda(version, capabilities) if cuda else Package(f"'tensorflow=={version}'", version)
    if system == "windows":
        return (_in_wsl(package),)
    here = not own or own in fitting(release)  # else an environment of its own is made, and this one stays as it is
    text = f"{before if here else ''}{pip_install(package.words, release, own)}"
    return (_fix("install-tensorflow", title, text, 3, package.release),)


def elsewhere(capability: int) -> Fix:
    """Return what is left where pip has no release for a GPU and its driver: another build, or for the oldest another GPU."""
    served = any(tensorflow_releases.covers(each, capability) in WORKING for each in tensorflow_releases.RELEASES)
    return OTHER_BUILD if served or capability >= BLACKWELL else OTHER_GPU


def make_environment(devices: Devices | None, driver: Driver | None, host: Host | None) -> tuple[Fix, ...]:
    """Return the environment to make: an older Python than the newest, since other packages lag behind as well."""
    release = release_for(devices.compute_capabilities if devices is not None else (), driver, "")
    if release is None or (host is not None and either(host.arch, "") in ARM):
        return install_tensorflow("", devices=devices, driver=driver, host=host, python=None)
    able = fitting(release)
    python = able[-2] if len(able) > 1 else able[-1]
    package = with_cuda(release.latest, devices.compute_capabilities if devices is not None else ())
    return (
        Fix(
            id="fitting-python",
            title=f"Make an environment with Python {python}",
            action="command",
            text=f"uv venv --python {python} ~/tf && uv pip install --python ~/tf {package.words}",
            gain=unblocks("pip has a wheel for it"),
            effort_minutes=5,
            release=package.release,
        ),
    )


def release_for(
    capabilities: Sequence[int], driver: Driver | None, python: str, wanted: str = ""
) -> tensorflow_releases.TfRelease | None:
    """Return the newest release that brings its CUDA and has code for these GPUs, best for driver and Python as they are."""
    kept = tensorflow_releases.release_of(wanted) if wanted else None
    newest = reversed(tensorflow_releases.RELEASES)
    sound = [each for each in (kept, *newest) if each is not None and _sound(each, capabilities)]
    driven = [each for each in sound if _drives(driver, each)] or sound  # an old driver is for GD101 to mend
    return next((each for each in driven if not python or python in fitting(each)), next(iter(driven), None))


def fitting(release: tensorflow_releases.TfRelease) -> list[str]:
    """Return the Pythons for which pip can install the release with its CUDA wheels."""
    return [each for each in release.python if not extra_fails(release.latest, each)]


def pip_install(package: str, release: tensorflow_releases.TfRelease, own: str) -> str:
    """Return the command, complete: where the Python does not fit, it first makes an environment with one that does."""
    if not own or own in fitting(release):
        return f"pip install {package}"
    return f"uv venv --python {fitting(release)[-1]} ~/tf && uv pip install --python ~/tf {package}"


def minor_of(python: Python | None) -> str:
    """Return "3.11", '' where it is unknown."""
    return versions.minor(python.version) if python is not None and isinstance(python.version, str) else ""


def _sound(release: tensorflow_releases.TfRelease, capabilities: Sequence[int]) -> bool:
    if release.prerelease or not release.and_cuda or not tensorflow_releases.finds_its_wheels(release.latest):
        return False
    return all(tensorflow_releases.covers(release, cc) in WORKING for cc in capabilities)


def _drives(driver: Driver | None, release: tensorflow_releases.TfRelease) -> bool:
    version = either(driver.version, "") if driver is not None else ""
    windows = driver is not None and driver.windows_numbering
    needed = cuda_toolkits.minimum_driver(release.cuda_version or "", windows=windows)
    return not version or not needed or versions.at_least(version, needed)


def _in_wsl(package: Package) -> Fix:
    install = f"python3 -m venv ~/tf && ~/tf/bin/pip install {package.words}"
    text = f'wsl --install -d Ubuntu && wsl -d Ubuntu -- sh -c "{install}"'
    return _fix("install-in-wsl", "Install TensorFlow with CUDA inside WSL2", text, 20, package.release)


def _fix(name: str, title: str, text: str, minutes: float, release: str) -> Fix:
    gain = unblocks("this build finds its CUDA and has code for the GPU")
    return Fix(id=name, title=title, action="command", text=text, gain=gain, effort_minutes=minutes, release=release)
