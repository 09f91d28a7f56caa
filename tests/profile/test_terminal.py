"""On a terminal the command has a terminal: size, keys as signals, and every byte that it prints."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path

from gpudoctor.profile.record import read_session
from tests.profile.launched import gpudoctor, script, surroundings

PYTHON = sys.executable
ROWS, COLUMNS = 33, 101
DEADLINE_S = 30


class Screen:
    """A terminal with a command in it."""

    def __init__(self, folder: Path, *words: str, stdout: int | None = None) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.slave = slave

        def own() -> None:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.child = subprocess.Popen(
            words,
            cwd=folder,
            env=surroundings(folder, TERM="xterm"),
            stdin=slave,
            stdout=slave if stdout is None else stdout,
            stderr=slave,
            preexec_fn=own,  # noqa: PLW1509
        )
        self.seen = b""

    def until(self, text: bytes) -> bytes:
        """Read until the text has come."""
        limit = time.monotonic() + DEADLINE_S
        while text not in self.seen:
            assert time.monotonic() < limit, self.seen
            self._read()
        return self.seen

    def end(self) -> int:
        """Wait for the end, reading."""
        limit = time.monotonic() + DEADLINE_S
        while self.child.poll() is None:
            assert time.monotonic() < limit, self.seen
            self._read()
        self._read()
        return self.child.returncode

    def _read(self) -> None:
        if select.select([self.master], [], [], 0.1)[0]:
            with suppress(OSError):
                self.seen += os.read(self.master, 65536)

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self.master, keys)

    def close(self) -> None:
        """Let go of it."""
        os.close(self.master)
        os.close(self.slave)


ASKS = """
import os, sys
print([os.isatty(each) for each in range(3)], os.get_terminal_size(0), os.ttyname(0) == os.ttyname(2))
print("name?", end=" ", flush=True)
print("hello", input())
sys.stderr.write("\\x1b[31mred\\x1b[0m\\ttab\\r50%\\r100%\\n")
"""


def test_the_command_has_a_terminal_of_the_same_size_and_can_ask(tmp_path: Path) -> None:
    name = script(tmp_path, ASKS)
    screen = Screen(tmp_path, *gpudoctor("run", "--session", "s", "--", PYTHON, name))
    screen.until(b"name?")
    screen.type(b"Ada\r")
    assert screen.end() == 0
    assert f"[True, True, True] os.terminal_size(columns={COLUMNS}, lines={ROWS}) True\r\n".encode() in screen.seen
    assert b"hello Ada\r\n\x1b[31mred\x1b[0m\ttab\r50%\r100%\r\n" in screen.seen
    assert termios.tcgetattr(screen.slave) == screen.before
    screen.close()


def test_the_screen_shows_byte_for_byte_what_it_shows_without_us(tmp_path: Path) -> None:
    name = script(tmp_path, ASKS)
    shown: list[bytes] = []
    for words in ((PYTHON, name), gpudoctor("run", "--session", "s", "--", PYTHON, name)):
        screen = Screen(tmp_path, *words)
        screen.until(b"name?")
        screen.type(b"Ada\r")
        assert screen.end() == 0
        shown.append(screen.seen)
        screen.close()
    assert shown[0] in shown[1]


def test_ctrl_c_reaches_the_command_once_as_a_signal(tmp_path: Path) -> None:
    text = """
import os, signal, time
count = []
signal.signal(signal.SIGINT, lambda *_: count.append(1))
os.write(1, b"ready\\n")
limit = time.monotonic() + 20
while not count and time.monotonic() < limit:
    time.sleep(0.01)
time.sleep(0.3)
print("interrupts", len(count))
"""
    name = script(tmp_path, text)
    for options in ((), ("--quiet",)):
        screen = Screen(tmp_path, *gpudoctor("run", *options, "--session", f"s{len(options)}", "--", PYTHON, name))
        screen.until(b"ready")
        screen.type(b"\x03")
        assert screen.end() == 0
        assert b"interrupts 1" in screen.seen
        screen.close()


def test_a_new_size_reaches_the_command(tmp_path: Path) -> None:
    text = """
import os, signal
signal.signal(signal.SIGWINCH, lambda *_: None)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])
print("ready", flush=True)
signal.sigwait([signal.SIGWINCH])
print("size", os.get_terminal_size(1).columns, flush=True)
"""
    name = script(tmp_path, text)
    screen = Screen(tmp_path, *gpudoctor("run", "--session", "s", "--", PYTHON, name))
    screen.until(b"ready")
    fcntl.ioctl(screen.slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, 55, 0, 0))
    screen.until(b"size 55")
    assert screen.end() == 0
    screen.close()


def test_what_is_printed_on_a_terminal_is_read_with_quiet_too(tmp_path: Path) -> None:
    text = "failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: UNKNOWN ERROR (303)"
    name = script(tmp_path, f"import sys\nsys.stderr.write('{text}\\n')\n")
    screen = Screen(tmp_path, *gpudoctor("run", "--quiet", "--session", "s", "--", PYTHON, name))
    assert screen.end() == 0
    assert screen.seen == text.encode() + b"\r\n"
    assert [each.kind for each in read_session(tmp_path / "s").messages if each.number] == ["cuinit_failed"]
    screen.close()


def test_a_stream_that_goes_elsewhere_is_left_alone(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        command = gpudoctor(
            "run", "--session", "s", "--", PYTHON, "-c", "import os; print([os.isatty(n) for n in range(3)])"
        )
        screen = Screen(tmp_path, *command, stdout=out.fileno())
        assert screen.end() == 0
    assert (tmp_path / "out").read_bytes() == b"[True, False, True]\n"
    screen.close()


def test_the_end_of_typing_reaches_the_command(tmp_path: Path) -> None:
    name = script(tmp_path, "import sys\nprint('ready', flush=True)\nprint(len(sys.stdin.read()))\n")
    screen = Screen(tmp_path, *gpudoctor("run", "--session", "s", "--", PYTHON, name))
    screen.until(b"ready")
    screen.type(b"four\r\x04")
    assert screen.end() == 0
    assert b"5\r\n" in screen.seen
    screen.close()
