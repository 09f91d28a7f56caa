"""GD209: XLA will find neither libdevice nor ptxas in this environment.

What it does
    Looks for the wheel that brings both (nvidia-cuda-nvcc), for a folder given in XLA_FLAGS, and in the probe for
    XLA's own complaint.

Why it matters
    Keras 3 compiles fit() with XLA by default on a GPU (TensorFlow 2.16 and newer). XLA links NVIDIA's mathematical
    functions from the file libdevice.10.bc; without it, training ends with "libdevice not found" as soon as a model
    uses exp, tanh or the like. Without ptxas the driver compiles instead, if it is new enough.

How to fix
    Install the wheel for the CUDA major of this TensorFlow: pip install nvidia-cuda-nvcc-cu12. With a CUDA toolkit on
    the system instead: export XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda (the folder that holds nvvm/libdevice).
    model.compile(jit_compile=False) trains without XLA, at its slower pace.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    BROKEN,
    Driver,
    Environment,
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    Kernel,
    Libraries,
    NotApplicable,
    Packages,
    Probe,
    Severity,
    TensorFlow,
    Trial,
    check,
    either,
    must_know,
    tensorflow_releases,
    unblocks,
    versions,
    weigh_faulty,
)
from gpudoctor_checks.presence import gpu_present

ABSENT = 0.6  # the other CUDA wheels are here, and this one is not
OTHER_CUDA = 0.4  # CUDA is not from wheels: a toolkit on the system may hold both where XLA looks
TOLD = 0.97  # XLA says it itself
COMPLAINTS = ("libdevice not found", "Can't find libdevice", "Couldn't find libdevice", "libdevice.10.bc")
DATA_DIR = "--xla_gpu_cuda_data_dir"
WITHOUT_XLA = Fix(
    id="compile-without-xla",
    title="Or train without XLA",
    action="setting",
    text="model.compile(..., jit_compile=False)",
    gain=Gain(grade=Grade.UNPROVEN, basis="works without libdevice; XLA's gain is lost"),
)


@check(
    code="GD209",
    slug="xla-tools",
    title="XLA finds no libdevice and no ptxas",
    family="libraries",
    cause="xla-libdevice-ptxas",
)
def missing(
    tensorflow: TensorFlow,
    packages: Packages,
    libraries: Libraries | None,
    env: Environment | None,
    driver: Driver | None,
    kernel: Kernel | None,
    probe: Probe | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Suspect a wheel that is not installed; believe XLA's own complaint."""
    if must_know(tensorflow.origin, "where this TensorFlow comes from") != "official_wheel":
        raise NotApplicable("not an official wheel: it brings its own tools")
    if not must_know(tensorflow.is_cuda_build, "whether this build has CUDA"):
        raise NotApplicable("a CPU-only build")
    if gpu_present(driver, kernel) is False:
        raise NotApplicable("no GPU that XLA could compile for")
    version = must_know(tensorflow.version, "the TensorFlow version")
    major = str(must_know(tensorflow.cuda_version, "the CUDA version of the build")).partition(".")[0]
    said = _complaint(baseline, probe)
    wheel = f"nvidia-cuda-nvcc-cu{major}"
    given = DATA_DIR in (env.get("XLA_FLAGS") or "") if env is not None else False
    asked = versions.at_least(version, tensorflow_releases.XLA_BY_DEFAULT_SINCE)
    if not said and (not asked or packages.version(wheel) or given):
        return
    runtime = libraries.find("libcudart.so") if libraries is not None else None
    wheels = runtime is None or either(runtime.origin, "wheel") == "wheel"
    weight = weigh_faulty(ABSENT if wheels else OTHER_CUDA, baseline)
    yield Finding(
        summary="XLA says that it finds no libdevice: compiled training fails."
        if said
        else f"{wheel} is not installed: XLA may find no libdevice.",
        severity=Severity.ERROR if said else Severity.WARNING if wheels else Severity.INFO,
        confidence=TOLD if said else weight.confidence,
        basis="XLA's own message in the probe" if said else weight.basis,
        evidence=(
            Evidence(label=wheel, value=packages.version(wheel) or "not installed", source="installed packages"),
            Evidence(label="XLA_FLAGS", value=(env and env.get("XLA_FLAGS")) or "not set", source="environment"),
            *((Evidence(label="XLA said", value=said, source="probe"),) if said else ()),
        ),
        fixes=(_install(f"{wheel}=={_pin(version, wheel)}" if _pin(version, wheel) else wheel), WITHOUT_XLA),
    )


def _complaint(baseline: Trial | None, probe: Probe | None) -> str:
    texts = [baseline.reason, *baseline.notes] if baseline is not None and baseline.status in BROKEN else []
    if texts and probe is not None:
        texts += [event.text for child in probe.children for event in child.events]
    return next((text[:200] for text in texts if any(each in text for each in COMPLAINTS)), "")


def _pin(version: str, wheel: str) -> str:
    """Return the version that this release's own extra pins, so that pip has nothing to complain about."""
    release = tensorflow_releases.release_of(version)
    bound = release.and_cuda.get(wheel, "") if release is not None else ""
    return bound.removeprefix("==") if bound.startswith("==") else ""


def _install(requirement: str) -> Fix:
    return Fix(
        id="install-xla-tools",
        title="Install ptxas and libdevice for XLA",
        action="command",
        text=f"pip install '{requirement}'",
        gain=unblocks("training compiled by XLA needs libdevice"),
        effort_minutes=1,
    )
