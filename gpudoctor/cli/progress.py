"""A progress bar with the time left, on stderr and only on a terminal; elsewhere nothing is printed."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich import progress


@contextmanager
def bar_on(stream: TextIO) -> Generator[Bar | None, None, None]:
    """Yield a bar, gone when the block ends; None where there is no terminal to show it on."""
    bar = Bar(stream) if stream.isatty() else None
    try:
        yield bar
    finally:
        if bar is not None:
            bar.close()


class Bar:
    """rich's progress bar, made with the first trial: a quick scan must not load rich."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar: progress.Progress | None = None

    def trial(self, name: str, done: int, total: int, left_s: float) -> None:
        """Move the bar."""
        left = f"about {left_s:.0f} s left"
        if self._bar is None:
            self._bar = self._started()
            self._bar.add_task(name, total=total, completed=done, left=left)
        else:
            self._bar.update(self._bar.task_ids[0], description=name, total=total, completed=done, left=left)

    def _started(self) -> progress.Progress:
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn  # noqa: PLC0415

        columns = (
            SpinnerColumn("line"),
            TextColumn("probe {task.description:<14}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed}/{task.total}"),
            TextColumn("{task.fields[left]}"),
        )
        bar = Progress(*columns, console=Console(file=self._stream), transient=True)
        bar.start()
        return bar

    def close(self) -> None:
        """Take the bar off the screen."""
        if self._bar is not None:
            self._bar.stop()
