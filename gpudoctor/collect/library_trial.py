"""Load each library for real, in a process of the examined interpreter, and let it tell its version by its own call.

Loading in gpudoctor's own process would save a start and could crash it, and would mix its libraries with the target's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic

from gpudoctor.collect.ask_target import Answers, ask_target, plain
from gpudoctor.collect.interpreter import Interpreter
from gpudoctor.collect.libraries import cudnn_parts, longer
from gpudoctor.model.missing import Missing
from gpudoctor.model.record import dataclass
from gpudoctor.model.software import Library

DEADLINE_S = 30.0  # policy: cold from a slow disk; all of CUDA 12 with cuDNN takes 0.7 s warm (measured)
NO_ERROR = Missing("none")
MAX_REASON = 200  # characters that are kept of a library's last words


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    error: str | None
    version: str | None = None


def try_libraries(
    libraries: Sequence[Library],
    interpreter: Interpreter,
    *,
    environ: Mapping[str, str] | None = None,
    root: Path = Path("/"),
    deadline_s: float = DEADLINE_S,
) -> tuple[Library, ...]:
    """Return the libraries with `loadable`, `error` and `version` as they showed when loaded.

    cuDNN counts as loadable only when the parts that it opens at first use load as well. Raises OSError when the
    interpreter cannot be started.
    """
    files = {library.soname: _files(library, root) for library in libraries}
    paths = list(dict.fromkeys(path for several in files.values() for path in several))
    answers = _load(paths, interpreter, environ, deadline_s)
    return tuple(_judged(library, files[library.soname], answers) for library in libraries)


def _files(library: Library, root: Path) -> tuple[str, ...]:
    """Return the library's file and, for cuDNN, the parts that lie beside it."""
    if isinstance(library.path, Missing):
        return ()
    path = root / library.path.lstrip("/")
    path = path if path.is_file() else Path(library.path)
    beside = (path.with_name(name) for name in cudnn_parts(library.soname))
    return (str(path), *(str(part) for part in beside if part.is_file()))


def _load(
    paths: Sequence[str], interpreter: Interpreter, environ: Mapping[str, str] | None, deadline_s: float
) -> dict[str, _Answer]:
    """Load in one process; where a library kills it, note that and go on with the rest in another."""
    answers: dict[str, _Answer] = {}
    end = monotonic() + deadline_s
    pending = list(paths)
    while pending and monotonic() < end:
        told = ask_target(
            interpreter.executable, "load_libraries", pending, deadline_s=end - monotonic(), environ=environ
        )
        last = ""
        for value in told.values:
            last = str(value.get("next", last))
            if "path" in value:
                answers[str(value["path"])] = _Answer(error=value["error"], version=value.get("version"))
        if last and last not in answers:
            answers[last] = _Answer(error=_how_it_ended(told, deadline_s))
        remaining = [path for path in pending if path not in answers]
        if len(remaining) == len(pending):
            break  # not one answer: the interpreter itself fails
        pending = remaining
    return answers


def _how_it_ended(told: Answers, deadline_s: float) -> str:
    if told.exit_code is None:
        return f"loading it did not end within {deadline_s:g} s"
    end = f"signal {-told.exit_code}" if told.exit_code < 0 else f"exit code {told.exit_code}"
    said = "".join(f": {line}" for line in told.errors.strip().splitlines()[-1:])
    return f"loading it killed the process ({end}){said[:MAX_REASON]}"


def _judged(library: Library, files: Sequence[str], answers: Mapping[str, _Answer]) -> Library:
    if not files:
        return library
    known = [answers[path] for path in files if path in answers]
    if len(known) < len(files):
        return replace(library, loadable=Missing("not tried: time ran out"), error=Missing("not tried: time ran out"))
    errors = [plain(answer.error) for answer in known if answer.error]
    version = known[0].version
    if version is not None:
        library = replace(library, version=longer(version, library.version), version_from="call")
    if library.loadable is False:  # what it needs is already known to be absent: the plainer reason
        return library
    if errors:
        return replace(library, loadable=False, error=errors[0])
    return replace(library, loadable=True, error=NO_ERROR)
