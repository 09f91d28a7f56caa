"""The CUDA libraries that this TensorFlow build opens: which file the loader takes for each, and what that file is.

`nvidia-smi`, `nvcc --version` and `pip list` each tell of something else than what gets loaded; so the loader's own search
is followed, from the library that makes the calls (libtensorflow_framework) and with the user's LD_LIBRARY_PATH.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gpudoctor.collect.ask_target import plain
from gpudoctor.collect.build_facts import read_cuda_config
from gpudoctor.collect.interpreter import Interpreter
from gpudoctor.collect.library_identity import NO_PACKAGE, Identifier
from gpudoctor.collect.loader import Found, Loader, Opened, Process
from gpudoctor.collect.python_env import Distribution, package_folders
from gpudoctor.collect.tensorflow_build import framework_library
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.observed import Probe
from gpudoctor.model.record import dataclass
from gpudoctor.model.software import Library, TensorFlow

# What TensorFlow opens before it registers any GPU; one of them absent, and it skips all GPUs. Read by disassembly of
# tsl::internal::DsoLoader::TryDlopenCUDALibraries in the wheels of 2.16.1, 2.20.0, 2.21.0 and 2.22.0rc0, in this order.
# Builds of CUDA 11 differ by release (up to 2.13 libcurand as well): there the table of official wheels is asked.
REGISTRATION = (
    ("libcudart", "TF_CUDART_VERSION"),
    ("libcublas", "TF_CUBLAS_VERSION"),
    ("libcublasLt", "TF_CUBLAS_VERSION"),
    ("libcufft", "TF_CUFFT_VERSION"),
    ("libcusolver", "TF_CUSOLVER_VERSION"),
    ("libcusparse", "TF_CUSPARSE_VERSION"),
    ("libcudnn", "TF_CUDNN_VERSION"),
)
# Opened later and only for their purpose: several GPUs, profiling. Their absence costs that purpose, not the GPU.
LATER = (("libnccl", "TF_NCCL_VERSION"), ("libcupti", "TF_CUPTI_VERSION"))
NCCL = "libnccl.so.2"  # the only major so far; the CUDA header does not name it
CUDA_NAMES = re.compile(r"lib(?:cu(?!da\.so)|nccl|nv|npp)\w*\.so")  # not libcuda, which is the driver's
NOT_FOUND = Missing("not found")
NOT_TRIED = Missing("not tried at this level")
NOT_LOADED = Missing("not loaded by the probe")
UNREACHED = Missing("not found where the loader searches, though files of that name exist: see shadows")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    """What all look-ups share."""

    process: Process
    identifier: Identifier
    framework: Path
    elsewhere: tuple[Path, ...]
    root: Path


def collect_libraries(
    tensorflow: TensorFlow,
    interpreter: Interpreter,
    distributions: Sequence[Distribution],
    *,
    environ: Mapping[str, str] | None = None,
    root: Path = Path("/"),
) -> Maybe[tuple[Library, ...]]:
    """Return the libraries that the build opens and what these need, by reading files only.

    Missing where there is no TensorFlow, it cannot be told, or the system has no ELF loader. Never raises.
    """
    environ = os.environ if environ is None else environ
    if isinstance(tensorflow.path, Missing):
        return tensorflow.path
    if tensorflow.is_cuda_build is False:
        return ()
    package = Path(tensorflow.path)
    framework = framework_library(package)
    if framework is None:
        return Missing("no libtensorflow_framework.so: only Linux builds are examined")
    loader = Loader(root=root, library_path=environ.get("LD_LIBRARY_PATH", ""), executable=interpreter.executable)
    wanted = _wanted(package, framework, loader, tensorflow)
    if not wanted:
        return Missing("the build does not say which CUDA libraries it opens")
    sites = package_folders(interpreter)
    scene = _Scene(
        process=Process(loader, CUDA_NAMES),
        identifier=Identifier(prefix=interpreter.prefix, sites=sites, distributions=distributions),
        framework=framework,
        elsewhere=tuple(_elsewhere(sites, interpreter.prefix, root)),
        root=root,
    )
    return tuple(_rows(scene, wanted))


def _wanted(package: Path, framework: Path, loader: Loader, tensorflow: TensorFlow) -> dict[str, bool]:
    """Return the sonames that the build opens, with whether the GPU depends on each; those first."""
    config = read_cuda_config(package)
    linked = [name for name in loader.dynamic(framework).needed if CUDA_NAMES.match(name)]
    named = _named(config, REGISTRATION)
    if not named or config.get("TF_CUDA_VERSION", "").startswith("11."):
        named = _known(tensorflow) or named
    needed = dict.fromkeys((*named, *linked), True)
    if not needed:
        return {}
    return needed | {name: False for name in (*_named(config, LATER), NCCL) if name not in needed}


def _known(tensorflow: TensorFlow) -> tuple[str, ...]:
    if isinstance(tensorflow.version, Missing) or tensorflow.origin != "official_wheel":
        return ()
    from gpudoctor.knowledge.tensorflow_releases import sonames_needed  # noqa: PLC0415  # 8 ms that newer builds save

    return sonames_needed(tensorflow.version)


def _named(config: Mapping[str, str], libraries: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(f"{stem}.so.{config[key]}" for stem, key in libraries if config.get(key))


def _rows(scene: _Scene, wanted: Mapping[str, bool]) -> Iterator[Library]:
    """Yield a row a library in the order of opening, and after it what it brings that has no row of its own."""
    listed = set(wanted)
    for soname, needed in wanted.items():
        opened = scene.process.open(soname, (scene.framework,))
        parts = _open_parts(scene, soname, opened)
        absent = (*opened.absent, *(name for name, files in parts.items() if not files))
        row = _row(scene, soname, opened.files, needed=needed)
        if opened.files and absent:
            row = replace(row, loadable=False, error=f"{', '.join(absent)} not found, which it needs")
        yield row
        for name, files in {**opened.linked, **dict.fromkeys(opened.absent, ()), **parts}.items():
            apart = name not in parts or not files or files[0].path.parent != opened.files[0].path.parent
            if name not in listed and apart:  # cuDNN's parts beside it go without saying
                listed.add(name)
                yield _row(scene, name, files, needed=needed)


def _open_parts(scene: _Scene, soname: str, opened: Opened) -> dict[str, tuple[Found, ...]]:
    """Return the parts that a cuDNN opens when it is first used."""
    if not opened.files:
        return {}
    callers = (opened.files[0].path, scene.framework)
    return {name: scene.process.open(name, callers).files for name in cudnn_parts(soname)}


def cudnn_parts(soname: str) -> tuple[str, ...]:
    """Return the libraries that a libcudnn.so.N opens at first use; none for any other name."""
    stem, _, major = soname.rpartition(".")
    if stem != "libcudnn.so" or not major.isdigit():
        return ()
    from gpudoctor.knowledge.cudnn_releases import SUBLIBRARIES  # noqa: PLC0415  # only where there is a cuDNN

    return SUBLIBRARIES.get(int(major), ())


def _row(scene: _Scene, soname: str, found: tuple[Found, ...], *, needed: bool) -> Library:
    if not found:
        return _unfound(scene, soname, needed=needed)
    identity = scene.identifier.identify(found[0])
    return Library(
        soname=soname,
        needed=needed,
        version=identity.version,
        version_from=identity.version_from,
        path=plain(found[0].shown),
        origin=identity.origin,
        package=identity.package,
        shadows=tuple(plain(each.shown) for each in found[1:]),
        loadable=NOT_TRIED,
        error=NOT_TRIED,
        loaded_path=Missing("the probe has not run"),
    )


def _unfound(scene: _Scene, soname: str, *, needed: bool) -> Library:
    """Describe a library that the loader does not find, with the files of that name that it does not look at."""
    others = [folder / soname for folder in scene.elsewhere if (folder / soname).is_file()]
    shown = tuple(dict.fromkeys(_on_the_machine(each, scene.root) for each in others))
    identity = scene.identifier.identify(Found(path=others[0], shown=shown[0], by="")) if others else None
    return Library(
        soname=soname,
        needed=needed,
        version=NOT_FOUND,
        version_from=NOT_FOUND,
        path=UNREACHED if others else NOT_FOUND,
        origin=NOT_FOUND,
        package=identity.package if identity else NO_PACKAGE,
        shadows=shown,
        loadable=False,
        error=f"{soname}: not found in the loader's search path",
        loaded_path=Missing("the probe has not run"),
    )


def _elsewhere(sites: Sequence[Path], prefix: Path, root: Path) -> Iterator[Path]:
    """Yield folders where CUDA libraries often lie without being searched: wheels, conda, toolkits."""
    for site in sites:
        yield from sorted(site.glob("nvidia/*/lib"))
    yield prefix / "lib"
    for pattern in ("usr/local/cuda*/lib64", "usr/local/cuda*/targets/*/lib", "opt/cuda/lib64", "usr/lib/cuda/lib64"):
        yield from sorted(root.glob(pattern))


def _on_the_machine(path: Path, root: Path) -> str:
    is_under = root != Path("/") and path.is_relative_to(root)
    return plain(f"/{path.relative_to(root)}" if is_under else str(path))


def merge_loaded(libraries: Sequence[Library], probe: Probe | None) -> tuple[Library, ...]:
    """Return the libraries with the files that the probe's processes really mapped; pure.

    A library that the search had not found and that was mapped all the same is taken as found: the mapping is the fact.
    """
    children = [child for child in probe.children if child.loaded] if probe is not None else []
    if not children:
        return tuple(libraries)
    mapped: dict[str, tuple[str, Maybe[str]]] = {}
    for child in children:
        for each in child.loaded:
            name = each.path.rpartition("/")[2] if isinstance(each.soname, Missing) else each.soname
            mapped.setdefault(name, (each.path, each.version))
    return tuple(_merged(library, mapped) for library in libraries)


def _merged(library: Library, mapped: Mapping[str, tuple[str, Maybe[str]]]) -> Library:
    names = [name for name in mapped if name == library.soname or name.startswith(f"{library.soname}.")]
    if not names:
        return replace(library, loaded_path=NOT_LOADED)
    path, version = mapped[names[0]]
    library = replace(library, loaded_path=path, loadable=True, error=Missing("none"))
    if isinstance(library.path, Missing):
        library = replace(library, path=path, shadows=())
    if not isinstance(version, Missing):
        library = replace(library, version=longer(version, library.version), version_from="loaded")
    return library


def longer(told: str, read: Maybe[str]) -> str:
    """Return what the call told; where the file or package says the same and more (12.9, 12.9.79), the longer."""
    return read if isinstance(read, str) and f"{read}.".startswith(f"{told}.") else told
