"""The snapshot: everything known about one machine at one time. All conclusions are pure functions of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from gpudoctor.model.gpu import Gpu
from gpudoctor.model.machine import Cuda, Host, Kernel, Nvml, Scheduler
from gpudoctor.model.observed import Log, Probe
from gpudoctor.model.record import dataclass
from gpudoctor.model.run import Run
from gpudoctor.model.software import Library, Python, TensorFlow
from gpudoctor.model.words import Level

SCHEMA_VERSION = 1
QUICK_HAS_NO_PROBE = "not run (level quick)"  # `missing["probe"]`: the level did not promise a probe


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Groups of facts. A group that is None is unknown; `missing` gives its reason by name ("gpus": "timeout").

    `timings_s`: how long each source took to collect.
    """

    schema_version: int = SCHEMA_VERSION
    tool_version: str = ""
    taken_at: str = ""
    host: Host | None = None
    nvml: Nvml | None = None
    cuda: Cuda | None = None
    scheduler: Scheduler | None = None
    kernel: Kernel | None = None
    gpus: tuple[Gpu, ...] | None = None
    python: Python | None = None
    packages: Mapping[str, str] | None = None
    tensorflow: TensorFlow | None = None
    libraries: tuple[Library, ...] | None = None
    env: Mapping[str, str] | None = None
    log: Log | None = None
    probe: Probe | None = None
    run: Run | None = None
    missing: Mapping[str, str] = field(default_factory=dict[str, str])
    timings_s: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def level(self) -> Level:
        """Return how far was examined: without a probe quick, unless one was due and it says why none ran."""
        why = self.missing.get("probe", QUICK_HAS_NO_PROBE)
        return "quick" if self.probe is None and why == QUICK_HAS_NO_PROBE else "standard"

    def why_missing(self, group: str) -> str:
        """Return why a group is None."""
        return self.missing.get(group, "not recorded")
