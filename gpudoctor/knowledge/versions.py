"""Order version numbers and match pip-like specifiers, without the `packaging` dependency and its import time.

Only what the fact base needs of PEP 440: releases, pre-, post- and development releases; local parts are ignored. Text
that does not start with a number is refused with a ValueError: a comparison that guessed would make a false finding.
"""

from __future__ import annotations

import re
from functools import cache

_RELEASE = re.compile(r"\s*v?(\d+(?:\.\d+)*)(.*)", re.DOTALL | re.IGNORECASE)
_SUFFIX = re.compile(
    r"(?:[-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?(\d*))?"
    r"(?:-(\d+)|[-_.]?(?:post|rev|r)[-_.]?(\d*))?"
    r"(?:[-_.]?(dev)[-_.]?(\d*))?",
    re.IGNORECASE,
)
_SPECIFIER = re.compile(r"\s*(~=|===?|!=|<=|>=|<|>)\s*([^\s,;]+)\s*")
_PHASES = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}
_BEFORE_ALL, _FINAL = (-1, 0), (3, 0)  # a development release comes before its alphas, a final after its candidates
_NEVER = 1 << 62  # "not a development release" sorts after every development number

Key = tuple[tuple[int, ...], tuple[int, int], int, int]


def is_version(text: str) -> bool:
    """Tell whether the text starts with a version number."""
    return _RELEASE.match(text) is not None


def parse(text: str) -> tuple[int, ...]:
    """Return the numeric fields: "2.22.0rc0" gives (2, 22, 0), "580.65.06" gives (580, 65, 6); () if there are none."""
    match = _RELEASE.match(text)
    return tuple(int(field) for field in match[1].split(".")) if match else ()


def minor(text: str) -> str:
    """Return "2.20" for "2.20.0"; ValueError without two fields."""
    fields = parse(text)
    if len(fields) < 2:
        raise ValueError(f"no minor version in {text!r}")
    return f"{fields[0]}.{fields[1]}"


def is_prerelease(text: str) -> bool:
    """Tell whether the version comes before its release: 2.22.0rc0, 2.23.0.dev20261026."""
    _, pre, _, dev = _key(text)
    return pre != _FINAL or dev != _NEVER


def at_least(version: str, minimum: str) -> bool:
    """Tell whether `version` is `minimum` or newer."""
    return _key(version) >= _key(minimum)


def satisfies(version: str, requirement: str) -> bool:
    """Tell whether the version meets every comma-separated specifier ("<8.0.0,>=6.31.1"); an empty one is always met.

    As pip judges an installed package: a pre-release counts, though `<2.0.0` never means 2.0.0rc1.
    """
    return all(_meets(version, *_split(part)) for part in requirement.split(",") if part.strip())


def from_cuda_number(number: int) -> str:
    """Return "12.5" for 12050, the form of cudaRuntimeGetVersion, cuDriverGetVersion and NVML."""
    return f"{number // 1000}.{number % 1000 // 10}"


def capability(text: str | int) -> int:
    """Return a compute capability as a number: "8.6" gives 86, "10.0" gives 100, a number stays; else ValueError."""
    if isinstance(text, int):
        return text
    major, _, small = text.strip().partition(".")
    if not (major.isdecimal() and small.isdecimal() and len(small) == 1):
        raise ValueError(f"not a compute capability: {text!r}")
    return int(major) * 10 + int(small)


@cache
def _key(text: str) -> Key:
    match = _RELEASE.match(text)
    if match is None:
        raise ValueError(f"not a version: {text!r}")
    release = [int(field) for field in match[1].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    suffix = _SUFFIX.match(match[2])
    phase, number, dash, post_number, dev, dev_number = suffix.groups() if suffix else (None,) * 6
    is_post = dash is not None or post_number is not None
    pre = _BEFORE_ALL if dev and not is_post else _FINAL
    if phase:
        pre = (_PHASES[phase.lower()], int(number or 0))
    return (
        tuple(release),
        pre,
        int(dash or post_number or 0) if is_post else -1,
        int(dev_number or 0) if dev else _NEVER,
    )


def _split(specifier: str) -> tuple[str, str]:
    match = _SPECIFIER.fullmatch(specifier)
    if match is None:
        raise ValueError(f"not a version specifier: {specifier!r}")
    return match[1], match[2]


def _meets(version: str, operator: str, bound: str) -> bool:
    if operator in {"==", "!="}:
        return _equals(version, bound) == (operator == "==")
    if operator == "===":
        return version.strip() == bound
    if operator == "~=":
        return at_least(version, bound) and _equals(version, f"{'.'.join(map(str, parse(bound)[:-1]))}.*")
    mine, other = _key(version), _key(bound)
    if operator == "<":  # PEP 440: `<2.0` does not mean 2.0rc1, unless the bound is itself a pre-release
        return mine < other and (is_prerelease(bound) or not is_prerelease(version) or mine[0] != other[0])
    if operator == ">":  # nor does `>2.0` mean 2.0.post1
        return mine > other and (other[2] >= 0 or mine[2] < 0 or mine[0] != other[0])
    return mine <= other if operator == "<=" else mine >= other


def _equals(version: str, bound: str) -> bool:
    if not bound.endswith(".*"):
        return _key(version) == _key(bound)
    _key(version)  # refuses what is not a version
    wanted = parse(bound[:-2])
    fields = parse(version)
    return (*fields, *(0,) * (len(wanted) - len(fields)))[: len(wanted)] == wanted
