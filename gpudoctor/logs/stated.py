"""Facts that a person states: `--fact key=value`, with the words people use; an unknown key is answered with the nearest.

A value is read leniently ("GTX 1070 8 GB", "R536", "Windows 11, WSL2", `fact_values`); what one that says nothing may mean
is never guessed, since a guessed fact decides like a known one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from gpudoctor.errors import UsageError
from gpudoctor.logs.text import CONTROL, without_escapes

NUMBER = re.compile(r"\d{1,4}(?:\.\d{1,5}){1,3}")
TENSORFLOW = re.compile(
    r"(?<![\w.])(?:tf|tensorflow)?v?(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?(?:[-.]?(?:rc|dev|alpha|beta|a|b)\d{0,8})?)(?![\d])"
)
DESCRIBED = re.compile(r"\bv(\d{1,2}\.\d{1,2}\.\d{1,2})(?:-rc\d{1,2})?-\d{1,6}-g[0-9a-f]{6,12}\b")
CAPABILITY = re.compile(r"(?:cc|capability|sm)[ _:=]{0,3}(\d{1,2}\.\d|\d{2,3})\b", re.IGNORECASE)
MAX_VALUE = 400  # a fact is a few words; what is longer was pasted by mistake
ALIASES: Mapping[str, str] = {
    "tensorflow": "tf", "tf_version": "tf", "tensorflow_version": "tf", "image": "container_image", "docker_image": "container_image",
    "cuda_reported_by_driver": "driver_cuda", "distro": "os", "distribution": "os", "platform": "os", "system": "os",
    "graphics": "gpu", "card": "gpu", "gpus": "gpu", "nvidia_driver": "driver", "driver_version": "driver",
    "cuda_version": "cuda", "cudatoolkit": "cuda", "cudnn_version": "cudnn", "python_version": "python", "py": "python",
    "note": "other", "notes": "other", "cc": "compute_capability", "module": "kernel_module", "sm_count": "multiprocessors",
}  # fmt: skip
KEYS = (
    "os", "wsl", "container", "container_image", "docker", "gpu", "gpu_count", "compute_capability", "multiprocessors",
    "driver", "driver_cuda", "kernel_module", "kernel", "libcuda", "cuda", "cudnn", "tf", "keras", "numpy", "protobuf",
    "python", "conda", "arch", "compute_mode", "mig", "secure_boot", "nouveau", "uvm", "scheduler", "storage", "nccl",
    "glibc", "cpu", "memory", "other",
)  # fmt: skip
YES = frozenset({"yes", "true", "1", "on", "enabled", "y"})
NO = frozenset({"no", "false", "0", "off", "disabled", "n", "none", "host"})
PREFIXES = ("env.", "package.")
# several facts in one word, as people paste them: "os=windows tf=2.11 gpu=RTX 5090 driver=572.16"
NEXT_FACT = re.compile(
    r"[\s,]+(?=(?:" + "|".join(map(re.escape, sorted({*KEYS, *ALIASES}))) + r"|env\.\w{1,60}|package\.[\w.-]{1,60})=)"
)


def read_facts(words: Iterable[str]) -> dict[str, str]:
    """Return the facts by their canonical key. Raises UsageError for a word that is no fact."""
    facts: dict[str, str] = {}
    for word in (part for each in words for part in NEXT_FACT.split(each)):
        key, separator, value = word.partition("=")
        if not separator:
            raise UsageError(f"--fact {word[:40]!r}: KEY=VALUE is expected, for example --fact tf=2.15")
        facts[canonical(key)] = clean(value)
    return facts


def canonical(key: str) -> str:
    """Return the key's right name. Raises UsageError with the nearest right one."""
    name = clean(key)
    for prefix in PREFIXES:
        if name.startswith(prefix) and len(name) > len(prefix):
            return name
    name = name.lower().replace("-", "_").replace(" ", "_")
    name = ALIASES.get(name, name)
    if name in KEYS:
        return name
    close = get_close_matches(name, (*KEYS, *ALIASES), n=1, cutoff=0.5)
    nearest = f" (did you mean {close[0]!r}?)" if close else ""
    raise UsageError(f"--fact: unknown key {name[:40]!r}{nearest}; known are {', '.join(KEYS)}, env.NAME, package.NAME")


def clean(text: str) -> str:
    """Return the text without what a terminal would obey, in bounds."""
    return CONTROL.sub(" ", without_escapes(text[: 2 * MAX_VALUE])).strip()[:MAX_VALUE]


def truth(text: str) -> bool | None:
    """Return a yes or no; None for what is neither."""
    first = re.split(r"[\s,;(]", text.strip().lower(), maxsplit=1)[0]
    return True if first in YES else False if first in NO else None


def number(text: str) -> str:
    """Return the first version number: "565.77 (host)" gives "565.77", "R536" and "580xx" their branch."""
    match = NUMBER.search(text) or re.search(r"(?<!\d)\d{1,4}(?!\d)", text)
    return match[0] if match is not None else ""


def tensorflow_version(text: str) -> str:
    """Return the first TensorFlow version of the text: "2.4 / tf-nightly 2.5" gives "2.4"; "2.x" gives ''.

    "v2.11.0-rc2-15-g6290819256d" is how git names 2.11.0 itself: the release was tagged after it was built.
    """
    if (described := DESCRIBED.search(text)) is not None:
        return described[1]
    match = TENSORFLOW.search(text)
    return match[1] if match is not None else ""


def capability(text: str) -> str:
    """Return a compute capability that the text names: "sm_86", "cc 8.6", "12.0"."""
    match = CAPABILITY.search(text) or re.fullmatch(r"\s*(\d{1,2}\.\d)\s*", text)
    if match is None:
        return ""
    digits = match[1]
    return digits if "." in digits else f"{digits[:-1]}.{digits[-1]}"
