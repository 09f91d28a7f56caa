"""GD452: the log shows that cuDNN or cuBLAS got no memory.

What it does
    Reads handles of cuDNN, cuBLAS and cuSOLVER that could not be made, convolutions that found no algorithm, layers in which
    cuDNN failed, memory options that were set too late or for some GPUs only, and processes forked after CUDA had begun.

Why it matters
    TensorFlow maps nearly all memory of the GPU at its start. Libraries that want memory of their own then fail, mostly
    with words that speak of their installation.

How to fix
    Turn memory growth on before anything touches the GPU: TF_FORCE_GPU_ALLOW_GROWTH=true needs no change of the program,
    and no import can come before it. Growth is for such cases and for sharing a GPU; it does not make memory larger. A process
    that was forked cannot use its parent's CUDA: spawn it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpudoctor.sdk import (
    Devices,
    Environment,
    Finding,
    Gpus,
    Host,
    Log,
    LogEvent,
    NotApplicable,
    TensorFlow,
    Trial,
    check,
)
from gpudoctor_checks.libraries.older_build import library_without_code
from gpudoctor_checks.memory.growth_remedies import GROW_FIRST, GROWTH, ONE_OPTION, SPAWN, grow
from gpudoctor_checks.memory.memory_limit import reserve
from gpudoctor_checks.said import events, first, log_finding, weigh_program

FORKED, REFUSED = "The log: a forked process cannot use CUDA", "The log: TensorFlow refuses a memory option"
RUNNING = 0.45  # policy: a cuDNN of another release, a faulty kernel and a bad sequence length print the same
SEE_CUDNN = "python -m pip list | grep -i cudnn; nvidia-smi --query-gpu=memory.used,memory.total --format=csv"
OTHER_FAULT = ("cudnn_mismatch", "driver_too_old", "cuinit_failed", "cudnn_arch")
SEE_FREE = "nvidia-smi --query-gpu=memory.used,memory.total --format=csv  # before the program starts"


@check(
    code="GD452",
    slug="no-growth-in-log",
    title="The log: libraries got no GPU memory",
    family="memory",
    cause=("no-growth", "early-allocation", "forked-after-cuda"),
    core=False,
)
def no_memory_left(
    log: Log,
    env: Environment | None,
    gpus: Gpus | None,
    devices: Devices | None,
    tensorflow: TensorFlow | None,
    host: Host | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Let a version that does not fit go first: it explains the same words."""
    if forked := events(log, "forked_after_cuda"):  # no memory option mends it, so it is a cause of its own
        summary = "A process was forked after its parent had begun with CUDA, which the child then cannot use."
        told = log_finding(summary, weigh_program(0.85, baseline), forked, SPAWN, cause="forked-after-cuda")
        yield replace(told, title=FORKED)
        return
    late, recurrent, failed = events(log, "memory_option_late"), events(log, "rnn_failed"), _handles(log)
    if not late and not failed and not recurrent:
        return
    if first(log, *OTHER_FAULT) is not None:
        raise NotApplicable("the log names a version that does not fit, which explains it")
    if library_without_code(log, devices, tensorflow):
        raise NotApplicable("the GPU is newer than this TensorFlow's CUDA, which explains it: see GD254")
    if failed:
        yield _no_handle(failed, env, gpus, host, baseline)
    elif late:
        yield replace(_too_late(late, host, baseline), title=REFUSED)
    else:
        summary = "cuDNN fails while it runs a layer: mostly it finds no memory of its own, or it does not fit this TensorFlow."
        weight = weigh_program(RUNNING, baseline)
        yield log_finding(summary, weight, recurrent, grow(host), GROW_FIRST, cause="no-growth", know=SEE_CUDNN)


def _handles(log: Log) -> tuple[LogEvent, ...]:
    """Return the handles that could not be made; a library that is not found is another trouble."""
    unable = (each for each in events(log, "cudnn_init_failed") if "not found" not in each.text)
    return (*events(log, "handle_failed"), *unable)


def _no_handle(
    failed: tuple[LogEvent, ...], env: Environment | None, gpus: Gpus | None, host: Host | None, baseline: Trial | None
) -> Finding:
    on = env is not None and env.get(GROWTH) == "true"
    allocation = any("ALLOC" in each.values.get("status", "") for each in failed)
    return log_finding(
        "cuDNN or cuBLAS got no GPU memory: TensorFlow had taken it.",
        weigh_program(0.4 if on else 0.85 if allocation else 0.75, baseline),
        failed,
        *((reserve(gpus),) if on else (grow(host), GROW_FIRST)),
        cause="no-growth",
        know=SEE_FREE,
    )


def _too_late(late: tuple[LogEvent, ...], host: Host | None, trial: Trial | None) -> Finding:
    some = any(each.values.get("what") == "Some" for each in late)
    both = any(each.values.get("what") == "Both" for each in late)
    if both:
        summary = "Memory growth and a memory limit are both set for one GPU; TensorFlow takes one of them."
        return log_finding(summary, weigh_program(0.9, trial), late, ONE_OPTION, cause="no-growth")
    growth = some or any(each.values.get("what") == "Physical" for each in late)
    return log_finding(
        "Memory growth is set for some of the GPUs only; TensorFlow wants it alike for all."
        if some
        else "Memory growth is set after the GPU was initialised, so it stays off."
        if growth
        else "A memory or device option is set after the GPU was initialised.",
        weigh_program(0.9, trial),
        late,
        *((grow(host), GROW_FIRST) if growth else (GROW_FIRST, grow(host))),
        cause="no-growth" if growth else "early-allocation",
    )
