"""All facts about one machine, collected side by side under deadlines into one snapshot.

A group whose source failed is left out and its reason kept: a default in its place would read like a fact. NVML and libcuda
are the exception, for how they failed is their fact.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeVar, cast

from gpudoctor import __version__
from gpudoctor.collect import sources
from gpudoctor.collect.gathering import Gathering, gather
from gpudoctor.collect.isolate import SOURCE_DEADLINE_S, Outcome, Source
from gpudoctor.model.machine import Cuda, Host, Kernel, Nvml, Scheduler
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.software import Library, TensorFlow
from gpudoctor.model.words import Level

if TYPE_CHECKING:
    from gpudoctor.collect.target import Target
    from gpudoctor.model.gpu import Gpu, LinkSample

MASK = "CUDA_VISIBLE_DEVICES"
NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE, cuda.h

T = TypeVar("T")
OnDone = Callable[[str, Outcome], None]


class Survey:
    """A survey under way: its children work while this process does something else before `finish`."""

    def __init__(
        self,
        *,
        target: Target,
        level: Level = "standard",
        root: Path = Path("/"),
        timeout_s: float | None = None,
        on_done: OnDone | None = None,
    ) -> None:
        """Begin. `timeout_s` replaces the deadline of every source; `on_done` is told of each source as it ends."""
        self._root = root
        self._end = monotonic() + (SOURCE_DEADLINE_S if timeout_s is None else timeout_s)
        self._gathering = Gathering(sources.all_sources(target, level, root, timeout_s), on_done=on_done)

    def abandon(self) -> None:
        """Ask no further: the snapshot is not wanted any more."""
        self._gathering.abandon()

    def finish(self) -> Snapshot:
        """Return the snapshot, by the longest deadline at the latest. Never raises for a source."""
        outcomes = self._gathering.finish()
        nvml, gpus = _nvml(outcomes["nvml"])
        cuda = _cuda(outcomes["cuda"])
        if cuda.cu_init == NO_DEVICE and MASK in os.environ:
            cuda = replace(cuda, devices_unmasked=_unmasked(self._root, self._end - monotonic()))
        examined = _value(outcomes["python"], sources.Examined)
        return Snapshot(
            tool_version=__version__,
            taken_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            host=_value(outcomes["host"], Host),
            nvml=nvml,
            cuda=cuda,
            scheduler=_value(outcomes["scheduler"], Scheduler),
            kernel=_value(outcomes["kernel"], Kernel),
            gpus=None if isinstance(gpus, Missing) else gpus,
            python=None if examined is None else examined.python,
            packages=None if examined is None else examined.packages,
            tensorflow=_value(outcomes["tensorflow"], TensorFlow),
            libraries=_libraries(outcomes["libraries"]),
            env=cast("Mapping[str, str] | None", _value(outcomes["env"], dict)),
            missing=_missing(outcomes, gpus),
            timings_s={name: each.duration_s for name, each in outcomes.items()},
        )


def take_snapshot(
    *,
    target: Target,
    level: Level = "standard",
    root: Path = Path("/"),
    timeout_s: float | None = None,
    on_done: OnDone | None = None,
) -> Snapshot:
    """Collect everything but the probe; see `Survey`."""
    return Survey(target=target, level=level, root=root, timeout_s=timeout_s, on_done=on_done).finish()


def look_at_gpus(root: Path = Path("/"), timeout_s: float = SOURCE_DEADLINE_S) -> tuple[Gpu, ...]:
    """Return the GPUs as NVML shows them now; none where it does not answer in time. For watching them for a while."""
    source = Source(name="nvml", collect=partial(sources.nvml, root), deadline_s=timeout_s)
    _, gpus = _nvml(gather([source])["nvml"])
    return () if isinstance(gpus, Missing) else gpus


def look_at_link(index: int, root: Path = Path("/"), timeout_s: float = SOURCE_DEADLINE_S) -> LinkSample | None:
    """Return the PCIe link of that GPU as it is now; None where NVML does not answer in time."""
    source = Source(name="link", collect=partial(sources.link, root, index), deadline_s=timeout_s)
    found = gather([source])["link"].value
    return None if isinstance(found, Missing) else cast("LinkSample", found)


def _value(outcome: Outcome, kind: type[T]) -> T | None:
    return outcome.value if isinstance(outcome.value, kind) else None


def _missing(outcomes: Mapping[str, Outcome], gpus: object) -> dict[str, str]:
    """Return the reasons of the groups that are left out."""
    missing = {name: each.value.reason for name, each in outcomes.items() if isinstance(each.value, Missing)}
    for told_in_place in ("nvml", "cuda"):
        missing.pop(told_in_place, None)
    if outcomes["libraries"].parts:
        missing.pop("libraries", None)
    if isinstance(gpus, Missing):
        missing["gpus"] = gpus.reason
    if "python" in missing:
        missing["packages"] = missing["python"]
    return missing


def _nvml(outcome: Outcome) -> tuple[Nvml, Maybe[tuple[Gpu, ...]]]:
    if not isinstance(outcome.value, Missing):
        return cast("tuple[Nvml, Maybe[tuple[Gpu, ...]]]", outcome.value)
    from gpudoctor.collect.nvml import joined  # noqa: PLC0415  # needed only where NVML failed

    return joined(outcome.parts, outcome.value.reason)


def _cuda(outcome: Outcome) -> Cuda:
    if not isinstance(outcome.value, Missing):
        return cast("Cuda", outcome.value)
    from gpudoctor.collect.cuda import joined  # noqa: PLC0415  # needed only where libcuda failed

    return joined(outcome.parts, outcome.value.reason)


def _unmasked(root: Path, left_s: float) -> Maybe[int]:
    """Ask libcuda once more without the variable, in what is left of its time: a hidden GPU is not an absent one."""
    source = Source(name="unmasked", collect=partial(sources.unmasked_devices, root), deadline_s=max(0.0, left_s))
    return cast("Maybe[int]", gather([source])["unmasked"].value)


def _libraries(outcome: Outcome) -> tuple[Library, ...] | None:
    """Return the libraries; where loading them did not end, what their files told."""
    found = outcome.parts[-1] if isinstance(outcome.value, Missing) and outcome.parts else outcome.value
    return None if isinstance(found, Missing) else cast("tuple[Library, ...]", found)
