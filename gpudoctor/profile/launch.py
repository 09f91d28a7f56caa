"""Run the command so that it does not notice: its files, signals, terminal and exit code are the ones it would have had.

Needs POSIX. Reading the output through pipes would be simpler and turn every terminal into a pipe, with other buffering,
colours and progress bars: a stream is inherited or replaced by one of its own kind, a terminal by a terminal, a pipe by a pipe.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from time import monotonic
from typing import NoReturn

from gpudoctor.profile.terminal import Streams, Terminal

FORWARDED = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGCONT,
)
TICK_S = 1.0  # policy: a kill loses at most two of these
UNAIDED_S = 0.05  # policy: where no thread serves the terminal, a signal and the command's end wait this long at most
SIGNALLED = 128  # a shell's convention for the exit code of a command that a signal ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How the command ended. `exit_code`: 128+signal when a signal ended it."""

    exit_code: int
    signal: int | None
    duration_s: float


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    on_tick: Callable[[int], None],
    terminal: Terminal | None,
    streams: Streams | None = None,
    on_start: Callable[[], None] = lambda: None,
) -> Ended:
    """Run the command to its end; call `on_tick` with its pid once a second. Raises OSError where it cannot be started.

    `streams`: what it gets instead of ours. `on_start` is called when it has them, whether it could be started or not.
    """
    begun = monotonic()
    watched: set[signal.Signals] = {*FORWARDED, signal.SIGCHLD, signal.SIGWINCH}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    try:
        given = streams or (terminal.streams() if terminal is not None else Streams())
        try:
            child = _started(command, environment, terminal, given, before)
        finally:
            on_start()
        with child:
            _attend(child, watched, on_tick, terminal)
            code = child.returncode
    finally:
        if terminal is not None:
            terminal.close()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    ended_by = -code if code < 0 else None
    return Ended(
        exit_code=code if ended_by is None else SIGNALLED + ended_by, signal=ended_by, duration_s=monotonic() - begun
    )


def _started(
    command: Sequence[str],
    environment: Mapping[str, str],
    terminal: Terminal | None,
    streams: Streams,
    mask: AbstractSet[int],
) -> subprocess.Popen[bytes]:
    def prepare() -> None:
        if terminal is not None:
            terminal.become_controlling()
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    child = subprocess.Popen(
        command,
        env=dict(environment),
        close_fds=False,  # descriptors that the caller opened for the command are the command's
        preexec_fn=prepare,  # noqa: PLW1509  # no thread runs yet
        stdin=streams.stdin,
        stdout=streams.stdout,
        stderr=streams.stderr,
    )
    if terminal is not None:
        terminal.begin()
    return child


def _attend(
    child: subprocess.Popen[bytes],
    watched: set[signal.Signals],
    on_tick: Callable[[int], None],
    terminal: Terminal | None,
) -> None:
    """Pass signals on and tick, until it has ended."""
    due = monotonic() + TICK_S
    while child.poll() is None:
        info = _next_signal(watched, max(0.0, due - monotonic()), terminal)
        if info is not None and info.si_signo == signal.SIGWINCH:
            if terminal is not None:
                terminal.resize()
        elif info is not None and info.si_signo != signal.SIGCHLD:
            _forward(child, info, own_group=terminal is None)
        if monotonic() >= due:
            on_tick(child.pid)
            due = max(due + TICK_S, monotonic())


def _next_signal(
    watched: set[signal.Signals], within_s: float, terminal: Terminal | None
) -> signal.struct_siginfo | None:
    """Wait for a signal; where no thread serves the terminal, pass on what is printed and typed meanwhile."""
    if terminal is None or not terminal.unaided:
        return signal.sigtimedwait(watched, within_s)
    terminal.pass_on(min(within_s, UNAIDED_S))
    return signal.sigtimedwait(watched, 0)


def _forward(child: subprocess.Popen[bytes], info: signal.struct_siginfo, *, own_group: bool) -> None:
    """Pass a signal on, unless the terminal has sent it to the whole group, the command included."""
    if own_group and info.si_code > 0 and info.si_signo != signal.SIGALRM:  # from the kernel: a key on the terminal
        return
    child.send_signal(info.si_signo)


def replace_process(command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Become the command: switched off, there is nothing to do beside it."""
    os.execvpe(command[0], list(command), dict(environment))  # noqa: S606
