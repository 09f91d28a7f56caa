"""Refuses a stated fact that cannot be understood, and names the forms that are: a dropped one would look as if it had counted.

Only what a person types is asked so strictly; a text says many things beside the point.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpudoctor.errors import UsageError
from gpudoctor.logs import machine_text
from gpudoctor.logs.fact_values import NO_ANSWER, NONE, SWITCHES, read
from gpudoctor.logs.stated import NO, YES, number

SHOWN = 60
YES_OR_NO = "yes or no"
RELEASE = "a version: 12.4"
FORMS: Mapping[str, str] = {
    **dict.fromkeys((*SWITCHES, "mig"), YES_OR_NO),
    **dict.fromkeys(("docker", "conda"), "yes, no or a version"),
    **dict.fromkeys(("cuda", "driver_cuda", "libcuda", "kernel_module", "nccl"), RELEASE),
    "numpy": "a version: 1.26.4",
    "keras": "a version: 3.3",
    "protobuf": "a version: 4.25.3",
    "cudnn": "a version: 8.9, 8906",
    "tf": "a release: 2.16.1, 'tensorflow-gpu 2.10', tensorflow==2.15.0",
    "python": "a version with its minor number: 3.11, 'Python 3.12.1', cp310",
    "driver": "a version: 550.54.15, R535, 'NVIDIA 572.16'",
    "os": "linux, windows, macos, 'Windows 11', 'Ubuntu 22.04', 'Ubuntu 22.04 (WSL2)'",
    "wsl": "yes, no or WSL2",
    "container": "none, docker, podman, singularity, kubernetes, or yes",
    "gpu": "a model: 'RTX 5090', '2x A100 80GB', 'GTX 1070 8 GB', or none",
    "gpu_count": f"a number from 0 (no GPU) to {machine_text.gpus_at_most()}",
    "compute_capability": "8.6, sm_86 or 'cc 8.6'",
    "arch": "x86_64 or aarch64",
    "compute_mode": "default, exclusive_process or prohibited",
    "scheduler": "slurm, kubernetes, pbs, lsf, sge or none",
    "memory": "an amount: '64 GB'",
    "glibc": "a version: 2.31",
    "kernel": "a version: 6.8.0-45-generic",
}
# What a model is called holds letters with a number: "RTX 5090", "A100", "Vega 64"; or it is a family by its name.
MODEL = re.compile(
    r"(?i)[a-z]{1,12}[ _-]?\d{1,5}|\b(?:tesla|titan|quadro|geforce|radeon|jetson|orin|xavier|blackwell)\b"
)


def refuse_what_is_not_understood(facts: Mapping[str, str]) -> None:
    """Raise UsageError for the first fact whose value says nothing; one that says "unknown" is understood as that."""
    for key, value in facts.items():
        if key in FORMS and not NO_ANSWER.fullmatch(value) and not _understood(key, value):
            shown = value if len(value) <= SHOWN else f"{value[:SHOWN]}..."
            raise UsageError(f"--fact {key}={shown!r} is not understood; expected is {FORMS[key]}")
    _refuse_two_answers(facts)


def _refuse_two_answers(facts: Mapping[str, str]) -> None:
    """Raise UsageError where a model is named and none is counted, or the other way round: either answer would be a guess."""
    named, counted = (read(key, facts.get(key, "")) for key in ("gpu", "gpu_count"))
    if named and counted and (named.get("gpu") == NONE) != (counted["gpu_count"] == "0"):
        raise UsageError(
            f"--fact gpu={facts['gpu']!r} and gpu_count={facts['gpu_count']!r} contradict each other; leave one out"
        )


def _understood(key: str, value: str) -> bool:
    if key == "docker":
        return value.strip().lower() in YES | NO or number(value) != ""
    if key == "gpu":
        return read(key, value).get("gpu") == NONE or any(
            MODEL.search(each.name) or each.compute_capability for each in machine_text.named_gpus(value)
        )
    if key == "gpu_count":
        return int(read(key, value).get(key, "-1")) in range(machine_text.gpus_at_most() + 1)
    return any(name != "conda" or key == "conda" for name in read(key, value))
