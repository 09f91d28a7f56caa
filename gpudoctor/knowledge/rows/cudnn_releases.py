"""cuDNN releases: what a row holds."""

from __future__ import annotations

from dataclasses import dataclass

from gpudoctor.knowledge.row import Row


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CudnnRelease(Row):
    """One minor release, or a span of them that share their facts (`first_minor` to `last_minor`).

    `min_cc` to `max_cc` (numbers, 90 = 9.0) is the documented range of the builds for CUDA 11 and newer (7.6: 10);
    `sass` and `ptx` were read in `wheel` where `verified`.
    """

    version: str
    major: int
    first_minor: int
    last_minor: int
    cuda: tuple[str, ...]
    min_cc: int
    max_cc: int
    cc_note: str
    sass: tuple[int, ...]
    ptx: tuple[int, ...]
    min_driver_linux: str
    min_driver_windows: str
    wheel: str | None
    verified: bool
    note: str
    source: str
