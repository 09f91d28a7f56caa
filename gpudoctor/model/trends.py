"""What changed over the steps of a run: the memories that it held, and its loss."""

from __future__ import annotations

from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.record import dataclass

UNSEEN = Missing("not recorded")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySlope:
    """Growth of one memory over the steady steps (least squares). `device`: GPU:0 ... or host."""

    device: str
    last_bytes: int = 0
    peak_bytes: Maybe[int] = UNSEEN
    bytes_per_step: Maybe[float] = UNSEEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Memories by device."""

    slopes: tuple[MemorySlope, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """The loss of the main loop, or of the first `fit` in which it became NaN or infinite (`bad_step`, 1-based).

    `steps`: how many it was watched for. Values are text: "0.25", "nan", "inf". `bad_within`: the first lies among that many
    steps up to `bad_step`.
    """

    label: str = "fit"
    file: str = ""
    line: int = 0
    steps: int = 0
    first_value: str = ""
    last_value: str = ""
    bad_step: Maybe[int] = UNSEEN
    bad_within: int = 1
    bad_value: str = ""
