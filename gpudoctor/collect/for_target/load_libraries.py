"""Load the libraries named in the arguments, one after the other, and ask each for its version by its own call.

Before each a line says what comes next: a library whose load kills this process is known by the line without an answer.
"""

from __future__ import annotations

import sys

sys.path[:] = [folder for folder in sys.path if folder]  # the empty one is the folder that -c was run in

import ctypes  # noqa: E402  # only after the line above may anything be imported

# What answers, by the beginning of the file's name; from the headers cudnn.h, cuda_runtime_api.h, nccl.h, nvJitLink.h,
# and library_types.h, whose property call takes 0, 1, 2 for major, minor, patch.
PROPERTY_CALLS = {
    "libcublas.": "cublasGetProperty",
    "libcublasLt.": "cublasLtGetProperty",
    "libcufft.": "cufftGetProperty",
    "libcurand.": "curandGetProperty",
    "libcusolver.": "cusolverGetProperty",
    "libcusparse.": "cusparseGetProperty",
}


def cudnn_version(library: ctypes.CDLL) -> str | None:
    """Return the version: from 9 on five or six digits with two for minor and patch each, before four."""
    call = library.cudnnGetVersion
    call.restype = ctypes.c_size_t
    number = call()
    return dotted(number, 10000) if number >= 90000 else dotted(number, 1000)


def runtime_version(library: ctypes.CDLL) -> str | None:
    """Return the version: 12090 is 12.9."""
    number = ctypes.c_int()
    if library.cudaRuntimeGetVersion(ctypes.byref(number)):
        return None
    return f"{number.value // 1000}.{number.value % 1000 // 10}"


def nccl_version(library: ctypes.CDLL) -> str | None:
    """Return the version: 23203 is 2.32.3, before 2.9 four digits."""
    number = ctypes.c_int()
    if library.ncclGetVersion(ctypes.byref(number)):
        return None
    return dotted(number.value, 10000) if number.value >= 10000 else dotted(number.value, 1000)


def jit_link_version(library: ctypes.CDLL) -> str | None:
    """Return major and minor."""
    major, minor = ctypes.c_uint(), ctypes.c_uint()
    if library.nvJitLinkVersion(ctypes.byref(major), ctypes.byref(minor)):
        return None
    return f"{major.value}.{minor.value}"


def property_version(library: ctypes.CDLL, call_name: str) -> str | None:
    """Return major, minor and patch of a library with the common property call."""
    call = getattr(library, call_name)
    parts: list[str] = []
    for part in range(3):
        number = ctypes.c_int()
        if call(part, ctypes.byref(number)):
            return None
        parts.append(str(number.value))
    return ".".join(parts)


def dotted(number: int, major_unit: int) -> str:
    """Return major.minor.patch of a number that gives the minor two digits less than the major's unit has."""
    return f"{number // major_unit}.{number % major_unit // 100}.{number % 100}"


def version_of(library: ctypes.CDLL, name: str) -> str | None:
    """Return the version as text, None where the library has no such call."""
    special = {
        "libcudnn.": cudnn_version,
        "libcudart.": runtime_version,
        "libnccl.": nccl_version,
        "libnvJitLink.": jit_link_version,
    }
    try:
        for start, ask in special.items():
            if name.startswith(start):
                return ask(library)
        for start, call_name in PROPERTY_CALLS.items():
            if name.startswith(start):
                return property_version(library, call_name)
    except AttributeError:  # an edition without the call
        return None
    return None


def say(value: object) -> None:
    """Write one answer at once: the next load may be the last."""
    sys.stdout.write("gpudoctor:" + ascii(value) + "\n")
    sys.stdout.flush()


for path in sys.argv[1:]:
    say({"next": path})
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        say({"path": path, "error": str(error)})
        continue
    say({"path": path, "error": None, "version": version_of(loaded, path.rpartition("/")[2])})
