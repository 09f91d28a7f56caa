"""Facts that checks ask for by type, made from a snapshot: wrappers of its lists and what several groups tell together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpudoctor.model.gpu import Gpu
from gpudoctor.model.missing import NOT_COLLECTED, Maybe, Missing
from gpudoctor.model.record import dataclass
from gpudoctor.model.software import Library


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpus:
    """The GPUs that NVML lists, in its order."""

    devices: tuple[Gpu, ...] = ()

    def __iter__(self) -> Iterator[Gpu]:
        """Iterate over the devices."""
        return iter(self.devices)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.devices)


@dataclass(frozen=True, slots=True, kw_only=True)
class Libraries:
    """The shared libraries that the TensorFlow build needs, and their rivals."""

    items: tuple[Library, ...] = ()

    def find(self, prefix: str) -> Library | None:
        """Return the library whose soname starts with the prefix (`libcudnn.so`)."""
        return next((each for each in self.items if each.soname.startswith(prefix)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packages:
    """Installed distributions of the target environment: normalised name -> version."""

    versions: Mapping[str, str]

    def version(self, name: str) -> str | None:
        """Return the version of a distribution, by its normalised name; None also for what is no version at all."""
        found = self.versions.get(name)
        return found if found and found.lstrip("vV ")[:1].isdecimal() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The environment variables that matter (unset ones are absent)."""

    variables: Mapping[str, str]

    def get(self, name: str) -> str | None:
        """Return the value, None where unset."""
        return self.variables.get(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Driver:
    """The NVIDIA driver as NVML, the kernel module and libcuda tell it together.

    `version` like "580.95.05" (on WSL the Windows number: `windows_numbering`); `cuda_version` the newest CUDA that it
    supports; `usable`: cuInit returned 0, or, where libcuda was not asked, NVML is ok and lists a device.
    """

    version: Maybe[str] = NOT_COLLECTED
    version_from: Maybe[str] = NOT_COLLECTED
    cuda_version: Maybe[str] = NOT_COLLECTED
    windows_numbering: bool = False
    usable: Maybe[bool] = NOT_COLLECTED
    device_count: Maybe[int] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """The GPUs whose name and compute capability are known, from libcuda, else NVML: what code must run on."""

    names: tuple[str, ...] = ()
    compute_capabilities: tuple[int, ...] = ()


def cc_number(text: str | Missing) -> int | Missing:
    """Return a compute capability as a number: "8.6" -> 86, "10.0" -> 100."""
    if isinstance(text, Missing):
        return text
    major, _, minor = text.partition(".")
    if not (major.isdigit() and minor.isdigit()):
        return Missing(f"not a compute capability: {text!r}")
    return int(major) * 10 + int(minor)
