"""The driver's Xid errors in the kernel log of this boot; a log that may not be read is said, never taken for a clean one.

The log's device is read without blocking: `dmesg` would do it for us, but waits for a process and hides why it failed.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from gpudoctor.model.machine import XidEvent
from gpudoctor.model.missing import Maybe, Missing

# "NVRM: Xid (PCI:0000:5a:00): 79, pid=..., GPU has fallen off the bus." (examples in NVIDIA's Xid Catalog)
XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]+)\): (\d+),?\s*(.*)")
MARK = b"NVRM: Xid"
BOOT = re.compile(r"\[\s*0\.000000\] Linux version ")
LOG_FILES = ("var/log/kern.log", "var/log/messages", "var/log/dmesg")
RECORD_BYTES = 8192  # one read of /dev/kmsg returns one record, which is shorter (CONSOLE_EXT_LOG_MAX)
# Of a log file only the end is read; a kernel's own ring buffer, its yardstick, is 128 KiB to 1 MiB in distributions
# (CONFIG_LOG_BUF_SHIFT 17-20), and the file adds a date and a host name to each line.
TAIL_BYTES = 4 << 20
SHORT_ADDRESS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}")


def read_xids(root: Path) -> tuple[Maybe[tuple[XidEvent, ...]], bool]:
    """Return the Xid errors, and whether a kernel log could be read."""
    reasons: list[str] = []
    for read, path in ((_ring_buffer, root / "dev/kmsg"), *((_log_file, root / each) for each in LOG_FILES)):
        try:
            return _events(read(path)), True
        except PermissionError:  # noqa: PERF203  # five files at the most
            reasons.append("no_permission")
        except OSError:
            continue
    return Missing(reasons[0] if reasons else "no kernel log here"), False


def _ring_buffer(path: Path) -> str:
    parts: list[bytes] = []
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        while True:
            try:
                part = os.read(fd, RECORD_BYTES)
            except BlockingIOError:  # the end of what has been logged so far
                break
            except BrokenPipeError:  # this record was overwritten; the next read goes on behind it
                continue
            if not part:
                break
            parts.append(part)
    finally:
        os.close(fd)
    return b"".join(parts).decode(errors="replace")


def _log_file(path: Path) -> str:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL_BYTES))
        data = file.read(TAIL_BYTES)
    if MARK not in data:
        return ""
    text = data.decode(errors="replace")
    boots = list(BOOT.finditer(text))
    return text[boots[-1].start() :] if boots else text


def _events(text: str) -> tuple[XidEvent, ...]:
    """Fold the lines of one error on one GPU; the last message stands, for it tells the latest state."""
    found: dict[tuple[int, str], tuple[str, int]] = {}
    for address, code, message in XID.findall(text):
        key = (int(code), _full(address.lower()))
        found[key] = (message.strip(), found.get(key, ("", 0))[1] + 1)
    return tuple(
        XidEvent(code=code, pci=pci, message=message, count=count) for (code, pci), (message, count) in found.items()
    )


def _full(address: str) -> str:
    return f"{address}.0" if SHORT_ADDRESS.fullmatch(address) else address
