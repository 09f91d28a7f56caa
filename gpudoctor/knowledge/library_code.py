"""Which GPUs the CUDA libraries of some nvidia-* wheels have code for, and what pip installs today. Facts of 2026-11-30.

Only wheels that were opened are listed; for cuDNN by release see `cudnn_releases`. An install of the same TensorFlow made
a year earlier has other libraries: report what is installed, never what the TensorFlow version suggests.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from gpudoctor.knowledge.row import Row


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LibraryCode(Row):
    """The code in one wheel, compute capabilities as numbers (90 = 9.0); `note` says where a library lacks one."""

    package: str
    version: str
    sass: tuple[int, ...]
    ptx: int
    note: str
    source: str


# pip install --dry-run tensorflow[and-cuda]==2.20.0 (same result for 2.21.0), Python 3.12, Linux x86_64, 2026-11-30
AND_CUDA_RESOLVED = MappingProxyType(
    {
        "keras": "3.15.1",
        "numpy": "2.5.5",
        "ml_dtypes": "0.6.0",
        "protobuf": "7.36.2",
        "nvidia-cublas-cu12": "12.9.3.13",
        "nvidia-cuda-cupti-cu12": "12.8.90",
        "nvidia-cuda-nvcc-cu12": "12.9.86",
        "nvidia-cuda-nvrtc-cu12": "12.9.86",
        "nvidia-cuda-runtime-cu12": "12.9.79",
        "nvidia-cudnn-cu12": "9.28.0.42",
        "nvidia-cufft-cu12": "11.4.1.4",
        "nvidia-curand-cu12": "10.3.10.19",
        "nvidia-cusolver-cu12": "11.7.5.82",
        "nvidia-cusparse-cu12": "12.5.10.65",
        "nvidia-nccl-cu12": "2.32.3",
        "nvidia-nvjitlink-cu12": "12.9.86",
    },
)

LIBRARY_CODE: tuple[LibraryCode, ...] = (
    LibraryCode(
        package="nvidia-cudnn-cu11",
        version="8.6.0.163",
        sass=(35, 50, 60, 61, 70, 75, 80, 86, 90),
        ptx=70,
        note="",
        source="fat binaries of the nvidia-cudnn-cu11 8.6.0.163 manylinux wheel",
    ),
    LibraryCode(
        package="nvidia-cudnn-cu12",
        version="8.9.7.29",
        sass=(50, 60, 61, 70, 75, 80, 86, 90),
        ptx=90,
        note="",
        source="fat binaries of the nvidia-cudnn-cu12 8.9.7.29 manylinux wheel",
    ),
    LibraryCode(
        package="nvidia-cudnn-cu12",
        version="9.3.0.75",
        sass=(50, 60, 61, 70, 75, 80, 86, 90),
        ptx=90,
        note="",
        source="fat binaries of the nvidia-cudnn-cu12 9.3.0.75 manylinux wheel",
    ),
    LibraryCode(
        package="nvidia-cudnn-cu12",
        version="9.10.2.21",
        sass=(50, 60, 61, 70, 75, 80, 86, 90, 100, 120),
        ptx=120,
        note="sm_75 (not in libcudnn_ops)",
        source="fat binaries of the nvidia-cudnn-cu12 9.10.2.21 manylinux wheel",
    ),
    LibraryCode(
        package="nvidia-cudnn-cu12",
        version="9.11.0.98",
        sass=(75, 80, 86, 90, 100, 120),
        ptx=120,
        note="",
        source="fat binaries of the nvidia-cudnn-cu12 9.11.0.98 manylinux wheel",
    ),
    LibraryCode(
        package="nvidia-cudnn-cu12",
        version="9.28.0.42",
        sass=(75, 80, 86, 90, 100, 120),
        ptx=120,
        note="",
        source="fat binaries of the nvidia-cudnn-cu12 9.28.0.42 manylinux wheel",
    ),
    LibraryCode(
        package="nvidia-cublas-cu12",
        version="12.3.4.1",
        sass=(50, 60, 61, 70, 75, 80, 86, 89, 90),
        ptx=90,
        note="",
        source="fat binaries of the nvidia-cublas-cu12 12.3.4.1 manylinux wheel",
    ),
    LibraryCode(
        package="nvidia-cublas-cu12",
        version="12.5.3.2",
        sass=(50, 60, 61, 70, 75, 80, 86, 89, 90),
        ptx=90,
        note="",
        source="fat binaries of the nvidia-cublas-cu12 12.5.3.2 manylinux wheel",
    ),
    LibraryCode(
        package="nvidia-cublas-cu12",
        version="12.9.3.13",
        sass=(50, 60, 61, 70, 75, 80, 86, 89, 90, 100, 103, 120, 121),
        ptx=120,
        note="",
        source="fat binaries of the nvidia-cublas-cu12 12.9.3.13 manylinux wheel",
    ),
    LibraryCode(
        package="nvidia-nccl-cu12",
        version="2.21.5",
        sass=(50, 60, 61, 70, 80, 90),
        ptx=90,
        note="",
        source="fat binaries of the nvidia-nccl-cu12 2.21.5 manylinux wheel",
    ),
    LibraryCode(
        package="nvidia-nccl-cu12",
        version="2.32.3",
        sass=(60, 61, 70, 80, 90, 100, 120),
        ptx=120,
        note="",
        source="fat binaries of the nvidia-nccl-cu12 2.32.3 manylinux wheel",
    ),
)


def code_of(package: str, version: str) -> LibraryCode | None:
    """Return what was read in that very wheel, or None."""
    return next((each for each in LIBRARY_CODE if (each.package, each.version) == (package, version)), None)
