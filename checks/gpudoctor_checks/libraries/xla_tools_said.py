"""GD256: the log of a run says that XLA lacks libdevice or ptxas.

What it does
    Reads libdevice and ptxas that were not found from the text of a run, and an XLA_FLAGS that points elsewhere.

Why it matters
    Without libdevice XLA compiles nothing, and Keras optimizers from 2.11 on use XLA. Without ptxas the driver compiles:
    slow, but it works.

How to fix
    Install CUDA's compiler in the environment that trains (cuda-nvcc, or the nvidia-cuda-nvcc wheel), and let XLA_FLAGS
    name the folder that holds nvvm/libdevice. A slim "-base" image has neither: take the -gpu or -devel one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.sdk import (
    Environment,
    Finding,
    Host,
    Log,
    Python,
    Severity,
    TensorFlow,
    Trial,
    check,
    either,
    weigh_faulty,
)
from gpudoctor_checks.libraries.xla_tools_remedies import CONDA_NVCC, POINT_HERE, tools_for
from gpudoctor_checks.said import events, log_finding, on_windows, stated

FLAG = re.compile(r"--xla_gpu_cuda_data_dir=(\S+)")
ENVIRONMENT = re.compile(r"/envs/([^/\s]+)")
SEE = 'echo "$XLA_FLAGS"; find "${CONDA_PREFIX:-/usr/local/cuda}" -name libdevice.10.bc'
SEE_ON_WINDOWS = 'echo %XLA_FLAGS% & where /R "%CUDA_PATH%" libdevice.10.bc'


@check(
    code="GD256",
    slug="xla-tools-in-log",
    title="The log says XLA lacks libdevice or ptxas",
    family="libraries",
    cause="xla-libdevice-ptxas",
    core=False,
)
def lacking(
    log: Log,
    env: Environment | None,
    python: Python | None,
    host: Host | None,
    tensorflow: TensorFlow | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Judge libdevice first: without it nothing compiles."""
    device, tool = events(log, "libdevice_missing"), events(log, "ptxas_missing")
    flag = FLAG.search((env.get("XLA_FLAGS") if env is not None else None) or "")
    stray = flag is not None and _elsewhere(flag[1], env, python)
    slim = "-base" in stated(log, "container_image") or "-base" in stated(log, "other")
    if not device and not tool and not stray and not slim:
        return
    lines = (*device, *tool, *(each for each in events(log, "variable") if each.values.get("name") == "XLA_FLAGS"))
    if stray:
        yield log_finding(
            "XLA_FLAGS points to another environment's folder.",
            weigh_faulty(0.9 if device else 0.7, baseline),
            lines,
            POINT_HERE,
            CONDA_NVCC,
            cause="xla-libdevice-ptxas",
            know=SEE,
        )
        return
    yield log_finding(
        "XLA finds no libdevice, so nothing that it compiles can run."
        if device
        else "There is no ptxas: the driver compiles.",
        weigh_faulty(0.95 if device else 0.85 if tool else 0.55, baseline),
        lines,
        *tools_for(log, python, host, tensorflow, only_ptxas=not device),
        cause="xla-libdevice-ptxas",
        know=(SEE_ON_WINDOWS if on_windows(host) else SEE) if device else "",
        severity=Severity.ERROR if device else Severity.WARNING,
    )


def _elsewhere(folder: str, env: Environment | None, python: Python | None) -> bool:
    """Return whether the flag names an environment, and none that is known to be this one."""
    named = ENVIRONMENT.search(folder)
    own = either(python.prefix, "") if python is not None else ""
    active = (env.get("CONDA_PREFIX") if env is not None else None) or own
    return named is not None and f"/envs/{named[1]}" not in active
