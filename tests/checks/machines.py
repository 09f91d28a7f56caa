"""Small typed builders of whole machines: start from a healthy one, change one group, judge.

Every builder gives a full snapshot of the `standard` level, so that a test changes one fact and knows it is alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpudoctor.model.gpu import Clocks, Ecc, Gpu, GpuProcess, Memory, Pcie, Power, Utilization
from gpudoctor.model.machine import (
    Cpu,
    Cuda,
    CudaDevice,
    DeviceNode,
    Host,
    Kernel,
    Nvml,
    PciGpu,
    Scheduler,
)
from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import Log, LogEvent, Probe, ProbeChild, Trial
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.software import Library, Python
from tests.checks.software import (
    OFFICIAL_CODE,
    SITE_PACKAGES,
    cudnn,
    official_tensorflow,
    wheel_libraries,
    wheel_library,
    wheel_packages,
)
from tests.checks.trials import broken, healthy_trials, on_cpu, paired, refused, trained

__all__ = [
    "GIB",
    "MIB",
    "OFFICIAL_CODE",
    "SITE_PACKAGES",
    "TAKEN_AT",
    "broken",
    "changed",
    "cudnn",
    "healthy_h100",
    "healthy_t4",
    "healthy_trials",
    "make_gpu",
    "make_machine",
    "nodes",
    "official_tensorflow",
    "on_cpu",
    "paired",
    "refused",
    "trained",
    "wheel_libraries",
    "wheel_library",
    "wheel_packages",
    "with_env",
    "with_events",
    "with_library",
    "with_packages",
    "with_trial",
    "without",
    "without_probe",
]

MIB = 1024 * 1024
GIB = 1024 * MIB

MAPPINGS = frozenset({"env", "packages", "missing", "timings_s"})
TAKEN_AT = "2026-11-30T12:00:00+00:00"
DRIVER_CUDA = {
    "450": "11.0",
    "470": "11.4",
    "525": "12.0",
    "535": "12.2",
    "550": "12.4",
    "555": "12.5",
    "570": "12.8",
    "573": "12.8",
    "580": "13.0",
    "581": "13.0",
    "595": "13.2",
}


def with_trial(snapshot: Snapshot, trial: Trial | None, *, name: str = "baseline") -> Snapshot:
    """Return the machine with one trial replaced (None: it did not run)."""
    probe = snapshot.probe or Probe()
    trials = {key: value for key, value in probe.trials.items() if key != name}
    if trial is not None:
        trials[name] = trial
    return replace(snapshot, probe=replace(probe, trials=trials))


def with_env(snapshot: Snapshot, **variables: str) -> Snapshot:
    """Return the machine with environment variables added."""
    return replace(snapshot, env={**(snapshot.env or {}), **variables})


def with_packages(snapshot: Snapshot, versions: Mapping[str, str | None]) -> Snapshot:
    """Return the machine with packages added, changed, or (None) removed."""
    merged: dict[str, str | None] = {**(snapshot.packages or {}), **versions}
    return replace(snapshot, packages={name: version for name, version in merged.items() if version is not None})


def with_library(snapshot: Snapshot, library: Library) -> Snapshot:
    """Return the machine with the library of that soname replaced."""
    others = tuple(each for each in snapshot.libraries or () if each.soname != library.soname)
    return replace(snapshot, libraries=(*others, library))


def with_events(snapshot: Snapshot, *events: LogEvent) -> Snapshot:
    """Return the machine with the events of a log."""
    return replace(snapshot, log=Log(events=events))


def changed(snapshot: Snapshot, **groups: object) -> Snapshot:
    """Return the machine with groups replaced; a dict changes single fields of a group (`kernel={"uvm_loaded": False}`).

    The groups env and packages are mappings themselves and are replaced whole.
    """
    merged: dict[str, Any] = {}  # field names are data here; replace() refuses unknown ones
    for name, value in groups.items():
        group: Any = getattr(snapshot, name)
        fields: Any = value
        single = isinstance(value, dict) and name not in MAPPINGS
        merged[name] = replace(group, **fields) if single else value
    return replace(snapshot, **merged)


def without(snapshot: Snapshot, *groups: str) -> Snapshot:
    """Return the machine with whole groups of facts unknown."""
    reasons = {**snapshot.missing, **dict.fromkeys(groups, "removed by the test")}
    nothing: dict[str, Any] = dict.fromkeys(groups)  # group names are data here; replace() refuses unknown ones
    return replace(snapshot, missing=reasons, **nothing)


def without_probe(snapshot: Snapshot) -> Snapshot:
    """Return the machine as `--level quick` sees it."""
    return without(snapshot, "probe")


def make_gpu(
    index: int = 0,
    *,
    name: str = "NVIDIA H100 80GB HBM3",
    cc: str = "9.0",
    memory_mib: int = 81559,
    limit_w: float = 700.0,
    sm_max_mhz: int = 1980,
    processes: tuple[GpuProcess, ...] = (),
    ecc: bool = True,
) -> Gpu:
    """Return one idle, sound GPU."""
    used = 4 * MIB + sum(each.memory_bytes for each in processes if isinstance(each.memory_bytes, int))
    total = memory_mib * MIB
    return Gpu(
        index=index,
        name=name,
        uuid=f"GPU-00000000-0000-0000-0000-{index:012d}",
        pci=f"00000000:{0x18 + index:02X}:00.0",
        compute_capability=cc,
        memory=Memory(
            total_bytes=total, used_bytes=used, free_bytes=total - used - 600 * MIB, reserved_bytes=600 * MIB
        ),
        utilization=Utilization(gpu_percent=0, memory_percent=0),
        power=Power(draw_w=limit_w * 0.1, limit_w=limit_w, default_limit_w=limit_w, max_limit_w=limit_w),
        temperature_c=36,
        temperature_slowdown_c=89,
        fan_percent=Missing("not_supported"),
        performance_state=0,
        clocks=Clocks(sm_mhz=345, sm_max_mhz=sm_max_mhz, memory_mhz=2619, memory_max_mhz=2619),
        throttle_reasons=("GpuIdle",),
        pcie=Pcie(gen=1, gen_max=5, width=16, width_max=16),
        ecc=Ecc(enabled=True, corrected=0, uncorrected=0, retired_pages=0, remapped_rows=0, remap_pending=False)
        if ecc
        else Ecc(enabled=Missing("not_supported")),
        mig_mode="disabled",
        mig_instances=0,
        compute_mode="default",
        persistence=True,
        display_active=False,
        processes=processes,
    )


def nodes(count: int = 1) -> tuple[DeviceNode, ...]:
    """Return the device nodes of a machine with that many GPUs, all open to the user."""
    paths = [*(f"/dev/nvidia{index}" for index in range(count)), "/dev/nvidiactl", "/dev/nvidia-uvm"]
    return tuple(DeviceNode(path=path, readable=True, writable=True, mode="0666") for path in paths)


def make_machine(
    gpus: tuple[Gpu, ...] | None = None, *, driver: str = "580.95.05", tensorflow: str = "2.20.0"
) -> Snapshot:
    """Return a healthy Linux machine with these GPUs, driver and official wheel."""
    gpus = gpus or (make_gpu(),)
    cuda_version = DRIVER_CUDA.get(driver.partition(".")[0], "13.0")
    return Snapshot(
        tool_version="0",
        taken_at=TAKEN_AT,
        host=Host(
            os="linux",
            distribution="Ubuntu 24.04",
            kernel="6.8.0-90-generic",
            arch="x86_64",
            libc="glibc 2.39",
            wsl=False,
            container="none",
            cpu=Cpu(model="Intel Xeon", cores=16, affinity=16, quota_cores=Missing("unlimited")),
            memory_bytes=128 * GIB,
            memory_available_bytes=100 * GIB,
            shm_bytes=64 * GIB,
        ),
        nvml=Nvml(
            status="ok",
            message=Missing("none"),
            driver_version=driver,
            cuda_driver_version=cuda_version,
            library_version=f"{cuda_version.partition('.')[0]}.{driver}",
            library_path="/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
            device_count=len(gpus),
        ),
        cuda=Cuda(
            status="ok",
            message=Missing("none"),
            libcuda_path=f"/usr/lib/x86_64-linux-gnu/libcuda.so.{driver}",
            library_version=driver,
            origin="driver",
            other_paths=(),
            cu_init=0,
            cu_init_name="CUDA_SUCCESS",
            driver_api_version=cuda_version,
            devices=tuple(
                CudaDevice(
                    name=gpu.name,
                    compute_capability=gpu.compute_capability,
                    pci=gpu.pci,
                    memory_bytes=gpu.memory.total_bytes,
                )
                for gpu in gpus
            ),
        ),
        scheduler=Scheduler(kind="none", allocated_gpus=Missing("no scheduler"), job=Missing("no scheduler")),
        kernel=Kernel(
            module_version=driver,
            module_loaded=True,
            flavour="open",
            nouveau_loaded=False,
            uvm_loaded=True,
            secure_boot=False,
            module_on_disk=True,
            device_nodes=nodes(len(gpus)),
            pci_gpus=tuple(
                PciGpu(address=str(gpu.pci)[4:].lower(), driver="nvidia", runtime_status="active") for gpu in gpus
            ),
            xids=(),
            log_readable=True,
        ),
        gpus=gpus,
        python=Python(
            version="3.11.9",
            executable="~/venv/bin/python",
            prefix="~/venv",
            manager="venv",
            chosen_by="VIRTUAL_ENV",
            site_packages=(SITE_PACKAGES,),
        ),
        packages=wheel_packages(tensorflow),
        tensorflow=official_tensorflow(tensorflow, visible_gpus=len(gpus)),
        libraries=wheel_libraries(),
        env={},
        probe=Probe(
            trials=healthy_trials(),
            children=(
                ProbeChild(
                    environment="default",
                    import_s=3.1,
                    import_error=Missing("none"),
                    tensorflow_version=tensorflow,
                    keras_version="3.15.1",
                    visible_gpus=len(gpus),
                ),
            ),
            duration_s=24.0,
        ),
    )


def healthy_h100() -> Snapshot:
    """Return a server with one H100: most kernels are compiled from PTX once, which is no fault."""
    return make_machine()


def healthy_t4() -> Snapshot:
    """Return a cloud machine with one T4."""
    return make_machine(
        (make_gpu(name="Tesla T4", cc="7.5", memory_mib=15360, limit_w=70.0, sm_max_mhz=1590),), driver="580.95.05"
    )
