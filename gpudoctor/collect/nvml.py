"""The driver and its GPUs through NVML: the only module that imports pynvml, and only when it runs.

It hands over what it has read as it goes, for the next call may never return. It never calls nvmlShutdown: its process ends
anyway, and on a sick driver that call is one more that can hang.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Generator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpudoctor.collect import driver_libraries
from gpudoctor.collect.isolate import failure
from gpudoctor.collect.nvml_device import Binding, Device
from gpudoctor.collect.nvml_gpu import Describe, read_identity, read_link, read_moving, read_state
from gpudoctor.collect.nvml_mig import read_instances
from gpudoctor.collect.processes import Processes
from gpudoctor.knowledge import nvml_returns, versions
from gpudoctor.model.gpu import Gpu, LinkSample, MigInstance
from gpudoctor.model.machine import Nvml
from gpudoctor.model.missing import Maybe, Missing

SONAMES = ("libnvidia-ml.so.1", "libnvidia-ml.so")  # some systems have only one of them (gpud PR 415, LACT 414)
NEEDED = ("nvmlInit", "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex")
LIBRARY_NOT_FOUND, BINDING_BROKEN = "library_not_found", "binding_broken"
UNFINISHED = "unfinished"  # a GPU whose identity was read and whose state was not; never leaves this module
MILLI = 1000
KIBI = 1024
PCIE_SENT, PCIE_RECEIVED = 0, 1  # nvmlPcieUtilCounter_t: as the GPU sees it
NOT_READ = "not_read"  # its turn never came: a GPU before it did not answer

Part = Nvml | Gpu


class Unusable(Exception):  # noqa: N818  # an answer, not an error
    """NVML cannot be used: the status word of the snapshot, and a message."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Session:
    """NVML, loaded and started by `open_session`. A monitor keeps one, in a process of its own, and samples it."""

    def __init__(self, binding: Binding, describe: Describe) -> None:
        self._binding, self._describe = binding, describe
        self._devices: dict[int, Device] = {}

    def system(self) -> Nvml:
        """Return what NVML tells about driver and library."""
        ask = self._binding.ask
        cuda = ask("nvmlSystemGetCudaDriverVersion_v2")
        return Nvml(
            status="ok",
            message=Missing("none"),
            driver_version=ask("nvmlSystemGetDriverVersion"),
            cuda_driver_version=cuda if isinstance(cuda, Missing) else versions.from_cuda_number(cuda),
            library_version=ask("nvmlSystemGetNVMLVersion"),
            device_count=ask("nvmlDeviceGetCount"),
        )

    def identify(self, index: int) -> Gpu:
        """Return which GPU this is."""
        device = self._devices[index] = Device(self._binding, index)
        return read_identity(device)

    def sample(self, identity: Gpu) -> Gpu:
        """Return the GPU with its present state."""
        return read_state(self._devices[identity.index], identity, self._describe)

    def sample_moving(self, last: Gpu) -> Gpu:
        """Return the GPU with what moves from second to second; the rest stays as `last` has it."""
        return read_moving(self._devices[last.index], last, self._describe)

    def energy_j(self, index: int) -> Maybe[float]:
        """Return what the GPU has used since the driver was loaded (Volta and later; NVML counts in mJ)."""
        told = self._devices[index].number("nvmlDeviceGetTotalEnergyConsumption")
        return told if isinstance(told, Missing) else told / MILLI

    def pcie_throughput(self, index: int) -> tuple[Maybe[int], Maybe[int]]:
        """Return KiB per second received and sent by the GPU. Each of the two calls blocks for 20 ms (nvml.h)."""
        ask = self._devices[index].number
        return ask("nvmlDeviceGetPcieThroughput", PCIE_RECEIVED), ask("nvmlDeviceGetPcieThroughput", PCIE_SENT)

    def mig_instances(self, index: int) -> tuple[MigInstance, ...]:
        """Return the parts that MIG made of the GPU."""
        return read_instances(self._binding, self._devices[index])

    def look_at_link(self, index: int) -> LinkSample:
        """Return the GPU's link and what it receives now; blocks for 40 ms."""
        device = self._devices.setdefault(index, Device(self._binding, index))
        received, _ = self.pcie_throughput(index)
        rate = received if isinstance(received, Missing) else received * KIBI
        return LinkSample(link=read_link(device), received_bytes_per_s=rate)


def open_session(root: Path = Path("/"), describe: Describe | None = None) -> Session:
    """Load and start NVML. Raises Unusable; may never return on a sick driver, so call it where that can be borne."""
    return _start(_load(root)[0], describe or Processes(root).describe)


def collect_nvml(
    root: Path = Path("/"),
) -> Generator[Part, None, tuple[Nvml, Maybe[tuple[Gpu, ...]]]]:
    """Read NVML; hand over each part as it is known, return all of it. `joined` makes the same of the parts alone."""
    path: Maybe[str] = Missing("not found")
    try:
        library, path = _load(root)
        yield Nvml(library_path=path)
        session = _start(library, Processes(root).describe)
    except Unusable as unusable:
        why = Missing(f"NVML: {unusable.status}")
        nvml = Nvml(
            status=unusable.status,
            message=unusable.message,
            driver_version=why,
            cuda_driver_version=why,
            library_version=why,
            library_path=path,
            device_count=why,
        )
        return _with_path(nvml, path), why
    nvml = _with_path(session.system(), path)
    yield nvml
    if isinstance(nvml.device_count, Missing):
        return nvml, nvml.device_count
    identities = [session.identify(index) for index in range(nvml.device_count)]
    for identity in identities:
        yield replace(identity, status=UNFINISHED)
    gpus: list[Gpu] = []
    for identity in identities:
        gpus.append(session.sample(identity))
        yield gpus[-1]
    return nvml, tuple(gpus)


def joined(parts: Iterable[object], reason: str) -> tuple[Nvml, Maybe[tuple[Gpu, ...]]]:
    """Return what was read before NVML hung or crashed; `reason` (timeout after 3 s) names what happened to the rest."""
    word = reason.partition(" ")[0].rstrip(":")
    nvml, gpus = Nvml(), dict[int, Gpu]()
    for part in parts:
        if isinstance(part, Nvml):
            nvml = part
        elif isinstance(part, Gpu):
            gpus[part.index] = part
    count = nvml.device_count
    message = f"NVML did not answer: {reason}"
    if isinstance(count, Missing):
        return replace(nvml, status=word, message=message), Missing(reason)
    last = word
    for index in range(count):
        known = gpus.get(index, Gpu(index=index, status=UNFINISHED))
        if known.status == UNFINISHED:
            message += f" (GPU {index})" if last == word else ""
            known, last = replace(known, status=last), NOT_READ
        gpus[index] = known
    return replace(nvml, status=word, message=message), tuple(gpus[index] for index in range(count))


def _with_path(nvml: Nvml, path: Maybe[str]) -> Nvml:
    """Add the file that was loaded, and its version where NVML itself did not tell one."""
    if isinstance(path, Missing):
        return nvml
    version = nvml.library_version
    if isinstance(version, Missing):
        version = driver_libraries.version_in_name(path) or version
    return replace(nvml, library_path=path, library_version=version)


def _load(root: Path) -> tuple[Any, str]:  # ctypes looks functions up by name
    """Return the loaded library and its file. Raises Unusable when there is none."""
    if sys.platform == "win32":
        return None, "nvml.dll"  # the bindings know its places
    problems: list[str] = []
    for name in _names(root):
        try:
            return ctypes.CDLL(name), driver_libraries.mapped(SONAMES[1]) or name
        except OSError as error:  # noqa: PERF203  # three files at the most
            problems.append(str(error))
    raise Unusable(LIBRARY_NOT_FOUND, problems[0] if problems else f"{SONAMES[0]}: not found under the machine root")


def _names(root: Path) -> Iterable[str]:
    """Yield what to load, best first. On WSL a distribution's own NVML is a stub that sees no GPU (nvtop issue 318)."""
    here = driver_libraries.is_this_machine(root)
    for soname in SONAMES:
        if not here:
            yield from map(str, driver_libraries.candidates(soname, root))
            continue
        wsl = Path("/", driver_libraries.WSL_FOLDER, soname)
        if wsl.exists() and not any((each / soname).exists() for each in driver_libraries.library_path_folders()):
            yield str(wsl)
        yield soname


def _start(library: Any, describe: Describe) -> Session:
    """Put the library under the bindings and start it. Raises Unusable with NVML's status word."""
    module = _bindings()
    if library is not None:
        owner: Any = sys.modules.get(module.nvmlInit.__module__, module)
        owner.nvmlLib = library  # where every version of the bindings keeps it; they load by name only when it is None
    try:
        module.nvmlInit()
    except module.NVMLError as error:
        code = getattr(error, "value", -1)
        raise Unusable(nvml_returns.word(code), f"nvmlInit returned {code}: {error}") from error
    except Exception as error:
        raise Unusable(BINDING_BROKEN, _blame(module, failure(error))) from error
    return Session(Binding(module, library or module.nvmlLib), describe)


def _bindings() -> Any:
    """Import the bindings. Raises Unusable for a damaged module or another one of that name."""
    try:
        import pynvml  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]  # 8000 lines that only this source needs
    except (Exception, SystemExit) as error:
        raise Unusable(BINDING_BROKEN, f"import pynvml: {failure(error)}") from error
    lacking = [name for name in NEEDED if not callable(getattr(pynvml, name, None))]
    kind = getattr(pynvml, "NVMLError", None)
    if lacking or not (isinstance(kind, type) and issubclass(kind, Exception)):
        raise Unusable(BINDING_BROKEN, _blame(pynvml, f"it has no {', '.join(lacking) or 'NVMLError'}"))
    return pynvml


def _blame(module: Any, reason: str) -> str:
    place = getattr(module, "__file__", None) or "an unknown place"
    return f"pynvml from {place} is not NVIDIA's nvidia-ml-py: {reason}"
