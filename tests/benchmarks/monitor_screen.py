"""A terminal program in tmux, as a person runs it: start it, press keys, read the screen, weigh its processes."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
LOOK_EVERY_S = 0.05
_TREE = Path(__file__).parents[2]
THIS_TREE = {"PYTHONPATH": f"{_TREE}{os.pathsep}{_TREE / 'checks'}"}  # what is weighed is what lies here


class Screen:
    """One program on a screen of its own; the tmux server is private and ends with it."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], *, size: tuple[int, int] = (200, 50)) -> None:
        self._server = f"gpudoctor-bench-{os.getpid()}-{time.monotonic_ns()}"
        whole = {**env, "TERM": "xterm-256color"}
        words = ["env", "-i", *(f"{name}={value}" for name, value in whole.items()), *command]
        columns, lines = map(str, size)
        self.begun = time.monotonic()
        self._tmux("-f", os.devnull, "new-session", "-d", "-x", columns, "-y", lines, "exec " + shlex.join(words))
        self._tmux("set-option", "-g", "remain-on-exit", "on")
        self.pid = int(self._tmux("display-message", "-p", "#{pane_pid}"))

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", "-L", self._server, *words], capture_output=True, text=True, check=False)
        return done.stdout.strip("\n")

    @property
    def text(self) -> str:
        """Return what stands on it."""
        return self._tmux("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        """Press keys, named as tmux names them."""
        self._tmux("send-keys", *keys)

    def wait_for(self, shown: Callable[[str], bool], patience_s: float) -> float | None:
        """Return after how many seconds the screen was so, None where it never was."""
        limit = time.monotonic() + patience_s
        while time.monotonic() < limit:
            if shown(self.text):
                return time.monotonic() - self.begun
            time.sleep(LOOK_EVERY_S)
        return None

    @property
    def alive(self) -> bool:
        """Return whether the program still runs."""
        return _fields(self.pid) is not None

    def family(self) -> list[int]:
        """Return the program and all that came from it."""
        return [self.pid, *_descendants(self.pid)]

    def cpu_s(self) -> float:
        """Return the CPU time of the family that lives, those that it has buried included."""
        return sum(map(_cpu_s, self.family()))

    def memory_bytes(self) -> tuple[int, int]:
        """Return the resident memory of the program, and the proportional one (PSS) of its family."""
        return _resident(self.pid), sum(map(_proportional, self.family()))

    def close(self) -> None:
        """End it."""
        self._tmux("kill-server")


def _fields(pid: int) -> list[str] | None:
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return None if fields[0] in "ZX" else fields
    return None


def _descendants(pid: int) -> Iterator[int]:
    parents: dict[int, list[int]] = {}
    for each in os.listdir("/proc"):  # noqa: PTH208  # names are wanted
        fields = _fields(int(each)) if each.isdecimal() else None
        if fields is not None:
            parents.setdefault(int(fields[1]), []).append(int(each))
    waiting = [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        yield from children
        waiting += children


def _cpu_s(pid: int) -> float:
    fields = _fields(pid)
    return 0.0 if fields is None else sum(int(fields[at]) for at in (11, 12, 13, 14)) / TICKS_PER_S


def _resident(pid: int) -> int:
    fields = _fields(pid)
    return 0 if fields is None else int(fields[21]) * PAGE_BYTES


def _proportional(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
