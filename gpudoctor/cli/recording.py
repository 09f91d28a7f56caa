"""One recording from start to end: the samplers, the command, a tick each second, and the closing of the session."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from gpudoctor.collect import nvml
from gpudoctor.collect.isolate import failure
from gpudoctor.collect.processes import parents_of_all
from gpudoctor.collect.run_load import RunMeter
from gpudoctor.profile import launch, terminal
from gpudoctor.profile.command import environment, script_of
from gpudoctor.profile.live import LiveLine
from gpudoctor.profile.machine import GpuSampler
from gpudoctor.profile.placing import move
from gpudoctor.profile.printed import Printed
from gpudoctor.profile.record import SessionWriter
from gpudoctor.profile.unrecorded import Unrecorded


class Recording:
    """Runs a command and writes its session."""

    def __init__(self, writer: SessionWriter, command: Sequence[str], *, quiet: bool, wanted: Path) -> None:
        """Take the open session, and where it is wanted in the end."""
        self.path, self._wanted = writer.path, wanted
        self._writer, self._command, self._quiet = writer, command, quiet
        self._root = Path(os.environ.get("GPUDOCTOR_SYSROOT") or "/")
        self._host = RunMeter()
        self._broken = ""
        self._said: list[Mapping[str, object]] = []
        self._recorded: set[str] = set()
        self._unrecorded = Unrecorded()

    def run(self, report: Callable[[Path], None]) -> int:
        """Run it, close the session, report, and return the command's exit code."""
        sampler = GpuSampler(lambda: nvml.open_session(self._root), self._writer.spool.folder, _why_not)
        window = self._terminal()  # both before any thread starts
        self._printed = printed = Printed(window, self._writer.spool.folder, self._hold)
        live = LiveLine(window)
        if not self._quiet:
            _say(f"watching {script_of(self._command)}; your output, losses, exit code unchanged")
        try:
            ended = launch.run(
                self._command,
                environment(os.environ, self._writer.spool.folder),
                on_tick=lambda pid: self._tick(pid, live),
                terminal=window,
                streams=printed.streams(),
                on_start=printed.started,
            )
        except OSError as error:
            _say(f"{self._command[0]}: cannot be started ({error.strerror or error})")
            ended = launch.Ended(exit_code=126, signal=None, duration_s=0.0)
        finally:
            sampler.stop()
        with suppress(KeyboardInterrupt):
            printed.finish(patient=not self._quiet)
        self._close(ended)
        with suppress(KeyboardInterrupt):
            _reported(report, self.path)
        return ended.exit_code

    def _terminal(self) -> terminal.Terminal | None:
        if self._quiet or not terminal.wanted():
            return None
        with suppress(OSError):
            return terminal.Terminal()
        return None

    def _tick(self, pid: int, live: LiveLine) -> None:
        """Take in a second; a full disk ends the recording, never the command."""
        if self._broken:
            return
        try:
            self._writer.add("host_samples", **self._host.read(pid))
            self._printed.tick()
            self._keep()
            for table, values in self._writer.tick():
                live.hear(table, values)
                self._hear(table, values)
            for words in self._unrecorded.new(pid, parents_of_all(), self._recorded):
                self._writer.add("events", at=time.time(), kind="not_recorded", text=words)
        except (sqlite3.Error, OSError) as error:
            self._broken = str(error)
        live.show()

    def _hold(self, row: Mapping[str, object]) -> None:
        self._said.append(row)

    def _keep(self) -> None:
        while self._said:
            self._writer.add("messages", **self._said.pop(0))

    def _hear(self, table: str, values: Mapping[str, object]) -> None:
        if table == "events" and values.get("kind") == "nvml_status":
            self._writer.note(nvml_status=str(values.get("text")).partition(":")[0])
        elif table == "processes":
            self._recorded.add(str(values["process"]))

    def _close(self, ended: launch.Ended) -> None:
        try:
            self._keep()
            for table, values in self._writer.tick():
                self._hear(table, values)
            self._writer.note(exit_code=ended.exit_code, ended_at=time.time(), outcome="ended")
            if ended.signal is not None:
                self._writer.add("events", at=time.time(), kind="signal", text=str(ended.signal))
            self._writer.close(whole=True)
            self.path = move(self._writer.path, self._wanted)
        except (sqlite3.Error, OSError) as error:
            self._broken = self._broken or str(error)
        if self._broken:
            _say(f"the session {self.path} is incomplete: {self._broken}")


def _why_not(error: Exception) -> str:
    return f"{error.status}: {error.message}" if isinstance(error, nvml.Unusable) else failure(error)


def _reported(report: Callable[[Path], None], path: Path) -> None:
    """Report; a fault of ours there must not change the command's exit code."""
    try:
        report(path)
    except Exception as error:  # the boundary: the command has ended, its exit code stands
        if os.environ.get("GPUDOCTOR_DEBUG"):
            raise
        _say(f"no report ({type(error).__name__}: {error}); the session is {path}")


def _say(text: str) -> None:
    with suppress(OSError):
        sys.stderr.write(f"gpudoctor: {text}\n")
        sys.stderr.flush()
