"""The signal that ended a command, by name: 143 says it only to who knows that a shell adds 128.

A name is certain where the kernel told us; an exit code above 128 alone is what a shell, or a handler, returns after one.
"""

from __future__ import annotations

import signal

from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.session import Session

SHELLS = 128  # POSIX, Shell Command Language 2.8.2: greater than 128; all common shells add the number to it
LAST = 64  # of Linux's signals


def ended_by(session: Session) -> str:
    """Return the name of the signal that ended the command itself, '' where it ended by itself."""
    told = next((each.text for each in reversed(session.events) if each.kind == "signal"), "")
    if told.isdecimal():
        return name_of(int(told))
    code = session.exit_code
    return name_of(-code) if not isinstance(code, Missing) and -LAST <= code < 0 else ""


def as_after(code: Maybe[int]) -> str:
    """Return the name of the signal after which a shell returns this code, '' where it is no such code."""
    return name_of(code - SHELLS) if not isinstance(code, Missing) and SHELLS < code <= SHELLS + LAST else ""


def name_of(number: int) -> str:
    """Return SIGTERM for 15; a number that has no name here stays one."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
