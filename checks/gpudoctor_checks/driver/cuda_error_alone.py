"""An error of CUDA that no rule names: it is told by its meaning, for a text with one is never free of trouble.

Guessing a cause by the name alone would be tempting; the same number comes from many calls, so the kernel log is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpudoctor.sdk import Finding, Fix, Log, Trial, weigh_faulty
from gpudoctor_checks.driver.cuda_errors import READ_LOG, UNKNOWN_NUMBER, error, fixes
from gpudoctor_checks.said import events, first, log_finding

# GD254, GD851 and GD452 have rules for these
ELSEWHERE = frozenset(
    {
        "CUDA_ERROR_INVALID_PTX",
        "CUDA_ERROR_INVALID_IMAGE",
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        "CUDA_ERROR_ECC_UNCORRECTABLE",
        "CUDA_ERROR_NVLINK_UNCORRECTABLE",
        "CUDA_ERROR_LAUNCH_FAILED",
        "CUDA_ERROR_ILLEGAL_ADDRESS",
        "CUDA_ERROR_MISALIGNED_ADDRESS",
        "CUDA_ERROR_LAUNCH_TIMEOUT",
    }
)
# lines whose trouble other calls of CUDA then suffer from
FOLLOWED = (
    "oom", "oom_device", "oom_bare", "oom_tensor", "copy_failed", "no_kernel_image", "forked_after_cuda", "gpu_lost", "xid",
    "device_number", "handle_failed", "cudnn_init_failed", "driver_too_old",
)  # fmt: skip
OF_THE_DRIVER = frozenset(
    {3, 34, 46, 100, 101, 102, 304, 800, 802, 803, 804, 999}
)  # cuda.h: not of a call's own making
ALONE = 0.4  # policy: the error is certain, and its cause is not told
TITLE = "The log shows an error of CUDA"


def alone(log: Log, trial: Trial | None) -> Iterator[Finding]:
    """Tell errors of CUDA that have no rule, where no other line explains them."""
    told = [each for each in events(log, "cuda_error") if each.values.get("name", "").startswith("CUDA_ERROR_")]
    found = tuple(each for each in told if each.values["name"] not in ELSEWHERE)
    if not found or len(found) < len(told) or first(log, *FOLLOWED) is not None:
        return
    name, text = found[0].values["name"], found[0].values.get("code", "")
    code = int(text) if text.isdecimal() else 0
    known = error(code)
    meaning = found[0].values.get("message", "its meaning is not told") if known is UNKNOWN_NUMBER else known.meaning
    ways: tuple[Fix, ...] = fixes(code) if code in OF_THE_DRIVER else (READ_LOG,)
    summary = f"CUDA fails with {name}: {meaning}."
    finding = log_finding(
        summary, weigh_faulty(ALONE, trial), found, *ways, cause="cuda-init-failed", know=READ_LOG.text
    )
    yield replace(finding, title=TITLE)
