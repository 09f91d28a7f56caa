"""The loss that Keras tells after each batch: kept as it is, looked at once a second, and the first NaN found by halving.

Reading each loss would make every step wait for the device. What is kept is Keras's running mean, in which a NaN stays until
the epoch ends, so the last one of an epoch tells whether there was any. Each that is kept holds a piece of the device's memory,
so of many in a second every second one goes, again and again: then the step is known within a bound.
"""

from __future__ import annotations

import _thread
import functools
import time
from collections.abc import Callable
from typing import Any, Tuple

from . import core, hidden, places

HEARD = "on_train_batch_end"
# Between two looks. The smallest piece of TensorFlow's GPU allocator is 256 bytes (BFCAllocator::kMinAllocationSize): 32 KiB of the
# device for each watch. In a second of steps of 8 ms or longer none goes.
MOST_KEPT = 128
MOST_WATCHED = 4  # a pair of networks trained in turn, and the fit before
Kept = Tuple[int, int, Any]  # epoch, batch, loss


class Watch:
    """The loss of one fit, or of the calls of train_on_batch from one line."""

    made = 0

    def __init__(self, label: str, file: str, line: int) -> None:
        Watch.made += 1
        self.number = Watch.made
        core.emit("losses", loss=self.number, label=label, file=file, line=line)
        self.lock = _thread.allocate_lock()
        self.kept: list[Kept] = []
        self.before = self.batch = self.epoch = self.count = self.looked_at = 0
        self.stride = 1
        self.bad = self.seen = self.loose = False

    def keep(self, batch: int, loss: Any) -> None:
        """Note the loss of a batch (0-based in its epoch)."""
        self.batch = batch
        with self.lock:
            if self.loose:  # the last one stays only until the next
                self.kept.pop()
            self.loose = self.count % self.stride != 0
            self.count += 1
            self.kept.append((self.before, batch, loss))
            if len(self.kept) > MOST_KEPT:
                self._thin()

    def _thin(self) -> None:
        """Let every second one go, never the last of an epoch; where there are too many of these, the oldest but the first."""
        kept = self.kept
        self.stride *= 2
        left = [
            each for at, each in enumerate(kept) if at % 2 == 0 or at + 1 == len(kept) or kept[at + 1][0] != each[0]
        ]
        self.kept = left[:1] + left[1:][-3 * MOST_KEPT // 4 :]

    def next_epoch(self, epoch: int) -> None:
        """Count on: batches begin at 0 again."""
        if self.seen or self.kept:
            self.before += self.batch + 1
        self.batch, self.epoch, self.loose = -1, epoch, False

    def look(self) -> None:
        """Read the last loss of each epoch that is kept; of a bad one find where it began."""
        with self.lock:
            told, self.kept, stride = self.kept, [], self.stride
            self.stride, self.count, self.loose = 1, 0, False
        if not told or self.bad:
            return
        for before in sorted({each[0] for each in told}):
            epoch = [each for each in told if each[0] == before]
            value = number_of(epoch[-1][2])
            if value is None:
                return
            self._tell(epoch, value)
            if is_bad(value):
                self.bad = True
                self._tell_bad(first_bad(epoch), told if stride > 1 else [])
                return
        self.looked_at = step_of(told[-1])

    def _tell_bad(self, first: Kept, thinned: list[Kept]) -> None:
        step = step_of(first)
        before = max([self.looked_at, *(step_of(each) for each in thinned if step_of(each) < step)])
        core.emit(
            "losses",
            loss=self.number,
            bad_step=step,
            bad_within=step - before if thinned else 1,
            bad_value=str(number_of(first[2])),
        )

    def _tell(self, epoch: list[Kept], value: float) -> None:
        last = epoch[-1]
        first = {} if self.seen else {"first_value": str(number_of(epoch[0][2]))}
        self.seen = True
        core.emit("losses", loss=self.number, at=time.time(), step=step_of(last), last_value=str(value), **first)


def step_of(kept: Kept) -> int:
    """Return its step, 1-based over all epochs."""
    return kept[0] + kept[1] + 1


watches: list[Watch] = []
by_line: dict[Any, Watch] = {}


def _look() -> None:
    for each in watches[-MOST_WATCHED:]:
        each.look()
    del watches[:-MOST_WATCHED]


core.every_beat.append(_look)
core.after_fork.append(watches.clear)
core.after_fork.append(by_line.clear)


def number_of(loss: Any) -> float | None:
    """Return a loss as a number; a tensor of the device is waited for, in this thread."""
    try:
        return float(loss.numpy() if hasattr(loss, "numpy") else loss)
    except (TypeError, ValueError, AttributeError):
        return None


def is_bad(value: float) -> bool:
    """Return whether it is NaN or infinite."""
    return value - value != 0.0


def first_bad(kept: list[Kept]) -> Kept:
    """Return the first bad loss, where all behind it are bad."""
    low, high = 0, len(kept) - 1
    while low < high:
        middle = (low + high) // 2
        value = number_of(kept[middle][2])
        if value is not None and is_bad(value):
            high = middle
        else:
            low = middle + 1
    return kept[high]


def began(file: str, line: int) -> None:
    """Note that a fit begins."""
    watches.append(Watch("fit", file, line))


def epoch_began(epoch: int) -> None:
    """Note that an epoch of it begins."""
    if watches:
        watches[-1].next_epoch(epoch)


def hook(kind: type) -> None:
    """Listen where Keras's callbacks are told of each batch."""
    original = kind.__dict__.get(HEARD)
    if callable(original):
        setattr(kind, HEARD, _listening(original))


def _listening(original: Callable[..., Any]) -> Any:
    @functools.wraps(original)
    def told(self: Any, batch: Any, logs: Any = None) -> Any:
        try:
            if not core.process.off and watches and not watches[-1].bad:
                loss = logs.get("loss")
                if loss is not None:
                    watches[-1].keep(batch, loss)
        except Exception as error:
            core.note_fault("losses", error)
        with hidden.unseen:
            return original(self, batch, logs)

    return hidden.hide(told, original)


def returned(result: Any, frame: Any) -> None:
    """Take what a call of train_on_batch returned: Keras has made numbers of it already."""
    many: Any = result
    loss: Any = many.get("loss") if isinstance(result, dict) else many[0] if isinstance(result, (list, tuple)) else many
    if loss is None or hasattr(loss, "device"):  # a tensor, perhaps still on its way
        return
    key = (frame.f_code, frame.f_lineno)
    watch = by_line.get(key)
    if watch is None:
        file, line, _, _ = places.above(frame)
        watch = by_line[key] = Watch("train_on_batch", file, line)
        watches.append(watch)
    if not watch.bad:
        watch.keep(watch.batch + bool(watch.seen or watch.kept), loss)
