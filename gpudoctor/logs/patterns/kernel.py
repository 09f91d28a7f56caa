"""What the kernel, its module loader and the container runtime say: Xids, refused modules, DMA faults, killed processes."""

from __future__ import annotations

from gpudoctor.logs.pattern import row

VERSION = r"\d{1,4}(?:\.\d{1,4}){1,3}"

ROWS = (
    row(
        "xid",
        "NVRM: Xid",
        r"NVRM: Xid \(PCI:(?P<pci>[0-9A-Fa-f:.]{5,20})\): (?P<code>\d{1,3})"
        r"(?P<message>,(?:[^\n]{0,160}?caused by previous Xid (?P<previous>\d{1,3})|[^\n]{0,160}))?",
    ),
    row("gpu_lost", "GPU has fallen", r"GPU has fallen off the bus"),
    row("gpu_lost", "NVRM: fallen off", r"NVRM: fallen off the bus and is not responding"),
    row("gpu_lost", "NVRM: GPU ", r"NVRM: GPU (?:at )?[0-9A-Fa-f:.]{5,20} has fallen off the bus"),
    row("gpu_lost", "GPU is lost", r"GPU is lost"),
    row(
        "gpu_lost",
        "Unable to determine the device",
        r"Unable to determine the device handle for (?:GPU|gpu) ?\S{0,20}: (?:Unknown Error|Not Found|Reboot)",
    ),
    row("mig_empty", "No MIG devices", r"No MIG devices found"),
    row(
        "throttled",
        "Slowdown",
        r"(?P<reason>(?:HW|SW) (?:Thermal |Power Brake )?Slowdown)\s{1,40}: Active",
    ),
    row("throttled", "SW Power Cap", r"(?P<reason>SW Power Cap)\s{1,40}: Active"),
    row("process_killed", "SIGKILL", r"(?:signal 9|exit code 137)[^\n]{0,20}SIGKILL"),
    row("process_killed", "xit code 137", r"\bexit code 137\b"),
    row(
        "host_allocation",
        "ystem memory",
        r"Allocation of (?P<bytes>\d{1,20}) exceeds \d{1,3}% of free system memory",
    ),
    row(
        "driver_library_mismatch",
        "API mismatch",
        rf"API mismatch: the client has the version (?P<library>{VERSION}),\s+but\s+this kernel module has the version (?P<kernel>{VERSION})",
    ),
    row("dma_fault", "DMAR: ", r"DMAR: (?:DRHD: handling fault|\[(?:INTR-REMAP|DMA (?:Write|Read))[^\n]{0,120})"),
    row("dma_fault", "AMD-Vi: ", r"AMD-Vi: Event logged \[IO_PAGE_FAULT[^\n]{0,120}"),
    row("module_refused", "Key was rejected", r"Key was rejected by service"),
    row("module_refused", "Required key not", r"Required key not available"),
    row("module_refused", "Loading of unsigned module", r"Loading of unsigned module is rejected"),
    row("module_missing", "FATAL: Module nvidia", r"FATAL: Module nvidia(?:-current|_uvm)? not found"),
    row("nouveau_holds", "Nouveau kernel driver", r"Nouveau kernel driver is currently in use"),
    row("nouveau_holds", "Kernel driver in use: nouveau", r"Kernel driver in use: nouveau"),
    # the loader lists the candidates and does not say which of them it is
    row("other_driver_holds", "NVRM: nouveau, ", r"NVRM: nouveau, [\w, ]{4,40}"),
    row(
        "module_not_built",
        "Bad return status",
        r"Bad return status for module build on kernel: (?P<kernel>[\w.+\-]{3,80})",
    ),
    row(
        "module_in_use",
        "ERROR: Module nvidia",
        r"ERROR: Module (?P<module>nvidia\w{0,12}) is (?:in use|not currently loaded)",
    ),
    row("device_cgroup", "* m", r"\bc 195:(?P<minor>\*) (?P<mode>m)\b"),
    row(
        "host_oom",
        "Out of memory: Kill",
        r"Out of memory: Kill(?:ed)? process (?P<pid>\d{1,8}) \((?P<name>[^)\n]{1,30})\)",
    ),
    # Slurm's words for its job's bound of memory
    row("host_oom", "Detected ", r"Detected \d{1,6} oom[-_ ]?kill event"),
    row("host_oom", "OOMKilled", r"OOMKilled"),
    row("host_oom", "Unable to allocate ", r"Unable to allocate (?P<asked>\d[\d.]{0,10} [KMGT]iB) for an array"),
    row("host_oom", "bad_alloc", r"std::bad_alloc"),
    row(
        "process_killed",
        "Killed",
        r"(?:^|[^\w\s]\s{0,2}|\sF |\d{2,8} )Killed(?:\s{2,60}\S[^\n]{0,120})?\s{0,4}$",
    ),
    row(
        "container_runtime",
        "Error response from daemon",
        r"could not select device driver \S{0,12} with capabilities: \[\[[^\]\n]{0,30}gpu",
        why="toolkit",
    ),
    row("container_runtime", "Unknown runtime specified", r"Unknown runtime specified nvidia", why="toolkit"),
    row(
        "pod_waits",
        "Insufficient nvidia.com/",
        r"(?P<nodes>\d{1,5}) Insufficient (?P<resource>nvidia\.com/[\w.\-]{1,40}\w)",
    ),
    row(
        "nvml_failed",
        "vidia-container-cli: ",
        r"nvidia-container-cli: [^\n]{0,60}nvml error: (?P<error>driver/library version mismatch)",
    ),
    row(
        "nvml_failed",
        "vidia-container-cli: ",
        r"nvidia-container-cli: [^\n]{0,60}nvml error: (?P<error>driver not loaded)",
    ),
    row(
        "driver_too_old",
        "vidia-container-cli: ",
        r"nvidia-container-cli: requirement error: unsatisfied condition: cuda\s?>=?\s?(?P<cuda>\d{1,2}\.\d)",
    ),
    row(
        "container_runtime",
        "vidia-container-cli: ",
        r"nvidia-container-cli: (?:initialization|mount|detection) error: (?P<message>cuda error: [^\n]{1,80})",
        why="cuda",
    ),
    row(
        "container_runtime",
        "vidia-container-cli: ",
        r"nvidia-container-cli: [^\n]{0,60}load library failed: (?P<library>lib(?:cuda|nvidia-ml)\.so\.1)",
        why="driver",
    ),
    row(
        "container_runtime",
        "vidia-container-cli: ",
        r"nvidia-container-cli: (?P<message>[^\n]{1,160})",
        why="host",
    ),
    row("libcuda_not_found", "NOT_FOUND", r"libcuda\.so: NOT_FOUND"),
)
