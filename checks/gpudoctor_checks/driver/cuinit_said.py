"""GD151: the log of a run says that CUDA could not start.

What it does
    Reads the error of cuInit in the text of a run, and what stands around it: the driver's versions, missing device
    nodes, a container, WSL. One number has several causes; the likeliest comes first, with the command that decides.
    Another call's error that no rule names is told by its meaning.

Why it matters
    When cuInit fails TensorFlow trains on the CPU and goes on. 999 (unknown) is mostly the module nvidia_uvm, 100 (no
    device) a container or a variable, 303 a libcuda that is not there, 34 a stub of it.

How to fix
    999: reload nvidia_uvm and make its node. 100 or 303 in a container: start it with the GPU. 34: let the loader find
    the driver's own libcuda before the stub. Neither CUDA toolkit nor TensorFlow is at fault, so leave them as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    OPEN,
    Environment,
    Finding,
    Gpus,
    Host,
    Kernel,
    Log,
    NotApplicable,
    Trial,
    check,
    weigh_unusable,
)
from gpudoctor_checks.driver.cuda_error_alone import alone
from gpudoctor_checks.driver.cuda_errors import READ_LOG, error, fixes
from gpudoctor_checks.driver.cuinit_events import (
    BAD_DEVICE,
    FREE_DEVICE,
    IN_USE,
    LIKELY,
    NEWER_TOOLS,
    NO_DEVICE,
    NO_LIBCUDA,
    NOT_FOUND,
    NOT_READY,
    RENEW_UVM,
    SEE_NODES,
    START_FABRIC,
    STUB,
    UNAVAILABLE,
    UNKNOWN,
    read_cuinit,
    told_elsewhere,
)
from gpudoctor_checks.driver.cuinit_shadows import shadow_likely, shadowed, stub_found, wsl_itself
from gpudoctor_checks.driver.driver_said import COMPAT, MISMATCH, TOO_OLD_CODES
from gpudoctor_checks.presence import why_dead
from gpudoctor_checks.said import container_of, first, log_finding

TOLD_BY_OTHERS = frozenset(
    {NO_DEVICE, BAD_DEVICE, NO_LIBCUDA, *map(int, (*TOO_OLD_CODES, MISMATCH, COMPAT))}
)  # GD155, GD152
BESIDE = 0.45  # policy: a surer trouble is told in the same text


@check(
    code="GD151",
    slug="cuinit-failed-in-log",
    title="The log says that CUDA cannot start",
    family="driver",
    cause=(
        "uvm-not-ready",
        "container-no-gpu",
        "wsl-libcuda",
        "missing-cuda-libs",
        "device-permission-mode",
        "cuda-init-failed",
    ),
    core=False,
)
def cannot_start(
    log: Log,
    host: Host | None,
    env: Environment | None,
    gpus: Gpus | None,
    kernel: Kernel | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Choose by the error's number, then by what else is known."""
    code, lines, _ = read_cuinit(log)
    if not code:
        yield from shadowed(log, host, env, baseline)
        yield from alone(log, baseline)
        return
    if told_elsewhere(log):
        raise NotApplicable("the log names a fault of the driver's parts: see GD152 and GD153")
    if dead := why_dead(gpus, kernel):
        raise NotApplicable(dead)
    if code == UNKNOWN:
        where = " Do this on the host." if container_of(host) else ""
        yield log_finding(
            f"cuInit fails with 999: nvidia_uvm is broken or its node is missing.{where}",
            weigh_unusable(LIKELY, baseline),
            lines,
            RENEW_UVM,
            cause="uvm-not-ready",
            know=SEE_NODES,
        )
    elif code == STUB or (code == NO_LIBCUDA and wsl_itself(host)) or (code == NO_DEVICE and shadow_likely(host, env)):
        yield from stub_found(lines, host, baseline)
    elif code == NOT_FOUND:
        yield log_finding(
            "The driver's libraries are brought in only in part: one that libcuda needs is missing.",
            weigh_unusable(OPEN, baseline),
            lines,
            NEWER_TOOLS,
            cause="wsl-libcuda" if wsl_itself(host) else "container-no-gpu",
            know="nvidia-smi  # on the host, then here",
        )
    elif code in {UNAVAILABLE, IN_USE, NOT_READY}:
        fix = START_FABRIC if code == NOT_READY else FREE_DEVICE
        beside = first(log, "gpu_skipped") is not None  # then another GPU was left out, which is the surer trouble
        weight = weigh_unusable(BESIDE if beside else OPEN, baseline)
        what = "The GPU is there, but not ready." if code == NOT_READY else "The GPU's compute mode refuses this use."
        yield log_finding(what, weight, lines, fix, cause="device-permission-mode", know="nvidia-smi -q -d COMPUTE")
    elif code not in TOLD_BY_OTHERS:
        known = error(code)
        summary, weight = f"cuInit fails with {code}: {known.meaning}.", weigh_unusable(OPEN, baseline)
        yield log_finding(summary, weight, lines, *fixes(code), cause="cuda-init-failed", know=READ_LOG.text)
