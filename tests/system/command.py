"""Runs the real command in a process of its own and keeps what a caller sees: exit code, both streams, and when they came.

Calling `main()` in the test's process would be faster; it could not show a hang, a crash, a leaked descriptor or a slow start.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GPUDOCTOR = (sys.executable, "-m", "gpudoctor")
LIMIT_S = 60.0
TRACEBACK = "Traceback (most recent call last)"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]")
COLUMNS, LINES = 80, 25  # of the text report without -v

Json = Any  # a JSON document as Python builtins: there is no tighter type for it


@dataclass(frozen=True, kw_only=True)
class Run:
    """One finished run. `duration_s` ends with the end of both streams, as it does for a caller that reads them."""

    code: int
    out: str
    err: str
    duration_s: float
    first_line_s: float

    @property
    def document(self) -> Json:
        """Return the one JSON document on stdout."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """Return the lines of stdout."""
        return self.out.splitlines()


def bare_environment(home: Path, **variables: str) -> dict[str, str]:
    """Return an environment that inherits nothing but PATH, so that no variable of the test machine adds a cause."""
    home.mkdir(parents=True, exist_ok=True)
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "LANG": "C.UTF-8", **variables}


def gpudoctor(
    *arguments: str | Path,
    env: Mapping[str, str],
    folder: Path | None = None,
    stdin: bytes = b"",
    limit_s: float = LIMIT_S,
) -> Run:
    """Run `gpudoctor` with these arguments, in the environment's home folder unless told otherwise."""
    return run((*GPUDOCTOR, *map(str, arguments)), env=env, folder=folder, stdin=stdin, limit_s=limit_s)


def run(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    folder: Path | None = None,
    stdin: bytes = b"",
    limit_s: float = LIMIT_S,
) -> Run:
    """Run a command, read both streams to their end, and note when stdout's first line was there."""
    begun = time.monotonic()
    with subprocess.Popen(
        command,
        env=dict(env),
        cwd=folder or env["HOME"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            _feed(process, stdin)
            out, err, first = _read(process, begun, limit_s)
            ended = time.monotonic() - begun
            code = process.wait(timeout=LIMIT_S)
        except BaseException:
            process.kill()
            raise
    return Run(
        code=code,
        out=out.decode("utf-8", errors="surrogateescape"),
        err=err.decode("utf-8", errors="surrogateescape"),
        duration_s=ended,
        first_line_s=first,
    )


def _feed(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(data)
    process.stdin.close()


def _read(process: subprocess.Popen[bytes], begun: float, limit_s: float) -> tuple[bytes, bytes, float]:
    assert process.stdout is not None
    assert process.stderr is not None
    taken: dict[object, bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    first = float("inf")
    with selectors.DefaultSelector() as selector:
        for stream in (process.stdout, process.stderr):
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            left = begun + limit_s - time.monotonic()
            ready = selector.select(timeout=max(left, 0.0))
            assert ready, f"no end within {limit_s} s; so far: {taken[process.stdout]!r} {taken[process.stderr]!r}"
            for key, _ in ready:
                chunk = os.read(key.fd, 65536)
                if not chunk:
                    selector.unregister(key.fileobj)
                taken[key.fileobj] += chunk
                if key.fileobj is process.stdout and b"\n" in chunk:
                    first = min(first, time.monotonic() - begun)
    return bytes(taken[process.stdout]), bytes(taken[process.stderr]), first


def primary(document: Json) -> Json | None:
    """Return the finding that stands for the machine's trouble: the first that nothing explains."""
    return next((each for each in document["findings"] if "caused_by" not in each), None)


def cause_of(document: Json) -> str | None:
    """Return the cause of the primary finding."""
    finding = primary(document)
    return None if finding is None else str(finding["cause"])


def assert_clean(run: Run) -> None:
    """Assert what no run may ever show."""
    assert TRACEBACK not in run.err, run.err
    assert TRACEBACK not in run.out, run.out
    assert "internal error" not in run.err, run.err
    assert run.code >= 0, f"killed by signal {-run.code}"


def assert_readable(run: Run, *, lines: int = LINES) -> None:
    """Assert the bars of the text report: its size, no escape codes where it is piped, and a last line that says what next."""
    too_wide = [line for line in run.lines if len(line) > COLUMNS and not line.startswith("     ")]
    assert not too_wide, too_wide  # a command that is to be copied stands uncut on an indented line of its own
    assert len(run.lines) <= lines, f"{len(run.lines)} lines:\n{run.out}"
    assert not CONTROL.search(run.out.replace("\n", "")), repr(run.out)
    last = run.lines[-1]
    assert last.startswith(("Next:", "More:", "Nothing to do.")), last
