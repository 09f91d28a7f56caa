"""What was seen of the user's lines while they ran: sampled stacks, and tensors that were asked for their value."""

from __future__ import annotations

from gpudoctor.model.record import dataclass
from gpudoctor.model.words import ThreadRole


@dataclass(frozen=True, slots=True, kw_only=True)
class StackLine:
    """Time of one line of the user's code, from sampled stacks. Sums only grow.

    `role`: main, pipeline (generators, py_function, PyDataset workers), other. `activity`: numpy, python, tensorflow_wait
    (inside a TensorFlow call), tensorflow (framework's Python), wait, io, sync (a tensor's value is asked for), other.
    `function`: the line's; below a callback of Keras's with its method in front ("on_epoch_begin > schedule").
    `leaf`: the innermost function ("numpy.pad"). `weight_s`: seconds between samples, which stay right where the sampler was
    starved; compare with the sum of `Burst.duration_s`.
    """

    process: str
    role: ThreadRole
    file: str
    line: int
    function: str
    activity: str
    leaf: str
    weight_s: float = 0.0
    samples: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """A stretch in which stacks were sampled, with CPython's switch interval at `switch_interval_s`."""

    process: str
    at: float
    duration_s: float = 0.0
    samples: int = 0
    switch_interval_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncRecord:
    """How often a line asked an eager tensor for its value (`float(loss)`, `.numpy()`), and the seconds spent in that."""

    process: str
    file: str
    line: int
    method: str
    function: str = ""
    count: int = 0
    seconds_s: float = 0.0
