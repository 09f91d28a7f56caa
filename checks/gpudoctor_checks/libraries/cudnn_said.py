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
    Host,
    Log,
    Python,
    TensorFlow,
    Trial,
    check,
    weigh_faulty,
)
from gpudoctor_checks.libraries.cudnn_remedies import fitting_cudnn, older_cudnn
from gpudoctor_checks.said import events, log_finding, release

WHICH = "python -c \"import tensorflow as tf; tf.nn.conv2d(tf.ones((1,8,8,1)), tf.ones((3,3,1,1)), 1, 'SAME'); print([l.split()[-1] for l in open('/proc/self/maps') if 'libcudnn' in l])\""


@check(
    code="GD252",
    slug="cudnn-wrong-in-log",
    title="The log shows a cuDNN that does not fit",
    family="libraries",
    cause=("cudnn-version", "cudnn-dropped-gpu"),
    core=False,
)
def wrong(
    log: Log,
    tensorflow: TensorFlow | None,
    python: Python | None,
    devices: Devices | None,
    host: Host | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Believe the two numbers; a library that is "not found" is mostly one of another version."""
    arch = events(log, "cudnn_arch")
    if arch:
        weight = weigh_faulty(0.85, baseline)
        summary = "This cuDNN has no code for the GPU."
        yield log_finding(summary, weight, arch, older_cudnn(devices), cause="cudnn-dropped-gpu", know=WHICH)
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
        *fitting_cudnn(compiled, release(tensorflow, log), log, python, host, devices),
        cause="cudnn-version",
        know=WHICH,
    )
