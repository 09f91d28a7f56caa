"""The agents' spool: a folder of append-only files of JSON lines, read by the wrapper from where it left off.

A pipe would need no files; it would also lose what is in it when the wrapper dies, and block or break the user's process when
nobody reads. A line that is cut off by a kill is not read until it is whole, which is never: it is the second that is lost.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from gpudoctor import codec

OWNER = "owner"
TRACE = ".xplane.pb"  # agent/window_recording.py
CHUNK = 1 << 24  # an agent's file is closed at 4 MiB (agent/core.py)


class Spool:
    """One session's spool folder. File names are `<process>.<number>.jsonl`; a process id is `<pid>-<start>`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def files(self) -> list[str]:
        """Return the names of the files, oldest number first."""
        try:
            names = os.listdir(self.folder)  # noqa: PTH208  # names only
        except OSError:
            return []
        return sorted((each for each in names if each.endswith(".jsonl")), key=_order)

    def read(self, file: str, start: int) -> tuple[list[tuple[str, Mapping[str, Any]]], int]:
        """Return the whole lines behind `start`, and where they end."""
        try:
            with (self.folder / file).open("rb") as stream:
                stream.seek(start)
                data = stream.read(CHUNK)
        except OSError:
            return [], start
        end = data.rfind(b"\n") + 1
        process = file.split(".", 1)[0]
        lines = [line for each in data[:end].splitlines() if (line := _line(each, process)) is not None]
        return lines, start + end

    def drop_finished(self, read: Mapping[str, int]) -> None:
        """Remove files that are read to their end and have a successor: nothing is appended to them any more."""
        names = set(self.files())
        for file in names:
            process, number, _ = file.split(".", 2)
            if f"{process}.{int(number) + 1}.jsonl" in names:
                with suppress(OSError):
                    path = self.folder / file
                    if path.stat().st_size == read.get(file, -1):
                        path.unlink()

    def traces(self) -> list[tuple[str, int, Path]]:
        """Return the profiler traces that agents have put here: process, window, file."""
        found: list[tuple[str, int, Path]] = []
        with suppress(OSError):
            for name in os.listdir(self.folder):  # noqa: PTH208
                process, _, number = name.removesuffix(TRACE).partition(".")
                if name.endswith(TRACE) and number.isdecimal():
                    found.append((process, int(number), self.folder / name))
        return sorted(found)

    def claim(self) -> None:
        """Note this process as the one that writes the session."""
        (self.folder / OWNER).write_text(identity(os.getpid()), encoding="ascii")

    def owner_alive(self) -> bool:
        """Return whether the process that writes the session lives."""
        try:
            told = (self.folder / OWNER).read_text(encoding="ascii")
        except OSError:
            return False
        return lives(told)

    def agents_alive(self) -> bool:
        """Return whether a process that spools here lives."""
        return any(lives(each.split(".", 1)[0]) for each in self.files())

    def remove(self) -> None:
        """Remove the folder and all in it."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _order(file: str) -> tuple[int, str]:
    number = file.split(".")[1]
    return (int(number) if number.isdecimal() else 0, file)


def _line(data: bytes, process: str) -> tuple[str, Mapping[str, Any]] | None:
    try:
        table, values = codec.loads(data)
    except (ValueError, TypeError):
        return None
    return (table, {**values, "process": process}) if isinstance(table, str) and isinstance(values, dict) else None


def identity(pid: int) -> str:
    """Return pid and start time, which name a process for good."""
    return f"{pid}-{_start_ticks(pid)}"


def lives(identity: str) -> bool:
    """Return whether the process of this name lives."""
    pid, _, start = identity.partition("-")
    return pid.isdecimal() and start != "" and _start_ticks(int(pid)) == start


def _start_ticks(pid: int) -> str:
    """Return the process's start in clock ticks since boot, "" where it is gone: with it a number is not mistaken for another."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if len(fields) < 20 or fields[0] in "ZX" else fields[19]
