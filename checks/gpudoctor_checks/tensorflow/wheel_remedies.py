"""Cures of a wheel that does not exist: a release that has one for this Python, or a Python that the release serves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.sdk import Fix, LogEvent, tensorflow_releases, versions
from gpudoctor_checks.said import by_hand, command, newest

BITS = by_hand(
    "python-64-bit",
    "Install a 64-bit Python",
    "python -c \"import struct; print(struct.calcsize('P') * 8)\"  # 32: install the 64-bit Python, then the wheel again",
    why="the wheel is for this Python version, and TensorFlow has wheels for 64 bits only",
)
PLAIN_NAME = newest(
    "install-tensorflow",
    "Install tensorflow, which has CUDA itself",
    "python -m pip install {}",
    why="from 2.1 on both names brought the same build; take the old name out of the list of requirements, too",
    minutes=3,
)
NEWER_PIP = command(
    "upgrade-pip",
    "Renew pip, then install again",
    "python -m pip install --upgrade pip",
    why="from 1.15 on the wheels are tagged manylinux2010 or later, which pip before 19.0 does not see",
    minutes=1,
)
FOR_ARM = by_hand(
    "tensorflow-for-arm",
    "Take a TensorFlow built for this ARM board",
    "A Jetson: NVIDIA's wheel or l4t-tensorflow image of your JetPack (docs.nvidia.com, Installing TensorFlow for Jetson); another ARM"
    " machine with an NVIDIA GPU: NVIDIA's container. PyPI's aarch64 wheels, from 2.10 on, compute on the CPU",
    why="wheels for x86_64 do not run on ARM",
    minutes=30,
)
# pip lists what it may install: whoever sees 1.14 or a test release of 2.0 has a Python with wheels of 1.15 and 2.0, too
# (PyPI: 2.7 and 3.5 to 3.7), so nothing after them is hidden by Python
FIRST_NEW_TAG = "1.15"
# the last Python with wheels of TensorFlow 1.x (PyPI, tensorflow 1.13 to 1.15)
LAST_FOR_1 = "python3.7"
VERSION = re.compile(r"\d{1,2}\.\d{1,2}(?:\.\d{1,2})?")
FINAL = re.compile(r"\d{1,2}\.\d{1,2}\.\d{1,2}")


def fixes_for(
    wanted: str, own: str, there: str, found: tuple[LogEvent, ...], *, arm: bool = False, windows: bool = False
) -> Iterator[Fix]:
    if arm:
        yield FOR_ARM
        return
    if pip_is_old(wanted, found):
        yield NEWER_PIP
        return
    fitting = tensorflow_releases.releases_for_python(own) if versions.is_version(own) else ()
    listed = [text for each in found for text in VERSION.findall(each.values.get("versions", ""))]
    kept = there if there and there != wanted and there in listed else ""
    newest = kept or (fitting[-1].latest if fitting else max(listed, key=versions.parse, default=""))
    if versions.is_version(own) and any(
        _tag(each) and versions.parse(_tag(each)) == versions.parse(own)[:2] for each in found
    ):
        yield BITS
    elif tag := next((_tag(each) for each in found if _tag(each)), ""):
        yield _python_of_wheel(tag)
    older_python = _older_python(wanted, windows=windows)
    # a program for 1.x does not run on 2.x; and where pip saw no version at all, none is there for this Python
    another = bool(wanted and newest) and versions.parse(newest)[0] != versions.parse(wanted)[0]
    nothing = any(each.values.get("versions", "").strip() == "none" for each in found)
    if another or nothing:
        yield older_python
        if nothing:
            return
    if newest:
        yield command(
            "release-with-wheel",
            "Use a release with a wheel for this Python",
            f"python -m pip install 'tensorflow=={newest}'  # or keep one that is installed already",
            why="this Python can install it",
            release=newest,
        )
    if not another:
        yield older_python


def pip_is_old(wanted: str, found: tuple[LogEvent, ...]) -> bool:
    """Return whether pip's list ends where the tag of the wheels changed, and a release after that is asked for."""
    lists = [each.values["versions"] for each in found if each.values.get("versions") and "cut" not in each.values]
    finals = [each.strip() for text in lists for each in text.split(",") if FINAL.fullmatch(each.strip())]
    if not finals or (wanted and not versions.at_least(wanted, FIRST_NEW_TAG)):
        return False
    last = max(finals, key=versions.parse)
    return versions.parse(last)[:2] in {(1, 13), (1, 14)}


def _older_python(wanted: str, *, windows: bool) -> Fix:
    table = tensorflow_releases.release_of(wanted) if wanted else None
    last_for_2 = f"python{table.python[-1]}" if table is not None and table.python else "python3.11"
    older = LAST_FOR_1 if wanted.startswith("1.") else last_for_2
    package = f"tensorflow=={wanted}" if wanted else "tensorflow"
    there = f'py -{older[6:]} -m venv tf && tf\\Scripts\\pip install "{package}"'  # the py launcher of python.org's installer
    return command(
        "older-python",
        f"An environment with {older}",
        there if windows else f"{older} -m venv ~/tf && ~/tf/bin/pip install '{package}'",
        why="the release has a wheel for that Python",
        minutes=10,
        release=wanted or None,
    )


def _python_of_wheel(tag: str) -> Fix:
    return command(
        "fitting-python",
        f"Install the wheel with Python {tag}",
        f"python{tag} -m pip install WHEEL  # or the wheel whose name has the cp number of this Python",
        why=f"the wheel is for Python {tag} only",
        minutes=10,
    )


def _tag(event: LogEvent) -> str:
    """Return "3.5" of a wheel's name with cp35 in it; '' for none."""
    digits = event.values.get("tag", "")
    return f"{digits[0]}.{digits[1:]}" if digits.isdecimal() else ""


def why_none(wanted: str, own: str, found: tuple[LogEvent, ...], *, arm: bool) -> str:
    """Return in a sentence why pip found no wheel: the machine, pip itself, or the Python (`own`)."""
    if arm:
        return "TensorFlow's wheels on PyPI are not for this ARM machine with a GPU."
    if pip_is_old(wanted, found):
        return "This pip is too old to see the wheels of TensorFlow 1.15 and later."
    release, interpreter = f"TensorFlow {wanted}".rstrip(), f"this Python ({own})" if own else "this Python"
    return f"{release} has no wheel for {interpreter}."
