"""The CUDA driver API asked directly: does cuInit work, and which devices does it list? That is what TensorFlow will be told.

It runs in a child of its own, because a process keeps the first answer of cuInit for life, and because a sick driver hangs or
crashes in it. The variables that hide devices stay in force: unset, they would give an answer that TensorFlow never gets.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Generator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpudoctor.collect import driver_libraries
from gpudoctor.knowledge import versions
from gpudoctor.model.machine import Cuda, CudaDevice
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.words import CudaOrigin

SONAME, WINDOWS_NAME = "libcuda.so.1", "nvcuda.dll"
MASK = "CUDA_VISIBLE_DEVICES"
# cuda.h: CUdevice_attribute and CUresult, stable numbers of its ABI.
CC_MAJOR, CC_MINOR = 75, 76
NO_DEVICE = 100
TEXT_BYTES = 256


def collect_cuda(root: Path = Path("/")) -> Generator[Cuda, None, Cuda]:
    """Ask libcuda; hand over which library it is before the call that may hang. `joined` adds how that call ended."""
    path = _path_under(root)
    try:
        library = _load(path, root)
    except OSError as error:
        # The loader names the file that it misses: another name is something that libcuda itself needs.
        absent = path is None and str(error).startswith((SONAME, WINDOWS_NAME))
        status = "library_not_found" if absent else "error"
        why = Missing(f"libcuda: {status}")
        return Cuda(
            status=status,
            message=str(error),
            libcuda_path=path or Missing("not found"),
            library_version=why,
            origin=why,
            other_paths=_others(root, path),
            cu_init=why,
            cu_init_name=why,
            driver_api_version=why,
            devices=why,
        )
    path = path or driver_libraries.mapped("libcuda.so") or SONAME
    known = Cuda(
        message=Missing("none"),
        libcuda_path=path,
        library_version=driver_libraries.version_in_name(path) or Missing("not in the file name"),
        origin=_origin(path, root),
        other_paths=_others(root, path),
    )
    yield known
    return _started(library, known)


def joined(parts: Iterable[object], reason: str) -> Cuda:
    """Return what was known when cuInit hung or crashed; `reason` is like "timeout after 3 s"."""
    cuda, why = Cuda(), Missing(reason)
    for part in parts:
        cuda = part if isinstance(part, Cuda) else cuda
    return replace(
        cuda,
        status=reason.partition(" ")[0].rstrip(":"),
        message=f"libcuda did not answer: {reason}",
        cu_init=why,
        cu_init_name=why,
        driver_api_version=why,
        devices=why,
    )


def count_unmasked(root: Path = Path("/")) -> int:
    """Return how many devices there are without CUDA_VISIBLE_DEVICES. Only in a child of its own: it unsets the variable."""
    os.environ.pop(MASK, None)
    library = _load(_path_under(root), root)
    code, count = library.cuInit(0), ctypes.c_int(0)
    if code == NO_DEVICE:
        return 0
    if code or library.cuDeviceGetCount(ctypes.byref(count)):
        message = f"cuInit returned {code} ({_name(library, code)})"
        raise OSError(message)
    return count.value


def _path_under(root: Path) -> str | None:
    """Return the file to load under a machine root. On this machine the loader chooses, as it does for TensorFlow."""
    if driver_libraries.is_this_machine(root):
        return None
    found = next(driver_libraries.candidates(SONAME, root), None)
    return None if found is None else str(found.resolve())


def _load(path: str | None, root: Path) -> Any:  # ctypes looks functions up by name
    if path is None and not driver_libraries.is_this_machine(root):
        message = f"{SONAME}: not found under the machine root"
        raise OSError(message)
    return ctypes.CDLL(path or (WINDOWS_NAME if sys.platform == "win32" else SONAME))


def _others(root: Path, path: str | None) -> tuple[str, ...]:
    """Return further files of that name that a changed search path could bring in."""
    found = (*driver_libraries.candidates(SONAME, root), *driver_libraries.aside(SONAME, root))
    real = dict.fromkeys(str(each.resolve()) for each in found)
    return tuple(each for each in real if each != path)


def _origin(path: str, root: Path) -> CudaOrigin:
    """Return where the library comes from; the folders' names are those of NVIDIA's packages."""
    inside = f"/{path.removeprefix(str(root)).lstrip('/')}"
    folder = os.path.dirname(inside)  # noqa: PTH120  # texts, and hot at start-up
    if "/stubs" in folder:
        return "stub"
    if "compat" in folder:
        return "compat"
    if "/wsl/" in f"{folder}/":
        return "wsl"
    if inside.startswith("/usr/local/nvidia/") or inside in _mount_points(root):
        return "container"
    return "driver" if folder.lstrip("/") in driver_libraries.FOLDERS else "other"


def _mount_points(root: Path) -> frozenset[str]:
    """Return what is mounted: the container toolkit mounts the host's driver files one by one."""
    try:
        lines = (root / "proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset()
    return frozenset(fields[4] for fields in map(str.split, lines) if len(fields) > 4)


def _started(library: Any, known: Cuda) -> Cuda:
    mask = os.environ.get(MASK)
    note = "" if mask is None else f"{MASK}={mask!r}"
    try:
        number = ctypes.c_int(0)
        asked = library.cuDriverGetVersion(ctypes.byref(number))
        version = Missing(_name(library, asked)) if asked else versions.from_cuda_number(number.value)
        code = library.cuInit(0)
        name = _name(library, code)
    except AttributeError as error:  # a file of that name which is not libcuda
        return replace(known, status="error", message=str(error))
    text = "; ".join(part for part in (_text(library, "cuGetErrorString", code) if code else "", note) if part)
    answer = replace(
        known,
        status="error" if code else "ok",
        message=text or Missing("none"),
        cu_init=code,
        cu_init_name=name,
        driver_api_version=version,
    )
    if code:
        none = Missing(f"cuInit: {name}")
        return replace(answer, devices=() if code == NO_DEVICE else none)
    return replace(answer, devices=_devices(library))


def _name(library: Any, code: int) -> str:
    return _text(library, "cuGetErrorName", code) or f"CUDA error {code}"


def _text(library: Any, function: str, code: int) -> str:
    text = ctypes.c_char_p()
    ask = getattr(library, function, None)
    if ask is None or ask(code, ctypes.byref(text)) or text.value is None:
        return ""
    return text.value.decode(errors="replace")


def _devices(library: Any) -> Maybe[tuple[CudaDevice, ...]]:
    count = ctypes.c_int(0)
    code = library.cuDeviceGetCount(ctypes.byref(count))
    if code:
        return Missing(_name(library, code))
    return tuple(_device(library, ordinal) for ordinal in range(count.value))


def _device(library: Any, ordinal: int) -> CudaDevice:
    handle = ctypes.c_int(0)
    code = library.cuDeviceGet(ctypes.byref(handle), ordinal)
    if code:
        why = Missing(_name(library, code))
        return CudaDevice(name=why, compute_capability=why, pci=why, memory_bytes=why)
    major, minor = _attribute(library, handle, CC_MAJOR), _attribute(library, handle, CC_MINOR)
    memory = ctypes.c_size_t(0)
    code = library.cuDeviceTotalMem_v2(ctypes.byref(memory), handle)
    pci = _string(library, "cuDeviceGetPCIBusId", handle)
    return CudaDevice(
        name=_string(library, "cuDeviceGetName", handle),
        compute_capability=major if isinstance(major, Missing) else f"{major}.{minor}",
        pci=pci if isinstance(pci, Missing) else pci.lower(),
        memory_bytes=Missing(_name(library, code)) if code else memory.value,
    )


def _attribute(library: Any, handle: ctypes.c_int, attribute: int) -> Maybe[int]:
    value = ctypes.c_int(0)
    code = library.cuDeviceGetAttribute(ctypes.byref(value), attribute, handle)
    return Missing(_name(library, code)) if code else value.value


def _string(library: Any, function: str, handle: ctypes.c_int) -> Maybe[str]:
    buffer = ctypes.create_string_buffer(TEXT_BYTES)
    code = getattr(library, function)(buffer, TEXT_BYTES, handle)
    return Missing(_name(library, code)) if code else buffer.value.decode(errors="replace")
