"""The machines that the fakes play: the 21 rows of the robustness matrix, and some more for single tests.

Each row tells the true reason beside the answers, so that a test compares a verdict with the truth and not with
what the code happens to say. What libcuda answers on a machine with a lost GPU was not measured on hardware.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.fake_nvml.figures import (
    Figures,
    desktop_rtx3090,
    h100,
    idle_h100,
    pci_address,
    scenario_text,
    sick_h100,
    v100,
)
from tests.sysroot import Machine, PciGpu

CUDA_OK, CUDA_NO_DEVICE, CUDA_DRIVER_MISMATCH, CUDA_COMPAT_NOT_SUPPORTED, CUDA_UNKNOWN = 0, 100, 803, 804, 999
_GHOST_PID = 4_194_303  # the largest pid that Linux allows: nothing on a test machine has it
_JOB_BYTES = 31_000_000_001
_JOBS = (f"gpu0.process=job,{_JOB_BYTES}", "gpu0.process_sample=job,91,41,3,13")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One machine with a known truth.

    `text` goes to the fake NVML, `variant` names its build, `machine` the files around it, `cu_init` what libcuda
    answers. `expected_cause` is the id of causes.toml that must be primary (None: none may be named); where it is
    about TensorFlow's needs (driver-too-old), the target must hold a GPU build of TensorFlow for CUDA 12.
    """

    name: str
    text: str
    true_reason: str
    expected_cause: str | None
    gpus: tuple[Figures, ...]
    machine: Machine
    variant: str = "full"
    cu_init: int | str = CUDA_OK
    healthy: bool = False
    hangs: bool = False

    def with_lines(self, *lines: str) -> Scenario:
        """Return the scenario with further lines, which win over the earlier ones."""
        return replace(self, text=self.text + "".join(f"{line}\n" for line in lines))


def _scenario(
    name: str,
    true_reason: str,
    expected_cause: str | None,
    *lines: str,
    gpus: tuple[Figures, ...] = (sick_h100(0), h100(1)),
    driver: str = "580.95.05",
    cuda: int = 13000,
    variant: str = "full",
    machine: Machine | None = None,
    cu_init: int | str = CUDA_OK,
    healthy: bool = False,
    hangs: bool = False,
    jobs: tuple[str, ...] = _JOBS,
) -> Scenario:
    return Scenario(
        name=name,
        text=scenario_text(gpus, (*(jobs if gpus else ()), *lines), driver=driver, cuda=cuda),
        true_reason=true_reason,
        expected_cause=expected_cause,
        gpus=gpus,
        variant=variant,
        machine=machine or Machine(driver=driver, kernel_module=driver, pci_gpus=tuple(map(_on_bus, gpus))),
        cu_init=cu_init,
        healthy=healthy,
        hangs=hangs,
    )


def _on_bus(gpu: Figures) -> PciGpu:
    return PciGpu(address=pci_address(gpu), device=int(gpu["pci_id"]) >> 16, width=int(gpu["pcie_width"]))


_SICK_MACHINE = Machine(pci_gpus=(_on_bus(sick_h100(0)), _on_bus(h100(1))))
_HOT = "GPU 0 is at 91 C and its hardware lowers the clocks: 1200 of 1980 MHz"
_FELL_OFF = "NVRM: Xid (PCI:0000:17:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
_NO_RECORD = replace(_SICK_MACHINE, kernel_log=None)
_OFF_THE_BUS = replace(_SICK_MACHINE, kernel_log=(_FELL_OFF, "NVRM: GPU 0000:17:00.0: GPU has fallen off the bus."))
_UNCORRECTABLE = replace(
    _SICK_MACHINE,
    kernel_log=(
        "NVRM: Xid (PCI:0000:17:00): 48, pid=4242, name=python, An uncorrectable double bit error (DBE) has been detected.",
        "NVRM: Xid (PCI:0000:17:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
    ),
)
_NOT_LOADED = Machine(kernel_module=None, secure_boot=True, pci_gpus=_SICK_MACHINE.pci_gpus)
_LOST_IN_CONTAINER = replace(
    _SICK_MACHINE, container="docker", device_rules=("c 1:3 rwm", "c 195:* m"), kernel_log=None
)

_MATRIX = (
    _scenario("base", _HOT, "throttle"),
    _scenario(
        "old_driver",
        "driver 450.248.02 (CUDA 11.0, ended in 2023) is older than the CUDA 12 runtime needs",
        "driver-too-old",
        "gpu0.temperature_c=91",
        "gpu0.reasons=0x48",
        "gpu0.clock_sm=1200",
        gpus=(v100(0), v100(1)),
        driver="450.248.02",
        cuda=11000,
        variant="old_symbols",
        jobs=("gpu0.process=job,9000000001",),
    ),
    _scenario("throttle_names_gone", _HOT, "throttle", variant="no_throttle_names"),
    _scenario(
        "init_version_mismatch",
        "user-space driver 580.95.05 over the still loaded kernel module 580.82.07",
        "driver-library-mismatch",
        "rc.init=18",
        machine=replace(_SICK_MACHINE, kernel_module="580.82.07"),
        cu_init=CUDA_DRIVER_MISMATCH,
    ),
    _scenario(
        "init_driver_not_loaded",
        "the nvidia kernel module is not loaded: Secure Boot is on and the module is unsigned",
        "kernel-module-not-loaded",
        "rc.init=9",
        machine=_NOT_LOADED,
        cu_init=CUDA_NO_DEVICE,
    ),
    _scenario(
        "init_unknown",
        "the container lost its permission for the GPU's device nodes after a systemd reload on the host",
        "nvml-lost-in-container",
        "rc.init=999",
        machine=_LOST_IN_CONTAINER,
        cu_init=CUDA_NO_DEVICE,
    ),
    _scenario(
        "handle_lost",
        "GPU 0 fell off the bus before the scan",
        "hardware-power-heat",
        "gpu0.rc.handle=15",
        "gpu0.rc.all=15",
        machine=_OFF_THE_BUS,
        cu_init=CUDA_UNKNOWN,
    ),
    _scenario(
        "handle_unknown",
        "GPU 0 does not answer; the kernel log shows that it fell off the bus",
        "hardware-power-heat",
        "gpu0.rc.handle=999",
        "gpu0.rc.all=999",
        machine=_OFF_THE_BUS,
        cu_init=CUDA_UNKNOWN,
    ),
    _scenario(
        "lost_after_handle",
        "GPU 0 is lost: each call after the handle says so; the kernel log is closed to this user",
        "hardware-power-heat",
        "gpu0.rc.all=15",
        machine=_NO_RECORD,
        cu_init=CUDA_UNKNOWN,
    ),
    _scenario(
        "reset_required",
        "GPU 0 had an uncorrectable memory error and waits for a reset",
        "hardware-power-heat",
        "gpu0.rc.all=16",
        machine=_UNCORRECTABLE,
    ),
    _scenario(
        "all_not_supported", "NVML gives no figure at all: whether the GPUs are well is unknown", None, "gpu*.rc.all=3"
    ),
    _scenario(
        "all_no_permission",
        "this user may not read the GPUs: their device nodes belong to root alone",
        "device-permission-mode",
        "gpu*.rc.all=4",
        machine=replace(_SICK_MACHINE, node_mode=0o600),
        cu_init=CUDA_NO_DEVICE,
    ),
    _scenario("memory_not_supported", _HOT, "throttle", "gpu*.rc.memory=3"),
    _scenario(
        "memory_total_zero", _HOT, "throttle", "gpu*.memory_total=0", "gpu*.memory_used=0", "gpu*.memory_reserved=0"
    ),
    _scenario("utilization_not_supported", _HOT, "throttle", "gpu*.rc.utilization=3"),
    _scenario("process_memory_unknown", _HOT, "throttle", "gpu1.process=job,na", "gpu1.graphics=job,na"),
    _scenario("ghost_process", _HOT, "throttle", f"gpu1.process={_GHOST_PID},{_JOB_BYTES + 1}"),
    _scenario(
        "mig_without_instances",
        "MIG mode is on and GPU 0 has no instance, so CUDA has no device",
        "mig",
        "gpu0.mig_current=1",
        "gpu0.mig_pending=1",
        "gpu0.rc.utilization=3",
        gpus=(sick_h100(0),),
        cu_init=CUDA_NO_DEVICE,
    ),
    _scenario("name_not_utf8", _HOT, "throttle", "gpu0.name=NVIDIA H100 \\xff\\xfe 80GB"),
    _scenario(
        "zero_gpus",
        "the driver runs and there is no NVIDIA GPU on the PCI bus",
        None,
        gpus=(),
        machine=Machine(pci_gpus=()),
        cu_init=CUDA_NO_DEVICE,
    ),
    _scenario(
        "hang",
        "the driver never answers when GPU 0 is asked for its utilisation",
        None,
        "gpu0.hang=utilization",
        gpus=(h100(0), h100(1)),
        hangs=True,
    ),
)

_ALL_8 = tuple(h100(index) for index in range(8))
_FURTHER = (
    _scenario("healthy", "a healthy GPU at work", None, gpus=(h100(0),), healthy=True),
    _scenario("healthy_8", "eight healthy GPUs at work", None, gpus=_ALL_8, healthy=True),
    _scenario("healthy_16", "sixteen healthy GPUs", None, gpus=tuple(map(h100, range(16))), healthy=True),
    _scenario("idle", "a healthy GPU at rest", None, gpus=(idle_h100(0),), jobs=(), healthy=True),
    _scenario(
        "desktop",
        "a healthy desktop card at rest",
        None,
        gpus=(desktop_rtx3090(0),),
        healthy=True,
        jobs=("gpu0.graphics=job,312000001",),
    ),
    _scenario(
        "operator_clocks",
        "an operator set the clocks: no fault",
        None,
        "gpu0.reasons=2",
        "gpu0.clock_sm=1410",
        gpus=(h100(0),),
        healthy=True,
    ),
    _scenario("wave_8", "eight healthy GPUs whose figures move", None, "wave=1", gpus=_ALL_8, healthy=True),
    _scenario(
        "mig_instances",
        "MIG mode is on with two instances",
        None,
        "gpu0.mig_current=1",
        "gpu0.mig_pending=1",
        "gpu0.rc.utilization=3",
        *(
            f"gpu0.mig{m}.{line}"
            for m in range(2)
            for line in (
                "name=NVIDIA H100 80GB HBM3 MIG 1g.10gb",
                f"uuid=MIG-0000000{m}-1a2b-3c4d-5e6f-70809000b000",
                f"gpu_instance={7 + m}",
                f"compute_instance={m}",
                f"memory_total={(9856 + m) << 20}",
                f"memory_used={(1234 + m) << 20}",
                f"multiprocessors={16 + m}",
                f"process=job,{1111 + m},{7 + m},{m}",
            )
        ),
        gpus=(h100(0),),
    ),
    _scenario(
        "init_no_permission",
        "the device nodes belong to root alone",
        "device-permission-mode",
        "rc.init=4",
        machine=replace(_SICK_MACHINE, node_mode=0o600),
        cu_init=CUDA_NO_DEVICE,
    ),
    _scenario("init_library_not_found", "NVML found no driver library", None, "rc.init=12"),
    _scenario("hang_at_init", "the driver never answers", None, "hang=init", hangs=True, cu_init="hang"),
    _scenario("segfault_at_init", "the driver library crashes", None, "segfault=init", cu_init="segfault"),
    _scenario("segfault", "the driver library crashes on a device call", None, "gpu0.segfault=power", gpus=(h100(0),)),
    _scenario("falls_off_later", "GPU 0 is lost in mid-session", "hardware-power-heat", "gpu0.fail_after=40,15"),
    _scenario("wide_process_records", _HOT, "throttle", driver="535.86.05", cuda=12020, variant="wide_process_v3"),
    _scenario(
        "no_nvml",
        "no driver is installed",
        "kernel-module-not-loaded",
        machine=Machine(driver=None, kernel_module=None, module_on_disk=False),
    ),
    _scenario(
        "no_libcuda",
        "the container was started with the utility capability alone: NVML is there, libcuda is not",
        "container-no-gpu",
        gpus=(h100(0),),
        machine=Machine(container="docker", libraries=("libnvidia-ml",), pci_gpus=(_on_bus(h100(0)),)),
    ),
    _scenario(
        "compat_on_geforce",
        "a cuda-compat libcuda 580 stands before the driver's own on a GeForce, which does not support it",
        "forward-compat",
        gpus=(desktop_rtx3090(0),),
        driver="535.183.01",
        cuda=12020,
        machine=Machine(
            driver="535.183.01",
            kernel_module="535.183.01",
            compat="580.95.05",
            pci_gpus=(_on_bus(desktop_rtx3090(0)),),
        ),
        cu_init=CUDA_COMPAT_NOT_SUPPORTED,
    ),
    _scenario(
        "uvm_missing",
        "nvidia_uvm is not loaded and its device node is missing",
        "uvm-not-ready",
        gpus=(h100(0),),
        machine=Machine(uvm=False, pci_gpus=(_on_bus(h100(0)),)),
        cu_init=CUDA_UNKNOWN,
    ),
)

SCENARIOS: dict[str, Scenario] = {scenario.name: scenario for scenario in _MATRIX}
FURTHER_SCENARIOS: dict[str, Scenario] = {scenario.name: scenario for scenario in _FURTHER}
