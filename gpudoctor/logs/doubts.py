"""What to say of a stated fact whose number is not in the tables: a release that never was reads like any other.

Refusing it would be tempting, but a table ends on the day it was made and the next release is real; so it is used, and who
typed it is told how.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from gpudoctor.knowledge import cuda_toolkits, cudnn_releases, drivers, tensorflow_early, tensorflow_releases, versions
from gpudoctor.logs import machine_text
from gpudoctor.logs.fact_values import NONE, read

UNKNOWN_BUILD = "what is in its wheels stays unknown"
NAMES = {"cuda": "CUDA", "cudnn": "cuDNN", "python": "Python with TensorFlow", "driver": "driver"}


def doubts(stated: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each stated fact that no table knows: that it is so, and how it was used."""
    for key, value in stated.items():
        told = read(key, value).get(key, "")
        judge = JUDGES.get(key)
        doubt = judge(told) if judge is not None and told else ""
        if doubt:
            yield f"--fact {key}={value!r}: {doubt}"
    yield from _of_gpus(stated)


def _tensorflow(version: str) -> str:
    row = tensorflow_releases.release_of(version)
    if row is not None:
        exact = version.count(".") == 1 or version in row.patches or versions.is_prerelease(version)
        return "" if exact else f"no such patch is known ({', '.join(row.patches)}); judged as {row.version}"
    if tensorflow_early.is_release(version):
        return ""
    newest = tensorflow_releases.NEWEST_PRERELEASE
    if versions.at_least(version, newest):
        return f"no such release is known, {newest} is the newest; judged as newer than that, {UNKNOWN_BUILD}"
    return f"no such release is known; judged by its place among those that are, {UNKNOWN_BUILD}"


def _newest(key: str, newest: Callable[[], str]) -> Callable[[str], str]:
    """Return a judge for numbers whose table holds no old ones: only what is newer than all of it is in doubt."""

    def judge(version: str) -> str:
        last = newest()
        newer = versions.parse(version)[: last.count(".") + 1] > versions.parse(last)
        return f"{last} is the newest {NAMES[key]} known; judged as newer than that" if newer else ""

    return judge


def _of_gpus(stated: Mapping[str, str]) -> Iterator[str]:
    named = stated.get("gpu", "")
    if not named or stated.get("compute_capability") or read("gpu", named).get("gpu", NONE) == NONE:
        return
    for gpu in dict.fromkeys(machine_text.named_gpus(named)):
        if not gpu.compute_capability:
            yield f"--fact gpu={named!r}: {gpu.name} is not in the table of GPUs; its compute capability was taken as unknown"


def _newest_cudnn() -> str:
    last = cudnn_releases.RELEASES[-1]
    return f"{last.major}.{last.last_minor}"


def _newest_python() -> str:
    return max((each for row in tensorflow_releases.RELEASES for each in row.python), key=versions.parse)


JUDGES: Mapping[str, Callable[[str], str]] = {
    "tf": _tensorflow,
    "cuda": _newest("cuda", cuda_toolkits.newest),
    "cudnn": _newest("cudnn", _newest_cudnn),
    "python": _newest("python", _newest_python),
    "driver": _newest("driver", drivers.newest),
}
