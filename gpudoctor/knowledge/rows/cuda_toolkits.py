"""CUDA toolkits and GPU architectures: what a row holds."""

from __future__ import annotations

from dataclasses import dataclass

from gpudoctor.knowledge.row import Row


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Toolkit(Row):
    """One minor release. `updates`: (name, Linux driver, Windows driver) in order; `sm_supported` are numbers (86 = 8.6).

    `driver_*` ship with the first release; from 13.1 on the Windows installer has none (None).
    """

    version: str
    driver_linux: str | None
    driver_windows: str | None
    updates: tuple[tuple[str, str | None, str | None], ...]
    sm_supported: tuple[int, ...]
    sm_arch_specific: tuple[str, ...]
    sm_added: tuple[int, ...]
    sm_dropped: tuple[int, ...]
    ptx_isa: str | None
    ptx_isa_checked: bool
    gcc_max: int
    clang_max: int | None
    note: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Architecture(Row):
    """One GPU architecture; `last_toolkit` and `last_branch` (driver) are None while support goes on."""

    name: str
    compute_capabilities: tuple[str, ...]
    first_toolkit: str
    last_toolkit: str | None
    last_branch: str | None
    source: str
