"""pip finds none of the CUDA wheels that tensorflow[and-cuda] asks for: they are made for Linux.

Telling it as a Python without a wheel would be tempting, since pip's words are the same; another Python changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Host, LogEvent, Trial, either, weigh_unusable
from gpudoctor_checks.said import by_hand, log_finding, on_windows
from gpudoctor_checks.tensorflow.cpu_build import LAST_NATIVE
from gpudoctor_checks.tensorflow.cpu_build_said import WSL

SURE, OPEN = 0.9, 0.7
# tensorflow.org/install/pip: no GPU for macOS; [and-cuda] is for Linux, WSL2 included
ON_LINUX = by_hand(
    "install-tensorflow",
    "Install it without [and-cuda], or on Linux",
    "On macOS: pip install tensorflow (no NVIDIA GPU there). On Windows: inside WSL2. On Linux: pip install --upgrade pip, then again",
    why="NVIDIA's wheels exist for Linux only",
)
SEE = 'python -c "import platform, sys; print(platform.platform(), sys.version)"'


def without_cuda_wheels(wheels: tuple[LogEvent, ...], host: Host | None, trial: Trial | None) -> Iterator[Finding]:
    """Judge by the system, where the text tells it."""
    windows = on_windows(host)
    known = windows or (host is not None and either(host.os, "") == "darwin")
    yield log_finding(
        "tensorflow[and-cuda] asks for CUDA wheels, which exist for Linux only.",
        weigh_unusable(SURE if known else OPEN, trial),
        wheels,
        *((WSL, LAST_NATIVE) if windows else (ON_LINUX,)),
        cause="windows-native" if windows else "python-tf-wheel",
        know="" if known else SEE,
    )
