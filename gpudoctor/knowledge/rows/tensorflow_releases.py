"""TensorFlow releases and their defects: what a row holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gpudoctor.knowledge import versions
from gpudoctor.knowledge.row import Row

DefectKind = Literal["fault", "limit", "notice"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Defect(Row):
    """One known trouble of some releases.

    `kind`: a fault breaks something, a limit is intended, a notice is good to know. `cause`: id in `causes`, where one
    fits. `affects`: specifiers, any of which may match the exact version. `compute_capability`, `python`: specifiers
    that narrow it; `conditions` tells the whole condition in words. `command` is copyable, `release` what it installs.
    """

    id: str
    kind: DefectKind
    cause: str | None
    affects: tuple[str, ...]
    conditions: str = ""
    compute_capability: str = ""
    python: str = ""
    platform: Literal["", "linux", "windows"] = ""
    and_cuda_only: bool = False
    summary: str
    workaround: str
    command: str = ""
    release: str | None = None
    issues: tuple[str, ...] = ()
    evidence: str
    source: str

    def applies(
        self,
        *,
        compute_capability: str | int | None = None,
        python: str | None = None,
        platform: str | None = None,
    ) -> bool | None:
        """Tell whether the machine meets the conditions; None where a fact that matters is not given.

        `conditions` may name more than these three; the caller judges the rest.
        """
        capability = None if compute_capability is None else versions.capability(compute_capability)
        answers = [
            _met(None if capability is None else f"{capability // 10}.{capability % 10}", self.compute_capability),
            _met(python, self.python),
            True if not self.platform else None if platform is None else platform == self.platform,
        ]
        return False if False in answers else None if None in answers else True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TfRelease(Row):
    """One minor release, as its official wheels are. Compute capabilities in `sass` and `ptx` are numbers (90 = 9.0).

    `sass`: binary code for every kernel; `sass_partial`: for some kernels only; `ptx`: for every kernel. `sonames`: the
    libraries without which the Linux wheel hides every GPU. `cudnn_version`: the oldest that is accepted.
    """

    version: str
    first: str
    latest: str
    patches: tuple[str, ...]
    prerelease: bool
    uploaded: str
    python: tuple[str, ...]
    python_first: tuple[str, ...]
    cuda_version: str | None
    cudnn_version: str | None
    cudnn_exact: str | None
    cudnn_exact_note: str
    compute_capabilities: tuple[str, ...]
    sass: tuple[int, ...]
    sass_partial: tuple[int, ...]
    ptx: tuple[int, ...]
    fatbin_counts: Mapping[str, int]
    sonames: tuple[str, ...]
    compiler: str | None
    tensorrt: bool
    linux_x86_64_gpu: bool
    linux_x86_64_tag: str
    linux_aarch64_wheel: bool
    linux_aarch64_gpu: bool
    linux_aarch64_note: str
    windows_gpu: bool
    windows_note: str
    macos_gpu: bool
    macos_note: str
    glibc_min: str
    keras_major: int
    keras_package: str
    keras: str
    keras_note: str
    numpy: str
    numpy_first: str
    numpy_from_python_3_12: str
    protobuf: str
    protobuf_first: str
    h5py: str
    ml_dtypes: str
    and_cuda: Mapping[str, str]
    and_cuda_pinned: bool
    nvidia_runpath: str
    cuda_libs_from: str
    verified_wheels: tuple[str, ...]
    source: str


def _met(value: str | None, specifier: str) -> bool | None:
    if not specifier:
        return True
    return None if value is None else versions.satisfies(value, specifier)
