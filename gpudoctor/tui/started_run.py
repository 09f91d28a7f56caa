"""A training that was started from the dashboard: `gpudoctor run` on a terminal of its own, its output in a file beside the session."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from gpudoctor.tui.sampling.child import BOOT

KEPT = "gpudoctor.tui.sampling.kept_command"


class StartedRun:
    """The process that stays with a command, and where its session and its output are."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        """Start it. Raises OSError where the folder cannot be written to."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = secrets.token_hex(4)
        self.command = tuple(command)
        self.session, self.log = folder / f"{name}.session", folder / f"{name}.log"
        self.stopping = False
        path = os.pathsep.join(sys.path)
        boot = [sys.executable, "-c", BOOT, path]
        run = [*boot, "gpudoctor", "run", "--quiet", "--session", str(self.session), "--", *command]
        self._process = subprocess.Popen(
            [*boot, KEPT, str(self.log), *run],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def exit_code(self) -> int | None:
        """Return the command's exit code, None while it runs."""
        return self._process.poll()

    def stop(self) -> None:
        """Ask it to end as Ctrl-C would; that process goes on asking."""
        self.stopping = True
        with suppress(OSError):
            os.kill(self._process.pid, signal.SIGTERM)
