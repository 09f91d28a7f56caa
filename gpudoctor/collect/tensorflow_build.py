"""The TensorFlow build in the examined environment, read from its files: an import takes seconds and may crash or hang.

Who made the build decides which tables may speak of it: those of this project know official wheels only.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpudoctor.collect.ask_target import plain
from gpudoctor.collect.build_facts import capabilities_in_header, read_build_info, read_cuda_config
from gpudoctor.collect.elf import ElfError, read_dynamic
from gpudoctor.collect.interpreter import Interpreter
from gpudoctor.collect.python_env import Distribution, package_folders
from gpudoctor.collect.requirements import requirements_of
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.record import dataclass
from gpudoctor.model.software import TensorFlow
from gpudoctor.model.words import BuildOrigin

# Distributions that bring the package `tensorflow`; the first group is published by the TensorFlow project on PyPI,
# aarch64 and Windows wheels by its partners under its control (facts per release in gpudoctor.knowledge).
OFFICIAL = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tensorflow-intel",
    "tensorflow-macos",
    "tensorflow-cpu-aws",
    "tf-nightly",
    "tf-nightly-cpu",
    "tf-nightly-gpu",
)
OTHERS = ("nvidia-tensorflow", "tensorflow-base", "tensorflow-rocm", "tensorflow-aarch64", "intel-tensorflow")
FRAMEWORK = ("libtensorflow_framework.so.2", "libtensorflow_framework.so.1")  # the one that opens the CUDA libraries
MAIN_LIBRARY = ("libtensorflow_cc.so.2", "python/_pywrap_tensorflow_internal.so")  # up to 2.11 the second
REDISTRIBUTABLE = re.compile(r"manylinux|macosx|win_amd64|win_arm64")  # a plain `linux_x86_64` is a local build's tag
NVIDIA_SUFFIX = "+nv"  # versions in NVIDIA's containers: 2.17.0+nv25.2
NOT_INSTALLED = Missing("TensorFlow is not installed in this environment")
NOT_PROBED = Missing("the probe has not run")
NOT_CUDA = Missing("not a CUDA build")
NOT_SAID = Missing("the build does not say")
NOT_COUNTED: Mapping[str, int] = {}
# Of the architectures of a wheel, those in full have equal counts, the newest only 12-18 % of them (read in the wheels).
FULL_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Installed:
    package: Path
    distribution: str | None
    version: str | None
    origin: BuildOrigin
    metadata: Path | None


def collect_tensorflow(
    interpreter: Interpreter,
    distributions: Sequence[Distribution],
    *,
    environ: Mapping[str, str] | None = None,
    root: Path = Path("/"),
    count_code: bool = False,
) -> TensorFlow:
    """Return the facts of the build, `installed=False` where there is none. Never raises.

    `count_code` reads the fat binaries of builds that are not official wheels (0.1 s a GB, measured); from the standard
    level on. What only an import tells is left to the probe.
    """
    environ = os.environ if environ is None else environ
    installed = _find(interpreter, distributions, environ, root)
    if installed is None:
        return _absent(_remains(interpreter))
    info, config = read_build_info(installed.package), read_cuda_config(installed.package)
    is_cuda = info.get("is_cuda_build", bool(config.get("TF_CUDA_VERSION")) if config else NOT_SAID)
    official = installed.origin == "official_wheel"
    counted = _count(installed.package) if count_code and is_cuda is True and not official else NOT_COUNTED
    capabilities, source = _capabilities(info, config, counted, official=official)
    return TensorFlow(
        installed=True,
        version=installed.version or Missing("no package metadata"),
        distribution=installed.distribution or Missing("no package metadata"),
        origin=installed.origin,
        path=plain(str(installed.package)),
        is_cuda_build=is_cuda,
        is_rocm_build=info.get("is_rocm_build", NOT_SAID),
        cuda_version=_text(info.get("cuda_version") or config.get("TF_CUDA_VERSION"), is_cuda),
        cudnn_version=_text(info.get("cudnn_version") or config.get("TF_CUDNN_VERSION"), is_cuda),
        compute_capabilities=capabilities or (NOT_SAID if is_cuda is True else NOT_CUDA),
        build_info_from=source,
        code_objects=counted,
        runpath=_runpath(installed.package),
        keras_version=_keras(distributions, environ),
        requires=_requires(installed, interpreter, distributions),
        remains="",
        visible_gpus=NOT_PROBED,
        import_error=NOT_PROBED,
    )


def _absent(remains: str) -> TensorFlow:
    return TensorFlow(
        installed=False,
        version=NOT_INSTALLED,
        distribution=NOT_INSTALLED,
        origin=NOT_INSTALLED,
        path=NOT_INSTALLED,
        is_cuda_build=NOT_INSTALLED,
        is_rocm_build=NOT_INSTALLED,
        cuda_version=NOT_INSTALLED,
        cudnn_version=NOT_INSTALLED,
        compute_capabilities=NOT_INSTALLED,
        build_info_from=NOT_INSTALLED,
        runpath=NOT_INSTALLED,
        keras_version=NOT_INSTALLED,
        requires=NOT_INSTALLED,
        remains=remains,
        visible_gpus=NOT_INSTALLED,
        import_error=NOT_INSTALLED,
    )


def _find(
    interpreter: Interpreter, distributions: Sequence[Distribution], environ: Mapping[str, str], root: Path
) -> _Installed | None:
    folders = (folder / "tensorflow" for folder in package_folders(interpreter))
    package = next((each for each in folders if (each / "__init__.py").is_file()), None)
    if package is None:
        return None  # a folder without it is what an uninstall left
    provider = _provider(package, distributions)
    conda = _conda_version(interpreter.prefix) if provider is None else None
    version = provider.version if provider else conda
    return _Installed(
        package=package,
        distribution=provider.name if provider else None,
        version=version,
        origin=_origin(provider, conda, environ, root),
        metadata=provider.metadata if provider else None,
    )


def _remains(interpreter: Interpreter) -> str:
    """Return the folder that is named like the package and is none, '' where there is none."""
    folders = (folder / "tensorflow" for folder in package_folders(interpreter))
    return next((plain(str(each)) for each in folders if each.is_dir()), "")


def _requires(
    installed: _Installed, interpreter: Interpreter, distributions: Sequence[Distribution]
) -> Maybe[tuple[str, ...]]:
    """Return what TensorFlow and the Keras beside it ask for."""
    keras = next((each.metadata for each in distributions if each.name == "keras"), None)
    if installed.metadata is None:
        return Missing("no package metadata")
    marks = {
        "python_version": ".".join(interpreter.version.split(".")[:2]),
        "python_full_version": interpreter.version,
        "sys_platform": sys.platform,
        "platform_system": platform.system(),
        "platform_machine": platform.machine(),
        "implementation_name": interpreter.implementation,
    }
    own = requirements_of(installed.metadata, marks)
    return tuple(dict.fromkeys((*own, *(requirements_of(keras, marks) if keras is not None else ()))))


def _provider(package: Path, distributions: Sequence[Distribution]) -> Distribution | None:
    """Return the distribution whose files the package folder holds: of several, the one installed last."""
    here = [
        each for each in distributions if each.metadata.parent == package.parent and each.name in {*OFFICIAL, *OTHERS}
    ]
    if len(here) > 1:  # tensorflow needs tensorflow-intel; or tensorflow and tensorflow-cpu overwrote each other
        here = [each for each in here if b"tensorflow/__init__.py" in _bytes(each.metadata / "RECORD")] or here
    return max(here, key=lambda each: _changed(each.metadata), default=None)


def _origin(provider: Distribution | None, conda: str | None, environ: Mapping[str, str], root: Path) -> BuildOrigin:
    if provider is None:
        return "conda" if conda else "unknown"
    if NVIDIA_SUFFIX in provider.version or provider.name == "nvidia-tensorflow":
        return "ngc"
    if _bytes(provider.metadata / "INSTALLER").strip() == b"conda":
        return "conda"
    tags = _bytes(provider.metadata / "WHEEL").decode(errors="replace")
    if provider.name in OFFICIAL and "+" not in provider.version and REDISTRIBUTABLE.search(tags):
        return "official_wheel"
    if environ.get("NVIDIA_TENSORFLOW_VERSION") or (root / "opt/tensorflow").is_dir():
        return "ngc"
    return "source"


def _conda_version(prefix: Path) -> str | None:
    """Return the version of conda's TensorFlow from the names of its records (name-version-build.json)."""
    for record in sorted(prefix.glob("conda-meta/tensorflow*-*.json")):
        name, version, _ = record.stem.rsplit("-", 2)
        if name in {"tensorflow", "tensorflow-base"}:
            return plain(version)
    return None


def _capabilities(
    info: Mapping[str, Any], config: Mapping[str, str], counted: Mapping[str, int], *, official: bool
) -> tuple[tuple[str, ...], Maybe[str]]:
    """Return the architectures and where they were read: what the build says, what it contains, else its header."""
    told = tuple(str(each) for each in info.get("cuda_compute_capabilities") or ())
    if told or (info and not config.get("TF_CUDA_VERSION")):
        return told, "build_info"
    if counted:
        most = max(counted.values())
        return tuple(name for name, count in counted.items() if count > FULL_SHARE * most), "fat_binaries"
    return capabilities_in_header(config, official=official), "cuda_config" if config else NOT_SAID


def _count(package: Path) -> Mapping[str, int]:
    from gpudoctor.collect.fatbin import count_code_objects  # noqa: PLC0415  # never at quick

    library = next((package / name for name in MAIN_LIBRARY if (package / name).is_file()), None)
    try:
        return count_code_objects(library) if library else NOT_COUNTED
    except (OSError, ElfError):
        return NOT_COUNTED


def framework_library(package: Path) -> Path | None:
    """Return the library of TensorFlow that opens the CUDA libraries: its search path is the one that counts."""
    folders = (package, package.parents[3]) if len(package.parents) > 3 else (package,)  # conda keeps it in $PREFIX/lib
    return next((each / name for each in folders for name in FRAMEWORK if (each / name).is_file()), None)


def _runpath(package: Path) -> Maybe[tuple[str, ...]]:
    library = framework_library(package)
    if library is None:
        return Missing("no libtensorflow_framework.so in the package")
    try:
        dynamic = read_dynamic(library)
    except (OSError, ElfError) as error:
        return Missing(str(error))
    return dynamic.runpath or dynamic.rpath


def _keras(distributions: Sequence[Distribution], environ: Mapping[str, str]) -> Maybe[str]:
    legacy = environ.get("TF_USE_LEGACY_KERAS", "").lower() in {"1", "true"}
    names = ("tf-keras", "tf-keras-nightly") if legacy else ("keras", "keras-nightly")
    found = next((each.version for each in distributions if each.name in names), None)
    return found or Missing(f"no package {names[0]}")


def _text(value: object, is_cuda: object) -> Maybe[str]:
    return str(value) if value else (NOT_SAID if is_cuda is True else NOT_CUDA)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
