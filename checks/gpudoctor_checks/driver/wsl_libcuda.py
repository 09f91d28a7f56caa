"""GD115: inside WSL2 a Linux driver's or a stub libcuda shadows the one that Windows provides.

What it does
    Looks which libcuda would be loaded inside WSL2, where it comes from, and what its cuInit says.

Why it matters
    In WSL2 the driver is the Windows driver. Windows puts its libcuda into /usr/lib/wsl/lib, and only that one reaches
    the GPU. A Linux driver package (often pulled in by a CUDA package) or a stub of the CUDA toolkit brings another
    libcuda; where the loader finds it first, cuInit fails and TensorFlow sees no GPU, though nvidia-smi works.

How to fix
    Put /usr/lib/wsl/lib first on LD_LIBRARY_PATH, which helps at once. Then remove the Linux driver packages inside
    WSL; the toolkit for WSL (package cuda-toolkit, never cuda or cuda-drivers) brings no driver. A stubs folder is for
    linking programs only and does not belong on LD_LIBRARY_PATH. The Windows driver needs no change.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Cuda,
    Evidence,
    Finding,
    Fix,
    Host,
    NotApplicable,
    Severity,
    Trial,
    check,
    either,
    must_know,
    shown,
    unblocks,
    weigh_unusable,
)
from gpudoctor_checks.driver.cuda_errors import DROP_STUBS

WSL_FOLDER = "/usr/lib/wsl/"  # NVIDIA, "CUDA on WSL User Guide": libcuda.so is mapped into WSL by the Windows driver
SHADOWED = 0.95  # that libcuda cannot reach the paravirtual GPU, and its cuInit says so
WSL_FIRST = Fix(
    id="wsl-libcuda-first",
    title="Put the library of Windows' driver first",
    action="command",
    text='export LD_LIBRARY_PATH="/usr/lib/wsl/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"',
    gain=unblocks("only this libcuda reaches the GPU in WSL2"),
    effort_minutes=1,
)
REMOVE_LINUX_DRIVER = Fix(
    id="remove-linux-driver-in-wsl",
    title="Then remove the Linux driver from WSL",
    action="command",
    text="sudo apt-get remove --purge 'nvidia-driver-*' 'libnvidia-compute-*' && sudo ldconfig",
    gain=unblocks("no other libcuda is left"),
    risk="medium",
)


@check(
    code="GD115",
    slug="wsl-libcuda",
    title="Another libcuda shadows that of WSL",
    family="driver",
    cause="wsl-libcuda",
)
def shadowed(host: Host, cuda: Cuda, baseline: Trial | None) -> Iterator[Finding]:
    """Blame a libcuda from elsewhere only where its cuInit fails."""
    if not must_know(host.wsl, "whether this is WSL"):
        raise NotApplicable("not WSL")
    if either(cuda.status, "") == "library_not_found":
        raise NotApplicable("there is no libcuda at all")
    path = must_know(cuda.libcuda_path, "which libcuda is loaded")
    if path.startswith(WSL_FOLDER) or either(cuda.origin, "") == "wsl":
        return
    code = must_know(cuda.cu_init, "what cuInit says")
    if code == 0:
        return
    stub = either(cuda.origin, "") == "stub"
    weight = weigh_unusable(SHADOWED, baseline)
    yield Finding(
        summary=f"Inside WSL {'a stub of libcuda' if stub else 'a Linux driver' + chr(39) + 's libcuda'} is loaded.",
        severity=Severity.ERROR,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="libcuda", value=path, source="loader"),
            Evidence(label="Windows' own lies in", value=f"{WSL_FOLDER}lib", source="CUDA on WSL User Guide"),
            Evidence(label="cuInit", value=code, unit=str(shown(cuda.cu_init_name, "")), source="libcuda"),
        ),
        fixes=(WSL_FIRST, DROP_STUBS if stub else REMOVE_LINUX_DRIVER),
    )
