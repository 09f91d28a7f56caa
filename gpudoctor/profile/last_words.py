"""What a process wrote to stderr while TensorFlow's profiler started or stopped in it, and died: the wrapper prints it.

The agent passes such lines on itself when it can. Waiting for it would be enough, but for the one line that matters most: the
fatal check or the abort that ended the process.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from gpudoctor.profile.agent.unheard import PASSED, SUFFIX, profilers
from gpudoctor.profile.spool import lives


def last_words(spool: Path) -> bytes:
    """Return what the processes that have ended left there, without the profiler's own lines."""
    found: list[bytes] = []
    with suppress(OSError):
        for path in sorted(spool.glob("*" + SUFFIX)):
            if not lives(path.name.removesuffix(SUFFIX)):
                found += [
                    each for each in path.read_bytes().lstrip(PASSED).splitlines(keepends=True) if not profilers(each)
                ]
    return b"".join(found)
