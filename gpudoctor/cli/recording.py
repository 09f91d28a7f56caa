"""One recording from start to end: the samplers, the command, a tick each second, and the closing of the session.

A fault of ours ends the recording, never the command: one boundary (`_ours`) stands around all that is ours while the command
runs and behind it. Naming the errors that are expected would be stricter, and has cost trainings.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gpudoctor.collect import nvml
from gpudoctor.collect.isolate import failure
from gpudoctor.collect.processes import descendants, parents_of_all
from gpudoctor.collect.run_load import RunMeter
from gpudoctor.errors import OutputError
from gpudoctor.logs.reader import EventReader
from gpudoctor.profile.command import environment, script_of
from gpudoctor.profile.live import LiveLine
from gpudoctor.profile.machine import GpuSampler
from gpudoctor.profile.placing import move
from gpudoctor.profile.record import SessionWriter
from gpudoctor.profile.text_tap import MakeReader
from gpudoctor.profile.unrecorded import Unrecorded

if TYPE_CHECKING:
    from gpudoctor.profile import launch, terminal


class Recording:
    """Runs a command and writes its session."""

    def __init__(
        self,
        writer: SessionWriter,
        command: Sequence[str],
        *,
        quiet: bool,
        wanted: Path,
        reader: MakeReader = EventReader,
    ) -> None:
        """Take the open session, where it is wanted in the end, and what reads the command's output."""
        self.path, self._wanted = writer.path, wanted
        self._writer, self._command, self._quiet = writer, command, quiet
        self._root = Path(os.environ.get("GPUDOCTOR_SYSROOT") or "/")
        self._host = RunMeter()
        self._broken, self._whole, self._noted = "", False, False
        self._said: list[tuple[str, Mapping[str, object]]] = []
        self._reader = reader
        self._recorded: set[str] = set()
        self._unrecorded = Unrecorded()

    def run(self, report: Callable[[Path], None]) -> int:
        """Run it, close the session, report, and return the command's exit code."""
        from gpudoctor.profile import launch  # noqa: PLC0415  # the launcher exists on POSIX alone
        from gpudoctor.profile.printed import Printed  # noqa: PLC0415

        sampler = self._sampler()
        window = _terminal()  # both before any thread starts
        self._printed = printed = Printed(window, self._writer.spool.folder, self._hold, self._reader)
        live = LiveLine(None if self._quiet else window)
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
            if sampler is not None:
                sampler.stop()
        self._ours(lambda: printed.finish(patient=not self._quiet))
        if window is not None and window.unaided:
            _say(f"no thread could be had for the terminal ({window.unaided}): output and keys may have passed late")
        self._close(ended)
        with suppress(KeyboardInterrupt):
            _reported(report, self.path)
        return ended.exit_code

    def _sampler(self) -> GpuSampler | None:
        try:
            return GpuSampler(lambda: nvml.open_session(self._root), self._writer.spool.folder, _why_not, _family)
        except OSError as error:  # no process to be had: without samples, all the same
            text = f"not sampled: no process could be started ({error.strerror or error})"
            self._hold("events", {"at": time.time(), "kind": "nvml_status", "text": text})
            return None

    def _tick(self, pid: int, live: LiveLine) -> None:
        """Take in a second."""
        if not self._broken:
            self._ours(lambda: self._second(pid, live))
            self._ours(live.show)

    def _second(self, pid: int, live: LiveLine) -> None:
        tree = descendants(pid, parents_of_all())
        self._writer.add("host_samples", **self._host.read(tree))
        self._printed.tick()
        self._keep()
        for table, values in self._writer.tick():
            live.hear(table, values)
            self._hear(table, values)
        for words in self._unrecorded.new(tree, self._recorded):
            self._writer.add("events", at=time.time(), kind="not_recorded", text=words)

    def _ours(self, work: Callable[[], object]) -> None:
        """Do it; what goes wrong ends the recording, and Ctrl-C the waiting for it."""
        try:
            work()
        except Exception as error:  # noqa: BLE001  # the boundary: the command goes on, its exit code stands
            self._broken = self._broken or str(error) or type(error).__name__
        except KeyboardInterrupt:
            return

    def _hold(self, table: str, row: Mapping[str, object]) -> None:
        self._said.append((table, row))

    def _keep(self) -> None:
        while self._said:
            table, row = self._said.pop(0)
            self._writer.add(table, **row)
            self._hear(table, row)

    def _hear(self, table: str, values: Mapping[str, object]) -> None:
        if table == "events" and values.get("kind") == "nvml_status":
            self._writer.note(nvml_status=str(values.get("text")).partition(":")[0])
        elif table == "processes":
            self._recorded.add(str(values["process"]))

    def _close(self, ended: launch.Ended) -> None:
        """Close the session; each step by itself, or one that fails would leave a session that never ended."""
        for step in (self._keep, self._take_last, partial(self._note_end, ended), partial(self._save, ended)):
            self._ours(step)
        self._ours(self._put_away)
        if self._broken:
            saved = (
                "" if self.path == self._writer.path or self._whole else f"; what there is of it lies at {self.path}"
            )
            _say(f"the session {self._wanted} is incomplete: {self._broken}{saved}")

    def _take_last(self) -> None:
        for table, values in self._writer.tick():
            self._hear(table, values)
        self._whole = True

    def _note_end(self, ended: launch.Ended) -> None:
        _note(self._writer, ended)
        self._noted = True

    def _save(self, ended: launch.Ended) -> None:
        """Where its place is gone or takes nothing more, go on in a copy elsewhere: its report would say that it still runs."""
        if self._noted and self._writer.path.is_file():
            return
        self._broken = self._broken or "its folder is gone"
        self._whole = False
        copy = self._writer.copied(Path(tempfile.mkdtemp(prefix="gpudoctor-session-")) / self._writer.path.name)
        self.path = copy.path
        try:
            _note(copy, ended)
        finally:
            copy.close()

    def _put_away(self) -> None:
        self._writer.close(whole=self._whole)  # what could not be taken in stays in the spool, for the next reader
        if self._whole:
            self.path = move(self._writer.path, self._wanted)


def _note(writer: SessionWriter, ended: launch.Ended) -> None:
    writer.note(exit_code=ended.exit_code, ended_at=time.time(), outcome="ended")
    if ended.signal is not None:
        writer.add("events", at=time.time(), kind="signal", text=str(ended.signal))


def _terminal() -> terminal.Terminal | None:
    """Return the command's terminal, with --quiet too: what is printed on one can be read nowhere else."""
    import termios  # noqa: PLC0415  # the launcher exists on POSIX alone

    from gpudoctor.profile import terminal  # noqa: PLC0415

    with suppress(OSError, termios.error):
        return terminal.Terminal() if terminal.wanted() else None
    return None


def _family(pid: int) -> Collection[int]:
    return descendants(pid, parents_of_all())


def _why_not(error: Exception) -> str:
    return f"{error.status}: {error.message}" if isinstance(error, nvml.Unusable) else failure(error)


def _reported(report: Callable[[Path], None], path: Path) -> None:
    """Report; a fault of ours there must not change the command's exit code."""
    try:
        report(path)
    except OutputError as error:
        _say(f"the report was not written: {error}")
    except Exception as error:  # the boundary: the command has ended, its exit code stands
        if os.environ.get("GPUDOCTOR_DEBUG"):
            raise
        _say(f"no report ({type(error).__name__}: {error}); the session is {path}")


def _say(text: str) -> None:
    with suppress(OSError):
        sys.stderr.write(f"gpudoctor: {text}\n")
        sys.stderr.flush()
