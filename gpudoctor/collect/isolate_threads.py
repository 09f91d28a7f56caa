"""The threaded carrier of `isolate`, where there is no fork or other threads run: it outlasts a hang, not a crash.

The threads are daemons, so a stuck one does not keep the process from ending; an executor would join it at exit.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable

from gpudoctor.collect.isolate import Answers, Message, Source

Serve = Callable[[Source, Answers], Iterable[Message]]


class Threads:
    """Carrier of daemon threads; one object serves one `gather`."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._queue: queue.SimpleQueue[tuple[str, Message]] = queue.SimpleQueue()

    def start(self, source: Source, answers: Answers) -> None:
        """Begin to ask the source in a thread of its own."""
        threading.Thread(target=self._ask, args=(source, answers), name=f"gpudoctor-{source.name}", daemon=True).start()

    def _ask(self, source: Source, answers: Answers) -> None:
        try:
            for message in self._serve(source, answers):
                self._queue.put((message.name or source.name, message))
        except BaseException as error:  # noqa: BLE001  # a thread has nobody else to tell
            self._queue.put((source.name, Message("ended", f"crashed: {type(error).__name__}")))

    def receive(self, timeout_s: float) -> Iterable[tuple[str, Message]]:
        """Return what has come, waiting at most so long for the first."""
        try:
            found = [self._queue.get(timeout=timeout_s)]
        except queue.Empty:
            return []
        while not self._queue.empty():
            found.append(self._queue.get())
        return found

    def abandon(self, name: str) -> None:
        """Leave the thread to itself: nothing can end it."""

    def finish(self) -> None:
        """Leave all threads to themselves."""
