"""GD206: TensorFlow leaves this GPU out.

What it does
    Compares the GPU's compute capability with the lowest one in the build, and its number of multiprocessors with the
    minimum that TensorFlow asks of a GPU.

Why it matters
    TensorFlow ignores a GPU that is older than the oldest code in the build ("The minimum required Cuda capability
    is ..."), and, beside a bigger GPU, one with fewer than 8 multiprocessors. It says so in one log line and trains on
    the CPU or on the other GPU.

How to fix
    Too old: use the last release that still has its code (Maxwell: 2.16.2; Kepler 3.5: 2.14.1), in an environment with a
    Python that it supports. If a third-party image left it out, the official wheel may have it.
    Too few multiprocessors: export TF_MIN_GPU_MULTIPROCESSOR_COUNT=<its count>. Think twice: in synchronous training the
    small GPU sets the pace of all. Driver and CUDA on the machine cannot help.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Devices,
    Environment,
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    NotApplicable,
    Python,
    Severity,
    TensorFlow,
    Trial,
    check,
    either,
    gpus,
    must_know,
    weigh_unusable,
)
from gpudoctor_checks.installing import elsewhere
from gpudoctor_checks.libraries.gpu_code import lowest, named
from gpudoctor_checks.remedies import install_release_for

# tensorflow/core/common_runtime/gpu/gpu_device.cc, GetMinGPUMultiprocessorCount: the smaller of 8 and the largest count.
MIN_MULTIPROCESSORS = 8
VARIABLE = "TF_MIN_GPU_MULTIPROCESSOR_COUNT"


@check(
    code="GD206",
    slug="gpu-filtered",
    title="TensorFlow leaves this GPU out",
    family="libraries",
    cause="gpu-filtered",
)
def filtered(
    tensorflow: TensorFlow, devices: Devices, env: Environment | None, python: Python | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Judge the compute capability first; the multiprocessors only of GPUs whose model is known."""
    if not must_know(tensorflow.is_cuda_build, "whether this build has CUDA"):
        raise NotApplicable("a CPU-only build")
    least = lowest(tensorflow)
    old = sorted(cc for cc in devices.compute_capabilities if cc < least)
    if old:
        alone = len(old) == len(devices.compute_capabilities)
        weight = weigh_unusable(0.95, baseline if alone else None)
        yield Finding(
            summary=f"This TensorFlow leaves out {named(devices, old[0])}: it starts at {least // 10}.{least % 10}.",
            severity=Severity.ERROR if alone else Severity.WARNING,
            confidence=weight.confidence,
            basis=weight.basis if alone else "facts; the probe may have used another GPU",
            evidence=(
                Evidence(
                    label="this GPU", value=f"{old[0] // 10}.{old[0] % 10}", unit="compute capability", source="libcuda"
                ),
                Evidence(
                    label="lowest in the build",
                    value=f"{least // 10}.{least % 10}",
                    unit="compute capability",
                    source="build",
                ),
                Evidence(label="TensorFlow", value=either(tensorflow.version, "unknown"), source="build"),
            ),
            fixes=install_release_for(old[0], tensorflow, python) or (elsewhere(old[0]),),
        )
        return
    yield from _too_small(devices, env)


def _too_small(devices: Devices, env: Environment | None) -> Iterator[Finding]:
    specs = [gpus.spec_for(name) for name in devices.names]
    counts = [spec.sm_count if spec is not None else None for spec in specs]
    known = [count for count in counts if count is not None]
    if not known:
        return
    asked = env.get(VARIABLE) if env is not None else None
    minimum = int(asked) if asked is not None and asked.isdigit() else min(MIN_MULTIPROCESSORS, max(known))
    small = [(name, count) for name, count in zip(devices.names, counts, strict=True) if (count or minimum) < minimum]
    for name, count in small[:1]:
        yield Finding(
            summary=f"TensorFlow leaves out {name}: {count} multiprocessors, {minimum} asked for.",
            severity=Severity.ERROR if len(small) == len(counts) else Severity.INFO,
            confidence=0.8,
            basis="facts: the model's multiprocessors and TensorFlow's rule",
            evidence=(
                Evidence(label=name, value=count or 0, unit="multiprocessors", source="GPU table"),
                Evidence(
                    label="minimum", value=minimum, unit="multiprocessors", source=VARIABLE if asked else "TensorFlow"
                ),
            ),
            fixes=(
                Fix(
                    id="lower-multiprocessor-minimum",
                    title="Let TensorFlow use it all the same",
                    action="command",
                    text=f"unset {VARIABLE}" if asked else f"export {VARIABLE}={count}",
                    gain=Gain(grade=Grade.UNPROVEN, basis="a small GPU slows synchronous training down"),
                    effort_minutes=1,
                ),
            ),
        )
