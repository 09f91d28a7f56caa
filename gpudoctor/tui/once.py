"""One reading to standard output for scripts: no Textual, no check, no plug-in is loaded.

NVML is asked in a child with a deadline, so that a hung driver costs three seconds and not the script that asked. The child
starts before this process imports the rest, which it needs only when the answer is there.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gpudoctor.collect.gathering import Gathering
from gpudoctor.collect.isolate import SOURCE_DEADLINE_S, Answers, Source
from gpudoctor.model.missing import Maybe, Missing

if TYPE_CHECKING:
    from gpudoctor.model.gpu import Gpu
    from gpudoctor.model.machine import Nvml


def print_once(root: str, *, form: str, identifiers: bool = False) -> int:
    """Print one reading. The exit code is 0 also without a GPU: how NVML answered is in the output.

    CPU percentages need two readings and time between them; they are left missing with that reason.
    """
    asked = Source(name="nvml", collect=partial(_ask_nvml, Path(root)), deadline_s=SOURCE_DEADLINE_S)
    gathering = Gathering([asked])
    from time import monotonic, time  # noqa: PLC0415  # after the child has started, see above

    from gpudoctor.tui import once_forms  # noqa: PLC0415
    from gpudoctor.tui.messages import Reading  # noqa: PLC0415
    from gpudoctor.tui.sampling.host_load import HostMeter  # noqa: PLC0415
    from gpudoctor.tui.sampling.process_table import ProcessTable  # noqa: PLC0415

    host = HostMeter(Path(root)).read(monotonic())
    outcome = gathering.finish()["nvml"]
    value = outcome.value
    if isinstance(value, Missing):
        from gpudoctor.collect.nvml import joined  # noqa: PLC0415  # needed only where NVML failed

        value = joined(outcome.parts, value.reason)
    nvml, gpus = cast("tuple[Nvml, Maybe[tuple[Gpu, ...]]]", value)
    listed = () if isinstance(gpus, Missing) else gpus
    processes = ProcessTable(Path(root)).read(listed, monotonic())
    reading = Reading(at_s=round(time(), 3), nvml=nvml, gpus=listed, host=host, processes=processes)
    once_forms.emit(reading, form, identifiers=identifiers)
    return 0


def _ask_nvml(root: Path, answers: Answers) -> object:
    """Run in the child: the bindings are loaded here, beside what the parent does."""
    del answers
    from gpudoctor.collect.nvml import collect_nvml  # noqa: PLC0415

    return collect_nvml(root)
