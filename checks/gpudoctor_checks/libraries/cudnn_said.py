"""GD252: the log of a run shows a cuDNN that does not fit.

What it does
    Reads from the text of a run which cuDNN was loaded and which one TensorFlow was built with, and cuDNN's own words about
    versions and architectures.

Why it matters
    An older cuDNN that is found first (conda's, the system's, another package's) ends training at the first convolution.

How to fix
    Give this environment a cuDNN of the same major and at least the same minor version, and let nothing older stand before
    it on the path; start the process anew. Memory settings do not help against a wrong version.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Devices,
    Finding,
    Fix,
    Log,
    Python,
    TensorFlow,
    Trial,
    check,
    cudnn_releases,
    either,
    tensorflow_releases,
    versions,
    weigh_faulty,
)
from gpudoctor_checks.said import by_hand, command, events, log_finding, release, stated

WHICH = "python -c \"import tensorflow as tf; tf.nn.conv2d(tf.ones((1,8,8,1)), tf.ones((3,3,1,1)), 1, 'SAME'); print([l.split()[-1] for l in open('/proc/self/maps') if 'libcudnn' in l])\""
CONDA_AWAY = command(
    "remove-conda-cudnn",
    "Remove the older cuDNN that comes first",
    "conda remove --force cudnn",
    why="the pip wheel's own cuDNN is then found",
)


@check(
    code="GD252",
    slug="cudnn-wrong-in-log",
    title="The log shows a cuDNN that does not fit",
    family="libraries",
    cause=("cudnn-version", "cudnn-dropped-gpu"),
    core=False,
)
def wrong(
    log: Log, tensorflow: TensorFlow | None, python: Python | None, devices: Devices | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Believe the two numbers; a library that is "not found" is mostly one of another version."""
    arch = events(log, "cudnn_arch")
    if arch:
        weight = weigh_faulty(0.85, baseline)
        summary = "This cuDNN has no code for the GPU."
        yield log_finding(summary, weight, arch, _for_gpu(devices), cause="cudnn-dropped-gpu", know=WHICH)
        return
    mismatch = events(log, "cudnn_mismatch")
    absent = [each for each in events(log, "cudnn_init_failed") if "not found" in each.text]
    torn = [each for each in events(log, "dlopen_failed") if "undefined symbol" in each.text and "cudnn" in each.text]
    mismatch = (*mismatch, *torn)
    if not mismatch and not absent:
        return
    compiled = next((each.values["compiled"] for each in mismatch if "compiled" in each.values), "")
    loaded = next((each.values["loaded"] for each in mismatch if "loaded" in each.values), "")
    yield log_finding(
        f"cuDNN {loaded} is loaded, but TensorFlow was built with {compiled}."
        if loaded
        else "cuDNN's parts are of different versions."
        if mismatch
        else "TensorFlow finds a cuDNN that it cannot use.",
        weigh_faulty(0.95 if mismatch else 0.65, baseline),
        (*mismatch, *absent),
        *_fixes(compiled, release(tensorflow, log), log, python),
        cause="cudnn-version",
        know=WHICH,
    )


def _fixes(compiled: str, version: str, log: Log, python: Python | None) -> Iterator[Fix]:
    table = tensorflow_releases.release_of(version) if versions.is_version(version) else None
    wanted = compiled or (table.cudnn_version if table is not None else None) or ""
    major = wanted.split(".")[0]
    conda = stated(log, "conda") == "yes" or (python is not None and either(python.manager, "") == "conda")
    suffix = "cu11" if major == "8" and (table is None or not (table.cuda_version or "11").startswith("12")) else "cu12"
    bound = f">={wanted},<{int(major) + 1}" if major.isdecimal() else ""
    yield command(
        "install-fitting-cudnn",
        "Put the cuDNN of this build first",
        f"pip install 'nvidia-cudnn-{suffix}{bound}' && export LD_LIBRARY_PATH=$(python -c"
        " 'import nvidia.cudnn as c; print(list(c.__path__)[0])')/lib:$LD_LIBRARY_PATH"
        if not conda
        else f"conda install -c conda-forge 'cudnn{bound}'",
        why="same major, at least the same minor version, found first; restart Python",
        minutes=5,
    )
    yield CONDA_AWAY


def _for_gpu(devices: Devices | None) -> Fix:
    oldest = min(devices.compute_capabilities, default=0) if devices is not None else 0
    last = cudnn_releases.last_with(oldest) if oldest else None
    return by_hand(
        "install-older-cudnn",
        "Install the last cuDNN that knows the GPU",
        f"pip install 'nvidia-cudnn-cu12{cudnn_releases.next_after(last)}'"
        if last
        else "Install an older cuDNN of the same major",
        why="newer cuDNN releases left this GPU out",
    )
