"""GD151: the log of a run says that CUDA could not start.

What it does
    Reads the error of cuInit in the text of a run, and what stands around it: the driver's versions, missing device
    nodes, a container, WSL. One number has several causes; the likeliest comes first, with the command that decides.

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
    Environment,
    Evidence,
    Finding,
    Host,
    Log,
    LogEvent,
    NotApplicable,
    Trial,
    check,
    weigh_unusable,
)
from gpudoctor_checks.driver.cuinit_events import (
    FIND_LIBCUDA,
    FREE_DEVICE,
    LIKELY,
    NO_LIBCUDA,
    NOT_READY,
    OPEN,
    RENEW_UVM,
    SEE_LIBCUDA,
    SEE_NODES,
    START_FABRIC,
    STUB,
    UNAVAILABLE,
    UNKNOWN,
    WSL_FIRST,
    read_cuinit,
    told_elsewhere,
)
from gpudoctor_checks.said import container_of, events, first, log_finding, on_wsl

BESIDE = 0.45  # policy: a surer trouble is told in the same text


@check(
    code="GD151",
    slug="cuinit-failed-in-log",
    title="The log says that CUDA cannot start",
    family="driver",
    cause=("uvm-not-ready", "container-no-gpu", "wsl-libcuda", "device-permission-mode"),
    core=False,
)
def cannot_start(log: Log, host: Host | None, env: Environment | None, baseline: Trial | None) -> Iterator[Finding]:
    """Choose by the error's number, then by what else is known."""
    code, lines, _ = read_cuinit(log)
    if not code:
        yield from _shadowed(log, host, env, baseline)
        return
    if told_elsewhere(log):
        raise NotApplicable("the log names a fault of the driver's parts: see GD152 and GD153")
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
    elif code == STUB or (code == NO_LIBCUDA and on_wsl(host)):
        yield from _stub(lines, host, baseline)
    elif code in {UNAVAILABLE, NOT_READY}:
        fix = FREE_DEVICE if code == UNAVAILABLE else START_FABRIC
        beside = first(log, "gpu_skipped") is not None  # then another GPU was left out, which is the surer trouble
        weight = weigh_unusable(BESIDE if beside else OPEN, baseline)
        what = "The GPU refuses another process." if code == UNAVAILABLE else "The GPU is there, but not ready."
        yield log_finding(what, weight, lines, fix, cause="device-permission-mode", know="nvidia-smi -q -d COMPUTE")


def _shadowed(log: Log, host: Host | None, env: Environment | None, trial: Trial | None) -> Iterator[Finding]:
    """On WSL a folder of stubs, or of another libcuda, must not come before WSL's own."""
    path = (env.get("LD_LIBRARY_PATH") if env is not None else None) or ""
    if not on_wsl(host) or "stubs" not in path or first(log, "gpu_created") is not None:
        return
    ahead = path.split(":")[0].endswith(("wsl/lib", "lxss/lib"))
    yield log_finding(
        "On WSL the loader's path holds a folder with CUDA's stub of libcuda.",
        weigh_unusable(0.55 if ahead else 0.7, trial),
        events(log, "variable"),
        WSL_FIRST,
        cause="wsl-libcuda",
        know=SEE_LIBCUDA,
        more=(Evidence(label="LD_LIBRARY_PATH", value=path[:160], source="environment"),),
    )


def _stub(lines: tuple[LogEvent, ...], host: Host | None, trial: Trial | None) -> Iterator[Finding]:
    weight = weigh_unusable(LIKELY, trial)
    if on_wsl(host):
        yield log_finding(
            "WSL's own libcuda is not the one that is found.",
            weight,
            lines,
            WSL_FIRST,
            cause="wsl-libcuda",
            know=SEE_LIBCUDA,
        )
        return
    yield log_finding(
        "A stub or no libcuda is found; the driver's own lies elsewhere.",
        weight,
        lines,
        FIND_LIBCUDA,
        cause="container-no-gpu",
        know="find / -name 'libcuda.so*' 2>/dev/null",
    )
