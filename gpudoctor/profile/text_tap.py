"""What the command prints, read for messages beside its way: bytes in, rows of `messages` out, within a share of the time.

Reading all of it would be simplest; a script that prints 1 GB would then wait for us. What comes faster than it is read is
left out and counted: trouble is said at a start or an end, never a million times.
"""

from __future__ import annotations

import codecs
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping

from gpudoctor.logs.last_error import LastError
from gpudoctor.logs.reader import EventReader, Folded
from gpudoctor.model.observed import TEXT_END, LogEvent

BACKLOG_BYTES = 4 << 20  # measured: the reader takes 70-200 MB/s on one core, so this is 20-60 ms of it
PIECE_BYTES = 1 << 18  # as gpudoctor.logs.intake
LONGEST_LINE = 1 << 16  # a progress bar may go without a line end for an epoch; longer, it is cut
ENDS = ("\n", "\r")

Tell = Callable[[Mapping[str, object]], None]
MakeReader = Callable[[], EventReader]


class TextTap:
    """Hears bytes, and reads them when it is asked to. `hear` may be called from another thread than the rest."""

    def __init__(self, tell: Tell, reader: MakeReader = EventReader) -> None:
        """Take who is told each row of `messages`, and what reads the text."""
        self._tell, self._make_reader = tell, reader
        self._waiting: deque[bytes] = deque()
        self._lock = threading.Lock()
        self._size = self._left_out = self._lines = 0
        self._began_at = 0.0
        self._reader: EventReader | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""
        self._folded = Folded()
        self._error = LastError()

    @property
    def is_full(self) -> bool:
        """Return whether more would be left out."""
        return self._size >= BACKLOG_BYTES

    def hear(self, data: bytes) -> None:
        """Take bytes to be read later; too many are left out."""
        with self._lock:
            if self.is_full:
                self._left_out += len(data)
                return
            self._waiting.append(data)
            self._size += len(data)

    def leave_out(self, size: int) -> None:
        """Note that so many bytes are not read."""
        self._left_out += size

    def read(self, limit_s: float) -> None:
        """Read what waits, for this long at most."""
        until = time.monotonic() + limit_s
        while time.monotonic() < until and (piece := self._piece()):
            self._feed(self._decoder.decode(piece))

    def _piece(self) -> bytes:
        piece = bytearray()
        with self._lock:
            while self._waiting and len(piece) < PIECE_BYTES:
                piece += self._waiting.popleft()
            self._size -= len(piece)
        return bytes(piece)

    def finish(self, limit_s: float) -> None:
        """Read the rest, and tell what its end completes: counts, and how long the text was."""
        self.read(limit_s)
        self._left_out += self._size
        self._feed("\n")
        if self._reader is None:
            return
        self._note(self._reader.finish())
        for number, count in enumerate(self._folded.counts(), start=1):
            if count > 1:
                self._tell({"number": number, "count": count})
        self._end()

    def _feed(self, text: str) -> None:
        if self._reader is None:
            if not text.strip():
                return
            self._reader = self._make_reader()
            self._began_at = time.time()
            self._end()
        text = self._rest + text
        cut = max(text.rfind(end) for end in ENDS) + 1
        if not cut and len(text) > LONGEST_LINE:
            text, cut = text + "\n", len(text) + 1
        self._rest = text[cut:]
        self._lines += text.count("\n", 0, cut)
        if cut:
            self._error.feed(text[:cut])
            self._note(self._reader.feed(text[:cut]))

    def _note(self, events: Iterable[LogEvent]) -> None:
        for event in events:
            if self._folded.add(event):
                self._tell({"number": len(self._folded), "at": time.time(), **_row(event)})

    def _end(self) -> None:
        values = {"lines": str(self._lines), **({"left_out_bytes": str(self._left_out)} if self._left_out else {})}
        if self._error.text:
            values["last_error"] = self._error.text
        self._tell(
            {"number": 0, "at": self._began_at, **_row(LogEvent(kind=TEXT_END, values=values, line=self._lines))}
        )


def _row(event: LogEvent) -> dict[str, object]:
    return {
        "kind": event.kind,
        "text": event.text,
        "details": dict(event.values),
        "line": event.line,
        "count": event.count,
    }
