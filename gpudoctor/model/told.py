"""What the recorded command told of itself: its losses and its messages. Two tables of the session file, as in `model.session`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.record import dataclass

FINITE = Missing("none: all that were looked at are finite")


@dataclass(frozen=True, slots=True, kw_only=True)
class LossRecord:
    """The loss of one `fit`, or of the `train_on_batch` calls of one line, as Keras told it; values are text ("nan", "inf").

    `step`: the last one that was looked at, 1-based over all epochs of this fit. `bad_step`: the first at which it was NaN or
    infinite; with `steps_per_execution` > 1 the last step of that execution. `bad_within`: that many steps up to `bad_step` one
    of which was the first; 1 where it is exact.
    """

    process: str
    loss: int
    label: str = "fit"
    file: str = ""
    line: int = 0
    at: float = 0.0
    step: int = 0
    first_value: str = ""
    last_value: str = ""
    bad_step: Maybe[int] = FINITE
    bad_within: int = 1
    bad_value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRecord:
    """A message that was read from what the command printed (an event of `gpudoctor.logs`), equal ones counted.

    `process`: who read it (stderr, stdout, terminal, or the relay's own name). Number 0 of each, of kind text_end, tells how
    many lines there were, in `left_out_bytes` what came faster than it could be read, in `last_error` the
    exception of the last traceback. `at`: when it was first read.
    """

    process: str
    number: int
    at: float = 0.0
    kind: str = ""
    text: str = ""
    details: Mapping[str, str] = field(default_factory=dict[str, str])
    line: int = 0
    count: int = 1
