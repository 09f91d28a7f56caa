"""The scan beside the screen, one at a time: started by a key, followed, cancelled, and told in one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic

from gpudoctor.probe.plan import PLANS
from gpudoctor.tui.examination import Examination
from gpudoctor.tui.listener import Listener
from gpudoctor.tui.messages import Progress
from gpudoctor.tui.views import doctor
from gpudoctor.tui.views.lines import Line, Span, fit

# What each trial of the reference network answers; a plan without words stands with its name alone.
WORDS = {
    "baseline": "does it train, and how fast",
    "cpu": "the same on the CPU: what the GPU brings",
    "gradcheck": "are the GPU's gradients right",
    "prefetch": "what prefetch brings where input is slow",
    "map": "what a parallel map brings",
    "precision": "what mixed precision brings",
    "numpy_loop": "what NumPy in the step costs",
    "jit": "what XLA brings",
    "eager": "what eager steps cost",
    "transfer": "how fast data get to the GPU",
    "fragmentation": "how much of the memory can be used",
    "batch_ladder": "which batch fits, and how fast it is",
    "replicas": "do several GPUs train together",
}
TRIALS = {plan.name: WORDS.get(plan.name, "") for plan in PLANS}
LOAD_WARNING = (
    "It trains the reference network. A GPU that others use is left alone; an idle one works for about a minute."
)


class Scans:
    """Runs the examiner; `on_news` is called with each progress."""

    def __init__(self, listener: Listener, on_news: Callable[[Progress], None]) -> None:
        self._listener, self._on_news = listener, on_news
        self.running: Examination | None = None
        self._failure = ""
        self.pages: Mapping[str, str] = {}

    @property
    def busy(self) -> bool:
        """Return whether one is running."""
        return self.running is not None and not self.running.last.ended

    def start(self, title: str, *arguments: str) -> None:
        """Start one, unless one is running."""
        if not self.busy:
            self._failure = ""
            self.running = Examination(title, *arguments)
            self._listener.listen(self.running.fd, self._take)

    def _take(self) -> None:
        running = self.running
        if running is not None:
            fd, news = running.fd, running.take()
            if news is not None:
                self.tell(fd, news)

    def tell(self, fd: int, news: Progress) -> None:
        """Take news of the scan whose pipe is `fd`."""
        if news.ended:
            self._listener.forget(fd)
        self._failure = news.failure
        self.pages = news.pages or self.pages
        self._on_news(news)

    def check(self) -> None:
        """Kill one that was cancelled and does not end."""
        running = self.running
        if running is not None and self.busy:
            fd, killed = running.fd, running.check()
            if killed is not None:
                self.tell(fd, killed)

    def cancel(self) -> None:
        """Ask the running one to end."""
        if self.running is not None and self.busy:
            self.running.cancel()

    def line(self, width: int) -> Line:
        """Return how far it is, or why the last one failed; () where neither is to be told."""
        running = self.running
        if running is not None and not running.last.ended:
            return doctor.progress_line(running.title, running.last, monotonic() - running.started, width)
        return (Span(fit(f" ! {self._failure}", width), "bad"),) if self._failure else ()

    def close(self) -> None:
        """End what runs."""
        if self.running is not None:
            self.running.close()
