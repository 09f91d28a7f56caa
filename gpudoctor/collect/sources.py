"""What a survey asks: one source a group of facts, with its deadline and what it must come after.

Each collector is imported by the child that runs it: what one of them needs is not paid for by the others, and a library
that crashes while it is imported is that source's failure alone.
"""
# ruff: noqa: PLC0415  # the point of this module, see above

from __future__ import annotations

from collections.abc import Generator, Mapping
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, cast

from gpudoctor.collect.isolate import SOURCE_DEADLINE_S, Answers, Source
from gpudoctor.model.words import Level

if TYPE_CHECKING:
    from gpudoctor.collect.interpreter import Interpreter
    from gpudoctor.collect.python_env import Distribution
    from gpudoctor.collect.target import Target
    from gpudoctor.model.missing import Maybe
    from gpudoctor.model.software import Library, Python, TensorFlow

LIBRARIES_DEADLINE_S = 30.0  # policy: gigabytes of libraries, cold from a slow disk
MARGIN_S = 1.0  # for the trial of libraries to end by itself and hand over what it knows


class Examined(NamedTuple):
    """What the source `python` answers: the interpreter's own words, and the facts made of them."""

    interpreter: Interpreter
    distributions: tuple[Distribution, ...]
    python: Python
    packages: Mapping[str, str]


def all_sources(target: Target, level: Level, root: Path, timeout_s: float | None) -> tuple[Source, ...]:
    """Return what to ask, the slowest first; `timeout_s` replaces every deadline."""
    short_s = SOURCE_DEADLINE_S if timeout_s is None else timeout_s
    long_s = LIBRARIES_DEADLINE_S if timeout_s is None else timeout_s
    quick = level == "quick"
    host = Source(name="host", collect=partial(_host, root), deadline_s=short_s)
    tensorflow = Source(
        name="tensorflow",
        collect=partial(_tensorflow, root, not quick),
        after=("python",),
        deadline_s=short_s if quick else long_s,
    )
    libraries = Source(
        name="libraries",
        collect=partial(_libraries, root, None if quick else long_s - MARGIN_S),
        after=("python", "tensorflow"),
        deadline_s=long_s,
    )
    return (
        Source(name="nvml", collect=partial(nvml, root), deadline_s=short_s),
        Source(name="python", collect=partial(_python, target), deadline_s=short_s, then=(tensorflow, libraries)),
        Source(name="cuda", collect=partial(_cuda, root), deadline_s=short_s),
        Source(name="kernel", collect=partial(_kernel, root), deadline_s=short_s, then=(host,)),
        Source(name="env", collect=_environment, isolated=False),
        Source(name="scheduler", collect=_scheduler, isolated=False),
    )


def nvml(root: Path, _: Answers) -> object:
    """Read NVML."""
    from gpudoctor.collect.nvml import collect_nvml

    return collect_nvml(root)


def link(root: Path, index: int, _: Answers) -> object:
    """Look once at the PCIe link of one GPU."""
    from gpudoctor.collect.nvml import open_session

    return open_session(root).look_at_link(index)


def _cuda(root: Path, _: Answers) -> object:
    from gpudoctor.collect.cuda import collect_cuda

    return collect_cuda(root)


def _kernel(root: Path, _: Answers) -> object:
    from gpudoctor.collect.kernel import collect_kernel

    return collect_kernel(root)


def _host(root: Path, _: Answers) -> object:
    from gpudoctor.collect.host import collect_host

    return collect_host(root=root)


def _environment(_: Answers) -> object:
    from gpudoctor.collect.environment import collect_environment

    return collect_environment()


def _scheduler(_: Answers) -> object:
    from gpudoctor.collect.scheduler import collect_scheduler

    return collect_scheduler()


def _python(target: Target, _: Answers) -> Examined:
    from gpudoctor.collect.python_env import (
        NOT_LOOKED,
        describe_python,
        list_distributions,
        package_folders,
        versions,
    )
    from gpudoctor.collect.target import elsewhere

    interpreter = target.ask()
    folders = package_folders(interpreter)
    distributions = list_distributions(folders)
    here = any((folder / "tensorflow" / "__init__.py").is_file() for folder in folders)
    others = NOT_LOOKED if here else elsewhere(interpreter.executable)
    python = describe_python(
        interpreter,
        chosen_by=target.chosen_by,
        distributions=distributions,
        elsewhere=others,
        folder=Path(),  # where it is called, even if that folder is gone
    )
    return Examined(interpreter, distributions, python, versions(distributions))


def _tensorflow(root: Path, count_code: bool, known: Answers) -> object:
    from gpudoctor.collect.tensorflow_build import collect_tensorflow

    examined = cast("Examined", known["python"])
    return collect_tensorflow(examined.interpreter, examined.distributions, root=root, count_code=count_code)


def _libraries(root: Path, trial_s: float | None, known: Answers) -> Generator[object, None, object]:
    """Hand over what the files tell, then try to load them where there is time for it."""
    from gpudoctor.collect.libraries import collect_libraries

    end = None if trial_s is None else monotonic() + trial_s
    examined, tensorflow = cast("Examined", known["python"]), cast("TensorFlow", known["tensorflow"])
    found: Maybe[tuple[Library, ...]] = collect_libraries(
        tensorflow, examined.interpreter, examined.distributions, root=root
    )
    if end is None or not isinstance(found, tuple) or not found:
        return found
    yield found
    from gpudoctor.collect.library_trial import try_libraries

    return try_libraries(found, examined.interpreter, root=root, deadline_s=end - monotonic())


def unmasked_devices(root: Path, _: Answers) -> object:
    """Count the devices behind CUDA_VISIBLE_DEVICES; for a child of its own."""
    from gpudoctor.collect.cuda import count_unmasked

    return count_unmasked(root)
