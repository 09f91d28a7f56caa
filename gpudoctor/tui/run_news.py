"""What the reader of a session tells the screen about a run: complete each time, so that any one of them draws the view.

Handing over the session itself would spare this file; it grows for hours, and the screen would analyse where it must answer keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gpudoctor.model.report import Report
    from gpudoctor.model.session import GpuSample, HostSample


class Column(NamedTuple):
    """A piece of the time line: steps each second, and the parts of a mean step in seconds, which add up to it.

    `device`: the GPU was at work; where no GPU is seen, all of TensorFlow's time is `other`.
    """

    steps_per_s: float
    input: float
    device: float
    host: float
    other: float

    @property
    def step_s(self) -> float:
        """Return the length of a step."""
        return self.input + self.device + self.host + self.other


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNews:
    """A run at one moment. `columns`: oldest first, None where no step was made. `place_s`: seconds since it began.

    `silent_s`: since when the recording process wrote nothing. `machine`: what a scan would say of the machine at that
    moment, where a recording knows it. `pages`: of all checks, in the first message only.
    """

    place_s: float = 0.0
    length_s: float = 0.0
    at_s: float = 0.0
    silent_s: float = 0.0
    epoch: int = 0
    steps: int = 0
    columns: tuple[Column | None, ...] = ()
    span_s: int = 0
    report: Report | None = None
    machine: Report | None = None
    pages: Mapping[str, str] = field(default_factory=dict[str, str])
    failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The machine beside a run that is over, second by second, for the machine view to play."""

    begun_s: float = 0.0
    length_s: float = 0.0
    nvml_status: str = "unknown"
    gpus: tuple[GpuSample, ...] = ()
    hosts: tuple[HostSample, ...] = ()
