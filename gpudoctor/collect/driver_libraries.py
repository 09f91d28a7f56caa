"""Find the driver's own libraries (NVML, libcuda) of this machine or of a machine root, and tell which file was mapped.

Under a root only that root's folders and LD_LIBRARY_PATH count. Leaving the search to the dynamic loader would be shorter;
but it looks into this machine, and a described machine without a driver would then be given this one's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from glob import glob
from pathlib import Path

WSL_FOLDER = "usr/lib/wsl/lib"  # where WSL mounts the Windows driver's libraries (CUDA on WSL User Guide)
# Where distributions, NVIDIA's installer, the container toolkit, Jetson and NixOS put driver libraries.
FOLDERS = (
    WSL_FOLDER,
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib/aarch64-linux-gnu/nvidia",
    "usr/lib/aarch64-linux-gnu/tegra",
    "usr/lib64",
    "usr/lib64/nvidia",
    "usr/lib",
    "lib/x86_64-linux-gnu",
    "lib64",
    "lib",
    "usr/local/nvidia/lib64",
    "usr/local/nvidia/lib",
    "usr/local/lib",
    "run/opengl-driver/lib",
)
# Copies that are no installed driver: forward compatibility packages and link-time stubs.
ASIDE = ("usr/local/cuda*/compat", "usr/local/cuda*/compat/lib.real", "usr/local/cuda*/lib64/stubs")
DRIVER_VERSION = re.compile(r"\.so\.(\d{3}\.\d{1,3}(?:\.\d{1,2})?)$")


def is_this_machine(root: Path) -> bool:
    """Return whether the root is the machine's own."""
    return root == Path("/")


def library_path_folders() -> list[Path]:
    """Return the folders of LD_LIBRARY_PATH, in order."""
    return [Path(each) for each in os.environ.get("LD_LIBRARY_PATH", "").split(":") if each]


def candidates(soname: str, root: Path) -> Iterator[Path]:
    """Yield the files of that name in search order: LD_LIBRARY_PATH, WSL, the system's folders."""
    seen: set[str] = set()
    for folder in (*library_path_folders(), *(root / each for each in FOLDERS)):
        path = folder / soname
        if os.path.exists(path) and (real := os.path.realpath(path)) not in seen:  # noqa: PTH110  # hot at start-up
            seen.add(real)
            yield path


def aside(soname: str, root: Path) -> Iterator[Path]:
    """Yield compat and stub copies of the library."""
    stem = soname.partition(".so")[0]
    for pattern in ASIDE:
        for name in (soname, f"{stem}.so"):
            yield from map(Path, sorted(glob(str(root / pattern / name))))  # noqa: PTH207  # pathlib's is slower


def mapped(stem: str) -> str | None:
    """Return the file behind the library that this process has mapped, by the beginning of its name."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:  # noqa: PTH123  # not under a root
            for line in maps:
                path = line.rstrip("\n").partition("/")
                if path[1] and os.path.basename(path[2]).startswith(stem):  # noqa: PTH119  # a text, not a path yet
                    return f"/{path[2]}"
    except OSError:
        pass
    return None


def version_in_name(path: str) -> str | None:
    """Return the driver version that the real file's name carries (libcuda.so.580.95.05)."""
    match = DRIVER_VERSION.search(os.path.realpath(path))
    return match[1] if match else None
