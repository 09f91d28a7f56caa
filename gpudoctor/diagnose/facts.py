"""The facts of a snapshot by type, as checks ask for them; an absent one is Missing with its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpudoctor.model.machine import Cuda, Host, Kernel, Nvml, Scheduler
from gpudoctor.model.missing import Missing, either
from gpudoctor.model.observed import Log, Probe
from gpudoctor.model.phases import Calls, Tracings
from gpudoctor.model.run import HotLines, MachineOverTime, Pipeline, Run, Settings, StepTimes
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.software import Python, TensorFlow
from gpudoctor.model.trends import Memory
from gpudoctor.model.views import Devices, Driver, Environment, Gpus, Libraries, Packages, cc_number

Facts = Mapping[type, object]
SILENT = frozenset({"timeout", "crashed", "binding_broken"})  # NVML said nothing about the driver: that is not a no
GROUPS: Mapping[type, str] = {
    Host: "host",
    Nvml: "nvml",
    Cuda: "cuda",
    Scheduler: "scheduler",
    Kernel: "kernel",
    Python: "python",
    TensorFlow: "tensorflow",
    Log: "log",
    Probe: "probe",
    Run: "run",
}
PARTS_OF_RUN: Mapping[type, str] = {
    StepTimes: "steps",
    Pipeline: "pipeline",
    HotLines: "hot_lines",
    Settings: "settings",
    Tracings: "tracings",
    Calls: "calls",
    MachineOverTime: "machine",
    Memory: "memory",
}


def gather(snapshot: Snapshot) -> Facts:
    """Return every fact type with its value or Missing(reason)."""
    facts: dict[type, object] = {
        kind: _or_missing(snapshot, group, getattr(snapshot, group)) for kind, group in GROUPS.items()
    }
    wrap: dict[type, tuple[str, Callable[[], object]]] = {
        Gpus: ("gpus", lambda: Gpus(devices=snapshot.gpus or ())),
        Libraries: ("libraries", lambda: Libraries(items=snapshot.libraries or ())),
        Packages: ("packages", lambda: Packages(versions=snapshot.packages or {})),
        Environment: ("env", lambda: Environment(variables=snapshot.env or {})),
    }
    for kind, (group, make) in wrap.items():
        absent = getattr(snapshot, group) is None
        facts[kind] = Missing(f"{group}: {snapshot.why_missing(group)}") if absent else make()
    for kind, part in PARTS_OF_RUN.items():
        facts[kind] = _part_of_run(snapshot, part)
    facts[Driver] = _driver(snapshot)
    facts[Devices] = _devices(snapshot)
    return facts


def _or_missing(snapshot: Snapshot, group: str, value: object) -> object:
    return Missing(f"{group}: {snapshot.why_missing(group)}") if value is None else value


def _part_of_run(snapshot: Snapshot, part: str) -> object:
    if snapshot.run is None:
        return Missing(f"run: {snapshot.why_missing('run')}")
    value = getattr(snapshot.run, part)
    return Missing(f"run.{part}: {snapshot.run.unknown.get(part, 'not recorded')}") if value is None else value


def _driver(snapshot: Snapshot) -> Driver | Missing:
    nvml, cuda, kernel = snapshot.nvml, snapshot.cuda, snapshot.kernel
    if nvml is None and cuda is None and kernel is None:
        return Missing(f"driver: {snapshot.why_missing('nvml')}")
    nvml, cuda, kernel = nvml or Nvml(), cuda or Cuda(), kernel or Kernel()
    sources = (
        (nvml.driver_version, "NVML"),
        (kernel.module_version, "kernel module"),
        (cuda.library_version, "libcuda file name"),
    )
    version, source = next(
        ((version, source) for version, source in sources if not isinstance(version, Missing)),
        (Missing(f"no driver found ({either(nvml.status, 'NVML not asked')})"), Missing("no source")),
    )
    return Driver(
        version=version,
        version_from=source,
        cuda_version=nvml.cuda_driver_version
        if isinstance(cuda.driver_api_version, Missing)
        else cuda.driver_api_version,
        windows_numbering=snapshot.host is not None and either(snapshot.host.wsl, False),
        usable=_usable(snapshot, nvml, cuda),
        device_count=_device_count(snapshot, nvml, cuda),
    )


def _usable(snapshot: Snapshot, nvml: Nvml, cuda: Cuda) -> bool | Missing:
    """Ask cuInit before NVML: it is what TensorFlow itself will call."""
    if not isinstance(cuda.cu_init, Missing):
        return cuda.cu_init == 0 and either(_device_count(snapshot, nvml, cuda), 0) > 0
    if either(cuda.status, "") == "library_not_found":
        return False
    if isinstance(nvml.status, Missing):
        return Missing(f"neither libcuda nor NVML answered ({nvml.status.reason})")
    if nvml.status in SILENT:
        return Missing(f"neither libcuda nor NVML answered (NVML: {nvml.status})")
    return nvml.status == "ok" and any(gpu.status == "ok" for gpu in snapshot.gpus or ())


def _device_count(snapshot: Snapshot, nvml: Nvml, cuda: Cuda) -> int | Missing:
    if not isinstance(cuda.devices, Missing):
        return len(cuda.devices)
    if snapshot.gpus is not None:
        return len(snapshot.gpus)
    return nvml.device_count


def _devices(snapshot: Snapshot) -> Devices | Missing:
    """Names and compute capabilities of what code must run on: CUDA's own list, else NVML's."""
    listed: list[tuple[str | Missing, str | Missing]] = []
    if snapshot.cuda is not None and not isinstance(snapshot.cuda.devices, Missing):
        listed = [(each.name, each.compute_capability) for each in snapshot.cuda.devices]
    if not listed and snapshot.gpus is not None:
        listed = [(each.name, each.compute_capability) for each in snapshot.gpus if each.status == "ok"]
    pairs = [(either(name, "?"), number) for name, cc in listed if not isinstance(number := cc_number(cc), Missing)]
    if not pairs:
        return Missing("devices: no GPU whose compute capability is known")
    return Devices(names=tuple(name for name, _ in pairs), compute_capabilities=tuple(number for _, number in pairs))
