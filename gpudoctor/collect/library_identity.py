"""Where a library file comes from, which package owns it and which version it is, without loading it.

The version of the owning wheel alone would do most of the time; but wheels for CUDA 12 and 13 overwrite each other's cuDNN,
and then only the header that came with the files tells which of them lies there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from gpudoctor.collect.loader import Found
from gpudoctor.collect.python_env import Distribution
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.record import dataclass
from gpudoctor.model.words import LibraryOrigin

TOOLKIT = re.compile(r"^/(?:usr/local|opt|usr/lib|usr/lib64)/(?:nvidia/)?cuda\b")
DRIVER = re.compile(r"/lib(?:cuda|nvidia-[\w-]+)\.so")
VERSION_IN_NAME = re.compile(r"\.so\.(\d+(?:\.\d+)+)$")
CUDNN_DEFINE = re.compile(r"^#define\s+CUDNN_(MAJOR|MINOR|PATCHLEVEL)\s+(\d+)", re.MULTILINE)
CUDNN_PARTS = 3  # a wheel's fourth number counts packages, not releases: 9.10.2.21 is cuDNN 9.10.2
NO_VERSION = Missing("neither in the file's name, nor in a header, nor in a package")
NO_PACKAGE = Missing("not from a Python package")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What is known of a library file by looking around it. `version_from`: file_name, header, package."""

    origin: LibraryOrigin
    package: Maybe[str]
    version: Maybe[str]
    version_from: Maybe[str]


class Identifier:
    """Identifies the libraries of one environment; package records are read once."""

    def __init__(self, *, prefix: Path, sites: Sequence[Path], distributions: Sequence[Distribution]) -> None:
        self._prefix = prefix if (prefix / "conda-meta").is_dir() else None
        self._sites = tuple(sites)
        self._distributions = distributions
        self._records: dict[Path, bytes] = {}

    def identify(self, found: Found) -> Identity:
        """Return origin, owner and version of the file. Never raises."""
        owner = self._owner(found.path)
        version, source = self._version(found.path, owner)
        package = owner.name if owner else NO_PACKAGE
        return Identity(origin=self._origin(found), package=package, version=version, version_from=source)

    def _origin(self, found: Found) -> LibraryOrigin:
        """Return wheel, conda, driver, ld_library_path, toolkit or system: what it is, before how it was found."""
        if self._site_of(found.path) is not None:
            return "wheel"
        if self._prefix is not None and found.path.is_relative_to(self._prefix):
            return "conda"
        if DRIVER.search(found.shown):
            return "driver"
        if found.by == "ld_library_path":
            return "ld_library_path"
        return "toolkit" if TOOLKIT.match(found.shown) else "system"

    def _site_of(self, path: Path) -> Path | None:
        normal = Path(os.path.normpath(path))
        return next((site for site in self._sites if normal.is_relative_to(site)), None)

    def _owner(self, path: Path) -> Distribution | None:
        """Return the distribution that lists the file; of several, the one whose version the header beside it tells."""
        site = self._site_of(path)
        if site is None:
            return self._conda_owner(path)
        inside = Path(os.path.normpath(path)).relative_to(site).as_posix().encode()
        owners = [each for each in self._distributions if each.metadata.parent == site and self._lists(each, inside)]
        told = _header_version(path)
        fitting = [each for each in owners if told and each.version.startswith(told)]
        return next(iter(fitting or owners), None)

    def _lists(self, distribution: Distribution, inside: bytes) -> bool:
        if not distribution.name.startswith(("nvidia-", "tensorrt")):
            return False  # the only wheels that bring CUDA libraries in a place that TensorFlow searches
        if distribution.metadata not in self._records:
            try:
                self._records[distribution.metadata] = (distribution.metadata / "RECORD").read_bytes()
            except OSError:
                self._records[distribution.metadata] = b""
        return inside + b"," in self._records[distribution.metadata]

    def _conda_owner(self, path: Path) -> Distribution | None:
        """Return conda's package of that library, by the usual names of its records."""
        if self._prefix is None or not path.is_relative_to(self._prefix):
            return None
        stem = path.name.partition(".so")[0]
        for name in (stem.removeprefix("lib"), stem, stem.replace("libcudart", "cuda-cudart"), "cudatoolkit"):
            for record in sorted(self._prefix.glob(f"conda-meta/{name}-*-*.json")):
                title, version, _ = record.stem.rsplit("-", 2)
                if title == name:
                    return Distribution(name=title, version=version, metadata=record)
        return None

    def _version(self, path: Path, owner: Distribution | None) -> tuple[Maybe[str], Maybe[str]]:
        match = VERSION_IN_NAME.search(os.path.realpath(path))
        if match:
            return match[1], "file_name"
        if told := _header_version(path):
            return told, "header"
        if owner is None:
            return NO_VERSION, NO_VERSION
        parts = owner.version.split(".")
        is_cudnn = path.name.startswith("libcudnn")
        return ".".join(parts[:CUDNN_PARTS] if is_cudnn else parts), "package"


def _header_version(path: Path) -> str:
    """Return the version of a cuDNN by the header installed with it, of the same major as the file's name."""
    if not path.name.startswith("libcudnn"):
        return ""
    major = path.name.rpartition(".so.")[2].partition(".")[0]
    for header in _headers(path, major):
        try:
            parts = dict(CUDNN_DEFINE.findall(header.read_text(encoding="utf-8", errors="replace")))
        except OSError:
            continue
        if len(parts) == CUDNN_PARTS and parts["MAJOR"] == major:
            return f"{parts['MAJOR']}.{parts['MINOR']}.{parts['PATCHLEVEL']}"
    return ""


def _headers(path: Path, major: str) -> Iterator[Path]:
    folder, above = path.parent, path.parent.parent
    names = (f"cudnn_version_v{major}.h", "cudnn_version.h")  # Debian's packages keep several majors side by side
    for include in (above / "include", above.parent / "include", above.parent / "include" / folder.name):
        yield from (include / name for name in names)
