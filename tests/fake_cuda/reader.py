"""Prints, as one JSON document, what ctypes reads from whatever libcuda.so.1 the loader finds."""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any

_MAJOR, _MINOR, _BUS = 75, 76, 33  # CUdevice_attribute


def read_device(cuda: ctypes.CDLL, ordinal: int) -> dict[str, Any]:
    """Return who this device is."""
    device, name, pci = ctypes.c_int(), ctypes.create_string_buffer(96), ctypes.create_string_buffer(32)
    total, uuid = ctypes.c_size_t(), (ctypes.c_ubyte * 16)()
    codes = [
        cuda.cuDeviceGet(ctypes.byref(device), ordinal),
        cuda.cuDeviceGetName(name, 96, device),
        cuda.cuDeviceGetPCIBusId(pci, 32, device),
        cuda.cuDeviceTotalMem_v2(ctypes.byref(total), device),
        cuda.cuDeviceGetUuid_v2(uuid, device),
    ]
    attributes: list[int] = []
    for attribute in (_MAJOR, _MINOR, _BUS):
        value = ctypes.c_int()
        codes.append(cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device))
        attributes.append(value.value)
    return {
        "codes": codes,
        "name": name.value.decode(),
        "pci": pci.value.decode(),
        "bytes": total.value,
        "uuid": bytes(uuid).hex(),
        "capability": attributes[:2],
        "bus": attributes[2],
    }


def main() -> None:
    """Print the code of cuInit with its name and text, the version, and the devices."""
    cuda = ctypes.CDLL("libcuda.so.1")
    version, count = ctypes.c_int(), ctypes.c_int()
    name, text = ctypes.c_char_p(), ctypes.c_char_p()
    before = cuda.cuDeviceGetCount(ctypes.byref(count))
    code = cuda.cuInit(0)
    cuda.cuGetErrorName(code, ctypes.byref(name))
    cuda.cuGetErrorString(code, ctypes.byref(text))
    cuda.cuDriverGetVersion(ctypes.byref(version))
    cuda.cuDeviceGetCount(ctypes.byref(count))
    document = {
        "count_before_init": before,
        "init": code,
        "name": (name.value or b"").decode(),
        "text": (text.value or b"").decode(),
        "version": version.value,
        "devices": [read_device(cuda, ordinal) for ordinal in range(count.value)],
    }
    json.dump(document, sys.stdout)


if __name__ == "__main__":
    main()
