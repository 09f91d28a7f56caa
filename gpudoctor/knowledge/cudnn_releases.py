"""cuDNN 7.6 to 9.28: which GPUs each release has code for, and which one TensorFlow accepts.

A release that was not opened answers only where its documented range is beyond doubt; None means unknown. Filling the
gaps by interpolation would be tempting: 9.11 dropped three architectures between two patches. Facts of 2026-11-30.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from gpudoctor.knowledge import versions

if TYPE_CHECKING:
    from gpudoctor.knowledge.rows import cudnn_releases as rows_of

    CudnnRelease = rows_of.CudnnRelease
    RELEASES: tuple[CudnnRelease, ...]

SONAMES = MappingProxyType({7: "libcudnn.so.7", 8: "libcudnn.so.8", 9: "libcudnn.so.9"})
SUBLIBRARIES = MappingProxyType(
    {
        8: (
            "libcudnn_ops_infer.so.8",
            "libcudnn_ops_train.so.8",
            "libcudnn_cnn_infer.so.8",
            "libcudnn_cnn_train.so.8",
            "libcudnn_adv_infer.so.8",
            "libcudnn_adv_train.so.8",
        ),
        9: (
            "libcudnn_graph.so.9",
            "libcudnn_ops.so.9",
            "libcudnn_cnn.so.9",
            "libcudnn_adv.so.9",
            "libcudnn_engines_precompiled.so.9",
            "libcudnn_engines_runtime_compiled.so.9",
            "libcudnn_heuristic.so.9",
        ),
    }
)
SOURCE = "cudnn_version.h of nvidia-cudnn-cu11 8.6.0.163, cu12 8.9.7.29, 9.3.0.75, 9.10.2.21, 9.28.0.42"


def decode(number: int) -> str:
    """Return "9.10.2" for 91002 and "8.9.7" for 8907: what cudnnGetVersion answers, in either of its two forms."""
    big = 10000 if number >= 90000 else 1000
    return f"{number // big}.{number % big // 100}.{number % 100}"


def release_of(version: str) -> CudnnRelease | None:
    """Return the row that holds this version ("9.10.2.21"), or None."""
    fields = versions.parse(version)
    if len(fields) < 2:
        return None
    return next(
        (each for each in _rows() if each.major == fields[0] and each.first_minor <= fields[1] <= each.last_minor), None
    )


def has_code_for(version: str, cc: str | int) -> bool | None:
    """Tell whether this cuDNN has code for a GPU; None where that is not known."""
    release = release_of(version)
    return None if release is None else _has_code(release, versions.capability(cc))


def last_with(cc: str | int) -> str | None:
    """Return the newest minor release that certainly has code for this GPU ("7.0" gives "9.10"), or None."""
    capability = versions.capability(cc)
    found = [each for each in _rows() if _has_code(each, capability)]
    return f"{found[-1].major}.{found[-1].last_minor}" if found else None


def next_after(minor: str) -> str:
    """Return the bound that keeps pip at or below that minor release: "9.10" gives "<9.11"."""
    major, number = versions.parse(minor)[:2]
    return f"<{major}.{number + 1}"


def accepts(built_with: str, loaded: str) -> bool:
    """Tell whether a TensorFlow built with one cuDNN runs with another: same major, minor not older (TF_RULE)."""
    built, found = versions.parse(built_with), versions.parse(loaded)
    if not built or len(found) < 2:
        raise ValueError(f"not a cuDNN version: {built_with!r} or {loaded!r}")
    return found[0] == built[0] and found[1] >= (built[1] if len(built) > 1 else 0)


def _has_code(release: CudnnRelease, capability: int) -> bool | None:
    """Believe the wheel; where none was opened, the documented range and the nearest opened wheels must agree."""
    if release.verified:
        return _was_read(release, capability)
    rows = _rows()
    place = rows.index(release)
    older = next((each for each in reversed(rows[:place]) if each.verified), None)
    newer = next((each for each in rows[place:] if each.verified), None)
    answers = {_was_read(each, capability) for each in (older, newer) if each is not None}
    answers.add(release.min_cc <= capability <= release.max_cc)
    return answers.pop() if len(answers) == 1 else None


def _was_read(release: CudnnRelease, capability: int) -> bool:
    """Binary code for X.y runs on X.z with z >= y; PTX compiles for newer GPUs, up to the newest that cuDNN admits."""
    binary = any(code // 10 == capability // 10 and code <= capability for code in release.sass)
    return binary or any(code <= capability <= release.max_cc for code in release.ptx)


def _rows() -> tuple[CudnnRelease, ...]:
    from gpudoctor.knowledge.cudnn_releases_data import RELEASES as rows  # noqa: N811, PLC0415  # on first use

    return rows


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name != "RELEASES":
            raise AttributeError(name)
        return _rows()
