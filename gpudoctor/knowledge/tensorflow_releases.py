"""TensorFlow 2.4 to 2.22.0rc0: what the official PyPI wheels contain, need and get wrong.

The rows were read in the wheels of PyPI; they say nothing of NGC containers, conda-forge or source builds, whose own
build facts must be asked. Judging those by the version alone would be tempting. Facts of 2026-11-30.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

from gpudoctor.knowledge import versions

if TYPE_CHECKING:
    from gpudoctor.knowledge.rows import tensorflow_releases as rows_of

    Defect = rows_of.Defect
    TfRelease = rows_of.TfRelease
    RELEASES: tuple[TfRelease, ...]
    DEFECTS: tuple[Defect, ...]

Coverage = Literal["sass", "partial", "ptx", "ptx-broken", "none"]
Package = Literal["numpy", "keras", "protobuf", "h5py", "ml_dtypes"]

NEWEST_STABLE = "2.21.0"
NEWEST_PRERELEASE = "2.22.0rc0"
# METADATA of the wheels: numpy<2.0.0 up to 2.17, numpy<2.1.0 from 2.18 on.
NUMPY_2_SINCE = "2.18"
KERAS_3_SINCE = "2.16"
# keras 3.15.1 src/trainers/trainer.py: jit_compile="auto" compiles fit when a GPU is visible and no strategy is active.
XLA_BY_DEFAULT_SINCE = "2.16"
# PTX of compute_80 and compute_90 does not come up on these; defect blackwell-not-supported names the threads.
PTX_BROKEN_FROM = 100


def release_of(version: str) -> TfRelease | None:
    """Return the row of that minor release, whatever the patch; None for one that is not in the table."""
    return _by_minor().get(versions.parse(version)[:2])


def releases_for_python(python: str, *, prereleases: bool = False) -> tuple[TfRelease, ...]:
    """Return the releases that have a wheel for this Python, oldest first."""
    wanted = versions.minor(python)
    return tuple(
        each for each in _by_minor().values() if wanted in each.python and (prereleases or not each.prerelease)
    )


def defects_of(version: str) -> tuple[Defect, ...]:
    """Return what is wrong with exactly this version: 2.16.1's fault is not 2.16.2's."""
    return tuple(each for each in _defects() if _affected(version, each))


def defect(id_: str, version: str) -> Defect | None:
    """Return that defect if this very version has it."""
    return next((each for each in defects_of(version) if each.id == id_), None)


def finds_its_wheels(version: str) -> bool:
    """Tell whether `pip install tensorflow[and-cuda]` alone shows a GPU: False for 2.16.1 and 2.21.0, see their defects.

    Ask before advising a version; the newest stable one is among those that fail.
    """
    return all(each.cause != "and-cuda-wheels" for each in defects_of(version))


def sonames_needed(version: str) -> tuple[str, ...]:
    """Return the libraries that the official Linux wheel must find to show a GPU; () means unknown, not none."""
    release = release_of(version)
    return () if release is None else release.sonames


def requirement_of(version: str, package: Package, python: str | None = None) -> str | None:
    """Return the specifier that this patch itself states ("" if it states none); None for an unknown release."""
    release = release_of(version)
    if release is None:
        return None
    first = versions.parse(version) == versions.parse(release.first)
    if package == "numpy" and release.numpy_from_python_3_12 and python and versions.at_least(python, "3.12"):
        return release.numpy_from_python_3_12
    if first and package == "numpy" and release.numpy_first:
        return release.numpy_first
    if package == "protobuf" and release.protobuf_first and defect("protobuf-unbounded", version):
        return release.protobuf_first
    return {
        "numpy": release.numpy,
        "keras": release.keras,
        "protobuf": release.protobuf,
        "h5py": release.h5py,
        "ml_dtypes": release.ml_dtypes,
    }[package]


def covers(release: TfRelease, cc: str | int) -> Coverage:
    """Tell what code the wheel has for a GPU: binary, binary in part, PTX to be compiled, PTX that fails, or none.

    Binary code for X.y runs on X.z with z >= y; PTX compiles for the same or anything newer.
    """
    capability = versions.capability(cc)
    if any(runs_on(code, capability) for code in release.sass):
        return "sass"
    if any(runs_on(code, capability) for code in release.sass_partial):
        return "partial"
    if any(code <= capability for code in release.ptx):
        return "ptx-broken" if capability >= PTX_BROKEN_FROM else "ptx"
    return "none"


def runs_on(sass: int, capability: int) -> bool:
    """Tell whether binary code for one compute capability runs on another (both as numbers)."""
    return sass // 10 == capability // 10 and sass <= capability


def binary_objects(release: TfRelease, cc: str | int) -> tuple[int, int] | None:
    """Return (code objects with binary code for this GPU, with binary code for any): 2.21 on 9.0 gives (249, 1398).

    The rest is compiled from PTX at first use. None where no binary code fits.
    """
    capability = versions.capability(cc)
    fitting = [code for code in (*release.sass, *release.sass_partial) if runs_on(code, capability)]
    if not fitting or not release.fatbin_counts:
        return None
    binary = {name: count for name, count in release.fatbin_counts.items() if name.startswith("sm_")}
    return max(binary[f"sm_{code}"] for code in fitting), max(binary.values())


def _affected(version: str, defect: Defect) -> bool:
    """Match exact versions always, ranges only inside the table: what comes after it is unknown."""
    known = release_of(version) is not None
    return any((known or each.startswith("==")) and versions.satisfies(version, each) for each in defect.affects)


def _defects() -> tuple[Defect, ...]:
    from gpudoctor.knowledge.tensorflow_defects_data import DEFECTS as rows  # noqa: N811, PLC0415  # on first use

    return rows


@cache
def _by_minor() -> dict[tuple[int, ...], TfRelease]:
    from gpudoctor.knowledge.tensorflow_releases_data import RELEASES as rows  # noqa: N811, PLC0415  # on first use

    return {versions.parse(each.version): each for each in rows}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name == "RELEASES":
            return tuple(_by_minor().values())
        if name == "DEFECTS":
            return _defects()
        raise AttributeError(name)
