"""GD302: the installed TensorFlow is a CPU-only build.

What it does
    Reads from the build's own files whether it was made with CUDA, and from its package which build it is. The package
    name alone does not tell: on ARM Linux, Windows and macOS the package "tensorflow" is a CPU build too.

Why it matters
    A CPU build cannot use an NVIDIA GPU, however good driver and CUDA are. Asking for tensorflow[and-cuda] on ARM or
    Windows still downloads gigabytes of CUDA libraries, which this build never opens.

How to fix
    Linux x86_64: remove tensorflow-cpu (it writes to the same folder), then pip install
    'tensorflow[and-cuda]==2.20.0'. Name the version: 2.21.0, the newest, does not find its own CUDA wheels.
    Windows: the last native GPU release is 2.10; newer ones need WSL2, with TensorFlow installed inside it.
    Linux ARM (Grace, Jetson): no official GPU wheel exists; use NVIDIA's container or build.
    conda: ask for a build whose name begins with cuda. macOS has no NVIDIA GPU support at all.
    Driver and CUDA need no change.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Devices,
    Driver,
    Evidence,
    Finding,
    Fix,
    Host,
    Inconclusive,
    Kernel,
    NotApplicable,
    Packages,
    Python,
    Severity,
    TensorFlow,
    Trial,
    check,
    either,
    must_know,
    unblocks,
    weigh_unusable,
)
from gpudoctor_checks.installing import ARM, install_tensorflow
from gpudoctor_checks.presence import gpu_present


def _fix(name: str, title: str, text: str, minutes: float) -> Fix:
    gain = unblocks("a CPU build never uses a GPU")
    return Fix(id=name, title=title, action="command", text=text, gain=gain, effort_minutes=minutes)


LAST_NATIVE = _fix(
    "last-native-windows-gpu",
    "Or the last native GPU release, Python 3.10",
    'py -3.10 -m venv tf && tf\\Scripts\\pip install "tensorflow<2.11" "numpy<2"',
    30,
)
CONDA = _fix(
    "install-tensorflow",
    "Install conda-forge's CUDA build",
    "conda install -c conda-forge 'tensorflow=*=cuda*'",
    10,
)


@check(
    code="GD302",
    slug="cpu-build",
    title="TensorFlow is a CPU-only build",
    family="tensorflow",
    cause=("cpu-build", "windows-native"),
)
def cpu_only(
    tensorflow: TensorFlow,
    driver: Driver | None,
    kernel: Kernel | None,
    host: Host | None,
    packages: Packages | None,
    devices: Devices | None,
    python: Python | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Find a build without CUDA; it is a trouble only where a GPU is there."""
    if must_know(tensorflow.installed, "whether TensorFlow is installed") is False:
        raise NotApplicable("TensorFlow is not installed: see GD303")
    if must_know(tensorflow.is_cuda_build, "whether this build has CUDA"):
        return
    if either(tensorflow.is_rocm_build, False):
        raise NotApplicable("a ROCm build, for AMD GPUs")
    if baseline is not None and baseline.status == "ok" and baseline.device == "GPU":
        raise Inconclusive("its files say that it is a CPU-only build, but the probe trained on the GPU")
    present = gpu_present(driver, kernel)
    weight = weigh_unusable(0.97, baseline)
    system = either(host.os, "linux") if host is not None else "linux"
    useless = sum(name.startswith("nvidia-") for name in packages.versions) if packages is not None else 0
    distribution = either(tensorflow.distribution, "tensorflow")
    version = either(tensorflow.version, "")
    yield Finding(
        summary=f"TensorFlow {version} ({distribution}) is a CPU-only build"
        + (": it never uses a GPU." if present else "."),
        severity=Severity.ERROR
        if present
        else Severity.WARNING
        if present is None and system != "darwin"  # macOS has no other build, and no trouble of it
        else Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="is_cuda_build", value=False, source=either(tensorflow.build_info_from, "build")),
            Evidence(label="package", value=f"{distribution} {version}".strip(), source="installed packages"),
            Evidence(label="nvidia wheels, useless", value=useless, source="installed packages"),
        ),
        fixes=_fixes(tensorflow, devices, driver, host, python) if present is not False else (),
        cause="windows-native" if system == "windows" else "cpu-build",
    )


def _fixes(
    tensorflow: TensorFlow, devices: Devices | None, driver: Driver | None, host: Host | None, python: Python | None
) -> tuple[Fix, ...]:
    system = either(host.os, "linux") if host is not None else "linux"
    arm = host is not None and either(host.arch, "x86_64") in ARM
    if either(tensorflow.origin, "") == "conda" and system == "linux" and not arm:
        return (CONDA,)
    install = install_tensorflow(
        "Install the CUDA build",
        wanted=either(tensorflow.version, ""),
        before="pip uninstall -y tensorflow tensorflow-cpu tensorflow-intel && ",
        devices=devices,
        driver=driver,
        host=host,
        python=python,
    )
    return (*install, LAST_NATIVE) if system == "windows" else install
