"""Reads CUDA_VISIBLE_DEVICES as the driver does; a friendlier reading would call a hidden GPU visible.

Source: CUDA Programming Guide, "CUDA Environment Variables": a wrong entry ends the list, a UUID may be shortened.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpudoctor.sdk import Cuda, Gpus, Kernel, Nvml, either

NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE, cuda.h


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """How many GPUs the list leaves, and the entry at which it ends ('' = it was read to its end)."""

    count: int
    stopped_at: str = ""

    def in_words(self, *, given: bool) -> str:
        """Return what such a list does, as the rest of a sentence; `given`: there is a GPU that it could show."""
        if not given:
            return "would hide the GPU, once there is one to see."
        return f"gives {self.count} GPU(s): it ends at {self.stopped_at}." if self.count else "hides every GPU."


def read_list(value: str, uuids: tuple[str | None, ...]) -> Visible:
    """Read the list as the driver does: the first wrong entry ends it.

    A number may be followed by other characters; a UUID may be shortened; a GPU named twice leaves none. An entry that
    cannot be verified (a UUID where the machine's are unknown, a MIG instance) is taken to be right.
    """
    seen: list[str] = []
    for entry in (each.strip() for each in value.split(",")):
        digits = entry[: len(entry) - len(entry.lstrip("0123456789"))]
        matches = [index for index, uuid in enumerate(uuids) if uuid is not None and uuid.startswith(entry)]
        if digits and int(digits) < len(uuids):
            name = digits.lstrip("0") or "0"
        elif entry.startswith("GPU-") and len(matches) == 1:
            name = str(matches[0])
        elif entry.startswith("MIG-") or (entry.startswith("GPU-") and None in uuids):
            name = entry
        else:
            return Visible(count=len(seen), stopped_at=entry or "an empty entry")
        if name in seen:
            return Visible(count=0, stopped_at=f"{entry}, named twice")
        seen.append(name)
    return Visible(count=len(seen))


def uuids_of(gpus: Gpus | None, nvml: Nvml | None, kernel: Kernel | None) -> tuple[str | None, ...] | None:
    """Return one entry a GPU (None where its UUID is unknown); None where the number of GPUs is unknown."""
    if gpus is not None and len(gpus):
        return tuple(either(gpu.uuid, None) for gpu in gpus)
    on_bus = either(kernel.pci_gpus, None) if kernel is not None else None
    count = either(nvml.device_count, None) if nvml is not None else None
    if on_bus is not None:
        count = max(len(on_bus), count or 0)
    return None if count is None else (None,) * count


def left_visible(value: str, uuids: tuple[str | None, ...], cuda: Cuda | None) -> Visible:
    """Return what the list leaves; names that look right are wrong where CUDA finds a GPU only without the variable."""
    left = read_list(value, uuids)
    if left.stopped_at or not uuids or cuda is None or either(cuda.cu_init, -1) != NO_DEVICE:
        return left
    unmasked = either(cuda.devices_unmasked, None)
    unverified = unmasked is None and "GPU-" in value and None in uuids
    return Visible(count=0, stopped_at=value.partition(",")[0]) if unmasked or unverified else left
