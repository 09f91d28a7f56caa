"""Facts about the Python environment that is examined: interpreter, TensorFlow build, libraries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from gpudoctor.model.missing import NOT_COLLECTED, Maybe
from gpudoctor.model.record import dataclass
from gpudoctor.model.words import BuildOrigin, LibraryOrigin


@dataclass(frozen=True, slots=True, kw_only=True)
class Python:
    """The target interpreter and why it was chosen. `manager`: venv, conda, system, uv, pyenv, container ...

    `duplicates`: packages installed more than once, with their versions in search order ("numpy 1.26.4 over 2.0.1").
    `elsewhere`: other interpreters near by that have TensorFlow; looked for only where this one has none. `shadowing`:
    files in the current folder that Python would import in place of what TensorFlow needs ("random.py", "numpy/").
    """

    version: Maybe[str] = NOT_COLLECTED
    executable: Maybe[str] = NOT_COLLECTED
    prefix: Maybe[str] = NOT_COLLECTED
    manager: Maybe[str] = NOT_COLLECTED
    chosen_by: Maybe[str] = NOT_COLLECTED
    site_packages: Maybe[tuple[str, ...]] = NOT_COLLECTED
    duplicates: Maybe[tuple[str, ...]] = NOT_COLLECTED
    elsewhere: Maybe[tuple[str, ...]] = NOT_COLLECTED
    shadowing: Maybe[tuple[str, ...]] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorFlow:
    """The TensorFlow build, read from its files without importing it; import facts come from the probe.

    `distribution`: the package that provides it (tensorflow, tensorflow-cpu, tf-nightly, tensorflow-intel ...).
    `compute_capabilities` as the build names them (sm_80, compute_90). `cudnn_version` is what it was built for ("9" or
    "9.3"). `build_info_from`: build_info, cuda_config, fat_binaries, import. `installed` False means that the search was made
    and found none. `code_objects` counts the GPU code in the main library by architecture (sm_90: 248); empty where it was
    not counted. `requires`: what it and its Keras ask for on this Python and system ("wrapt >=1.11.0"). `remains`: the folder
    that an uninstall left.
    """

    installed: Maybe[bool] = NOT_COLLECTED
    version: Maybe[str] = NOT_COLLECTED
    distribution: Maybe[str] = NOT_COLLECTED
    origin: Maybe[BuildOrigin] = NOT_COLLECTED
    path: Maybe[str] = NOT_COLLECTED
    is_cuda_build: Maybe[bool] = NOT_COLLECTED
    is_rocm_build: Maybe[bool] = NOT_COLLECTED
    cuda_version: Maybe[str] = NOT_COLLECTED
    cudnn_version: Maybe[str] = NOT_COLLECTED
    compute_capabilities: Maybe[tuple[str, ...]] = NOT_COLLECTED
    build_info_from: Maybe[str] = NOT_COLLECTED
    code_objects: Mapping[str, int] = field(default_factory=dict[str, int])
    runpath: Maybe[tuple[str, ...]] = NOT_COLLECTED
    keras_version: Maybe[str] = NOT_COLLECTED
    requires: Maybe[tuple[str, ...]] = NOT_COLLECTED
    remains: Maybe[str] = NOT_COLLECTED
    visible_gpus: Maybe[int] = NOT_COLLECTED
    import_error: Maybe[str] = NOT_COLLECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """One shared library that this TensorFlow build needs (`needed`) or that lies in its way.

    `path` is the file that the loader would take (Missing: none found); `shadows` are the others, in search order; where
    `path` is missing, files of that name that lie where the loader does not search.
    `loadable`: dlopen tried under the target interpreter. `loaded_path`: the file that the probe's process really mapped.
    """

    soname: str
    needed: bool = True
    version: Maybe[str] = NOT_COLLECTED
    version_from: Maybe[str] = NOT_COLLECTED
    path: Maybe[str] = NOT_COLLECTED
    origin: Maybe[LibraryOrigin] = NOT_COLLECTED
    package: Maybe[str] = NOT_COLLECTED
    shadows: tuple[str, ...] = ()
    loadable: Maybe[bool] = NOT_COLLECTED
    error: Maybe[str] = NOT_COLLECTED
    loaded_path: Maybe[str] = NOT_COLLECTED
