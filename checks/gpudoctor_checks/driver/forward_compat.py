"""GD108: a cuda-compat libcuda is used where it cannot work.

What it does
    Looks which libcuda would be loaded, whether it comes from a cuda-compat folder, and what cuInit says: 804 means
    "forward compatibility was attempted on non supported HW".

Why it matters
    cuda-compat is a newer libcuda that runs over an older kernel module, on data-centre GPUs only. On a GeForce, or over
    a driver branch it does not know, cuInit fails and every program loses the GPU, although the driver is sound.
    NVIDIA's own containers bring it rightly; copied into an image or a path by hand it breaks machines.

How to fix
    Take the compat folder off the library path, so that the driver's own libcuda is found; conda: remove cuda-compat.
    If the newer CUDA is needed, install the newer driver instead. The same text appears when driver libraries and
    kernel module differ in version (GD103): then a reboot is the cure and cuda-compat has no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Cuda,
    Devices,
    Environment,
    Evidence,
    Finding,
    Fix,
    Host,
    Kernel,
    Severity,
    Skip,
    Trial,
    check,
    either,
    unblocks,
    versions,
    weigh_unusable,
)
from gpudoctor_checks.remedies import install_driver

COMPAT_NOT_SUPPORTED = 804  # CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, cuda.h
DROP_FROM_PATH = Fix(
    id="drop-cuda-compat",
    title="Take cuda-compat off LD_LIBRARY_PATH",
    action="command",
    text="export LD_LIBRARY_PATH=$(printf %s \"$LD_LIBRARY_PATH\" | tr : '\\n' | grep -v compat | paste -sd:)",
    gain=unblocks("the driver's own libcuda is used again"),
    effort_minutes=1,
)
DROP_FROM_LDCONFIG = Fix(
    id="drop-cuda-compat",
    title="Take cuda-compat out of the loader's files",
    action="command",
    text="grep -l compat /etc/ld.so.conf.d/*.conf | sudo xargs -r rm && sudo ldconfig",
    gain=unblocks("the driver's own libcuda is used again"),
    effort_minutes=2,
)


@check(
    code="GD108",
    slug="forward-compat",
    title="cuda-compat is used where it cannot work",
    family="driver",
    cause="forward-compat",
)
def compat(
    cuda: Cuda,
    kernel: Kernel | None,
    env: Environment | None,
    host: Host | None,
    devices: Devices | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Blame cuda-compat where cuInit does, or where it fails with a compat libcuda; never where cuInit succeeds."""
    if isinstance(cuda.cu_init, int):
        cu_init = cuda.cu_init
    elif either(cuda.status, "") == "library_not_found":
        return
    else:
        raise Skip(f"cuInit was not asked: {cuda.cu_init.reason}")
    from_compat = either(cuda.origin, "") == "compat"
    if cu_init == 0 or not (from_compat or cu_init == COMPAT_NOT_SUPPORTED):
        return
    if kernel is not None and either(kernel.module_loaded, True) is False:
        return  # without a kernel module any libcuda fails: GD104, GD106
    if not from_compat and _differ(cuda, kernel):
        return  # driver libraries and module of different versions say the same: GD103
    path = either(cuda.libcuda_path, "unknown")
    weight = weigh_unusable(0.97 if from_compat and cu_init == COMPAT_NOT_SUPPORTED else 0.75, baseline)
    on_path = env is None or "compat" in (env.get("LD_LIBRARY_PATH") or "")
    yield Finding(
        summary=f"cuda-compat's libcuda does not work on this GPU and driver (cuInit {cu_init}).",
        severity=Severity.ERROR,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="libcuda", value=path, source="loader"),
            Evidence(label="its version", value=either(cuda.library_version, "unknown"), source="file name"),
            Evidence(label="kernel module", value=_module(kernel), source="/proc/driver/nvidia/version"),
            Evidence(label="cuInit", value=cu_init, unit=either(cuda.cu_init_name, ""), source="libcuda"),
        ),
        fixes=(
            DROP_FROM_PATH if on_path else DROP_FROM_LDCONFIG,
            install_driver(devices.compute_capabilities if devices is not None else (), host),
        ),
    )


def _module(kernel: Kernel | None) -> str:
    return either(kernel.module_version, "unknown") if kernel is not None else "unknown"


def _differ(cuda: Cuda, kernel: Kernel | None) -> bool:
    module, library = _module(kernel), cuda.library_version
    return module != "unknown" and isinstance(library, str) and versions.parse(module) != versions.parse(library)
