"""GD107: NVML gives no figures, though the driver may well work.

What it does
    Compares how NVML (the library behind nvidia-smi) answers with what cuInit says. cuInit is what TensorFlow calls, so
    it has the last word: where it succeeds, training works and only monitoring is missing.

Why it matters
    Without NVML nobody can read utilisation, power, temperature or the processes on the GPU, and gpudoctor cannot
    judge them. In a container, "Unknown Error" from a GPU that worked before has one well-known reason: systemd
    reloaded and rewrote the container's device permissions. Programs that run keep the GPU; new ones lose it.

How to fix
    Container that lost its GPU: recreate it. To make it last, give the devices through CDI (docker run --device
    nvidia.com/gpu=all) or by name (--device /dev/nvidia0 --device /dev/nvidiactl --device /dev/nvidia-uvm), or create
    the /dev/char links: sudo nvidia-ctk system create-dev-char-symlinks --create-all
    Container without NVML: add "utility" to NVIDIA_DRIVER_CAPABILITIES. TensorFlow 2.21 and newer wants it too: without
    NVML it lists no GPU and says nothing. Broken bindings: another package named pynvml lies over nvidia-ml-py.
    On WSL and Jetson NVML may have less to say: nothing to do. The driver need not be installed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpudoctor.sdk import (
    Cuda,
    Evidence,
    Finding,
    Host,
    Inconclusive,
    NotApplicable,
    Nvml,
    Severity,
    TensorFlow,
    Trial,
    Weight,
    check,
    either,
    must_know,
    tensorflow_releases,
    unblocks,
    weigh_unusable,
)
from gpudoctor_checks.driver.nvml_remedies import LOST, remedy

DRIVER_ITSELF = frozenset({"driver_not_loaded", "version_mismatch", "library_not_found"})  # GD103, GD104, GD106 judge


@check(
    code="GD107",
    slug="monitoring-unavailable",
    title="NVML gives no figures",
    family="driver",
    cause=("nvml-lost-in-container", "pynvml", "container-no-gpu", "device-permission-mode"),
)
def no_figures(
    nvml: Nvml, cuda: Cuda | None, host: Host | None, tensorflow: TensorFlow | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Let cuInit decide whether the GPU is lost or only its figures; TensorFlow 2.21 wants NVML as well."""
    status = must_know(nvml.status, "NVML's answer")
    if status == "ok":
        return
    cu_init = either(cuda.cu_init, None) if cuda is not None else None
    in_container = host is not None and either(host.container, "none") != "none"
    if cu_init != 0 and status in DRIVER_ITSELF:
        raise NotApplicable(f"the driver itself does not answer ({status})")
    if cu_init != 0 and not (status == "binding_broken" or (in_container and status in LOST)):
        raise Inconclusive(f"NVML: {status}, and cuInit {'was not asked' if cu_init is None else f'said {cu_init}'}")
    if cu_init != 0 and status != "binding_broken":
        weight = weigh_unusable(0.9 if cu_init else 0.6, baseline)
        severity, summary = Severity.ERROR, "This container lost its permission to use the GPU."
    elif cu_init == 0 and status != "binding_broken" and _needs_nvml(tensorflow):
        weight = weigh_unusable(0.85, baseline)
        severity, summary = Severity.ERROR, f"This TensorFlow lists no GPU without NVML (NVML: {status})."
    else:
        weight = _only_figures(baseline, works=cu_init == 0)
        severity, works = Severity.INFO, "; CUDA works" if cu_init == 0 else ""
        summary = f"Monitoring is unavailable (NVML: {status}){works}."
    cause, fixes = remedy(status, in_container=in_container)
    if severity is Severity.ERROR:
        fixes = tuple(replace(fix, gain=unblocks("nothing uses the GPU before")) for fix in fixes)
    yield Finding(
        summary=summary,
        severity=severity,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label="NVML", value=status, source="nvmlInit"),
            Evidence(label="message", value=either(nvml.message, "none"), source="NVML"),
            Evidence(label="cuInit", value="not asked" if cu_init is None else cu_init, source="libcuda"),
        ),
        fixes=fixes,
        cause=cause,
    )


def _needs_nvml(tensorflow: TensorFlow | None) -> bool:
    if tensorflow is None or either(tensorflow.origin, "") != "official_wheel":
        return False
    return tensorflow_releases.defect("nvml-required", either(tensorflow.version, "0")) is not None


def _only_figures(baseline: Trial | None, *, works: bool) -> Weight:
    """Return how sure it is that only the figures are missing: training on the GPU is the proof."""
    if baseline is not None and baseline.status == "ok" and baseline.device == "GPU":
        return Weight(confidence=0.98, basis="NVML's own answer, and the probe trained on the GPU")
    return Weight(
        confidence=0.9 if works else 0.6, basis="NVML's own answer" + (", and cuInit succeeds" if works else "")
    )
