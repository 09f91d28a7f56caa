"""GD208: kernels for this GPU are compiled at first use, so the first start takes minutes.

What it does
    Looks whether the build has binary code for the GPU, for every kernel or for a part. What is missing comes as PTX,
    which the driver compiles when a program first needs it. It also reads the settings of the driver's cache.

Why it matters
    The first run stands still for minutes ("could take 30 minutes or longer"), which looks like a hang or a slow input
    pipeline. Later runs take the result from a cache (~/.nv/ComputeCache), unless it is switched off, too small, or
    lost with a container. After the start training is not slower. Official wheels carry binary code for their newest
    architecture only in part: on an H100, 248 of 1397 code objects of 2.20; the rest is compiled.

How to fix
    Let the cache live and be large enough: export CUDA_CACHE_MAXSIZE=4294967296, CUDA_CACHE_PATH on a disk that stays;
    in a container mount that folder. Or use a build with binary code for the GPU, such as NVIDIA's container.
    The input pipeline and the batch size have no part in a slow first start.
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
    Host,
    NotApplicable,
    Severity,
    TensorFlow,
    Trial,
    check,
    either,
    must_know,
    tensorflow_releases,
)
from gpudoctor_checks.libraries.gpu_code import coverage, named

# CUDA Programming Guide, environment variables: default 1 GiB on desktops and servers, at most 4 GiB.
DEFAULT_CACHE_BYTES = 1 << 30
LARGEST_CACHE_BYTES = 1 << 32
SAVES_STARTS = Gain(grade=Grade.UNPROVEN, basis="saves the compilation at later starts; steps are not faster")
CACHE = Fix(
    id="enlarge-cuda-cache",
    title="Keep what is compiled, with room for all",
    action="command",
    text=f"unset CUDA_CACHE_DISABLE; export CUDA_CACHE_MAXSIZE={LARGEST_CACHE_BYTES}",
    gain=SAVES_STARTS,
    risk="none",
    effort_minutes=1,
)
MOUNT = Fix(
    id="mount-cuda-cache",
    title="Keep the cache when the container ends",
    action="command",
    text=f'docker run --gpus all -v "$HOME/.nv:/root/.nv" -e CUDA_CACHE_MAXSIZE={LARGEST_CACHE_BYTES} IMAGE',
    gain=SAVES_STARTS,
    effort_minutes=2,
)


@check(
    code="GD208",
    slug="ptx-jit",
    title="GPU kernels are compiled at first use",
    family="libraries",
    cause="ptx-jit",
    core=False,
)
def compiled_at_first_use(
    tensorflow: TensorFlow, devices: Devices, env: Environment | None, host: Host | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Inform; warn where the cache cannot work, or where the probe did not get through."""
    if not must_know(tensorflow.is_cuda_build, "whether this build has CUDA"):
        raise NotApplicable("a CPU-only build")
    served = sorted({cc for cc in devices.compute_capabilities if coverage(tensorflow, cc) in {"partial", "ptx"}})
    if not served:
        return
    newest = served[-1]
    cache = _cache_trouble(env)
    stuck = baseline is not None and (baseline.status == "timeout" or "ptx-jit" in baseline.notes)
    trained = baseline is not None and baseline.status == "ok" and baseline.device == "GPU"
    release = tensorflow_releases.release_of(either(tensorflow.version, ""))
    objects = tensorflow_releases.binary_objects(release, newest) if release is not None else None
    in_container = host is not None and either(host.container, "none") != "none"
    yield Finding(
        summary=f"{named(devices, newest)}: {'most' if objects else 'all'} kernels are compiled at "
        + (f"each start: {cache}." if cache else "the first start, for minutes."),
        severity=Severity.WARNING if cache or stuck else Severity.INFO,
        confidence=0.95 if stuck else 0.9 if trained else 0.85,
        basis="the code inside the build" + (f"; the probe {baseline.status}" if stuck and baseline else ""),
        evidence=(
            Evidence(
                label="binary code",
                value=f"{objects[0]} of {objects[1]}" if objects else "none",
                unit="code objects",
                source="fat binaries of the wheel" if objects else "build",
            ),
            Evidence(label="CUDA_CACHE_DISABLE", value=_get(env, "CUDA_CACHE_DISABLE"), source="environment"),
            Evidence(
                label="CUDA_CACHE_MAXSIZE",
                value=(size := _get(env, "CUDA_CACHE_MAXSIZE")),
                unit="bytes" if size.isdigit() else "",
                source="environment",
            ),
        ),
        fixes=(CACHE, MOUNT) if in_container else (CACHE,),
    )


def _get(env: Environment | None, name: str) -> str:
    return (env.get(name) if env is not None else None) or "not set"


def _cache_trouble(env: Environment | None) -> str:
    size = _get(env, "CUDA_CACHE_MAXSIZE")
    if _get(env, "CUDA_CACHE_DISABLE") == "1":
        return "the cache is switched off"
    return f"the cache holds only {size} bytes" if size.isdigit() and int(size) < DEFAULT_CACHE_BYTES else ""
