"""What people call their machine, in the words of the model: systems, containers, GPUs and how many of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gpudoctor.knowledge import gpus
from gpudoctor.logs.stated import capability

# "2x A10 and 2x Tesla T4" are four; "GTX 1070 (reporter); Quadro M1200 (another)" are two machines, of which the first
TOGETHER = re.compile(r"\s+and\s+|\s*\+\s*|,\s+(?=\d{1,2}\s?x\s)", re.IGNORECASE)
ALTERNATIVE = re.compile(r"\s*;\s*|\s+or\s+", re.IGNORECASE)
COUNT = re.compile(r"^\s*(?:(\d{1,2})\s?[x*]\s?|(\d{1,2})\s+(?=[A-Z]))", re.IGNORECASE)
COUNT_BEHIND = re.compile(
    r"\s*(?:\(\s*(?:x\s?(\d{1,2})|(\d{1,2})\s?x)\s*\)|(?<=\w)\s+[x*]\s?(\d{1,2}))\s*$", re.IGNORECASE
)
COUNT_WORDS = {"two": "2", "dual": "2", "three": "3", "four": "4", "quad": "4", "eight": "8"}
IN_WORDS = re.compile(rf"^\s*({'|'.join(COUNT_WORDS)})\s+(?=[A-Z])", re.IGNORECASE)
# "rtx-5090", "RTX_5090": signs between the words of a GeForce or Quadro name, whose own names have none but "Max-Q"
JOINED = re.compile(r"_|-(?!Q\b)", re.IGNORECASE)
CONSUMER = re.compile(r"[gr]tx|geforce|quadro|titan|(?<![a-z])mx[ _-]?\d", re.IGNORECASE)
SIZE_IN_NAME = re.compile(r"(\d{1,3})GB")
GLUED = re.compile(r"\b(gtx|rtx|tesla|quadro|titan|mx)(?=\d)", re.IGNORECASE)
SUFFIX = re.compile(r"(\d{3,4})(ti|super)\b", re.IGNORECASE)
MEMORY = re.compile(r"(?<![A-Za-z\d.])(\d{1,3}(?:\.\d)?)\s?G(?:i?B)?\b")
MULTIPROCESSORS = re.compile(r"(\d{1,3}) (?:multiprocessors|SMs)\b", re.IGNORECASE)
# Compute capability by the number in a GeForce name, for models that have no row of their own, and by architecture.
# Source: NVIDIA, CUDA GPU Compute Capability (also the legacy page).
SERIES = (
    (r"\b(?:rtx )?50[5-9]0\b|\brtx 5\d{3} series|\brtx pro \d{4}\b", "12.0"),
    (r"\b(?:rtx )?40[5-9]0\b|\bada\b", "8.9"),
    (r"\b(?:rtx )?30[5-9]0\b|\b(?:rtx )?a[2456]000\b|\brtx a\d{4}\b", "8.6"),
    (r"\b(?:rtx )?20[678]0\b|\bgtx 16\d0\b|\bturing\b|\bmx ?(?:450|550)\b", "7.5"),
    (r"\bvolta\b|\btitan v\b", "7.0"),
    (r"\b(?:gtx )?10[1-8]0\b|\bpascal\b|\btitan xp\b|\bmx ?[1-3]\d0\b|\bquadro p\d{3,4}\b", "6.1"),
    (r"\b(?:gtx )?9[56]0m\b|\b9[34]0mx?\b|\b8[34]0m\b|\b(?:gtx )?750\b|\bquadro k(?:620|1200|2200)\b", "5.0"),
    (r"\b(?:gtx )?9[5-8]0m?\b|\bquadro m\d{4}\b|\bmaxwell\b", "5.2"),
    (r"\btesla k10\b|\bquadro k[245]000\b|\bquadro k4200\b|\bgtx (?:6[5-9]0|7[67]0)\b", "3.0"),
    (r"\bkepler\b|\btesla k\d0\b|\bgtx 780\b|\b(?:gtx )?titan black\b|\bgtx titan\b(?! x)", "3.5"),
    (r"\bgtx (?:4[678]0|5[789]0)\b", "2.0"),
    (r"\bgtx (?:4[56]0|5[56]0)\b|\bfermi\b", "2.1"),
    (r"\bampere\b", "8.0"),
    (r"\bhopper\b", "9.0"),
    (r"\bblackwell\b", "12.0"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedGpu:
    """One GPU as somebody names it; '' and None where nothing was said or is known."""

    name: str
    compute_capability: str = ""
    memory_bytes: int | None = None
    multiprocessors: int | None = None


def named_gpus(text: str) -> tuple[NamedGpu, ...]:
    """Return the GPUs that the text names, each as often as it says."""
    return tuple(_gpus(ALTERNATIVE.split(text.strip())[0]))


def as_many(named: tuple[NamedGpu, ...], count: int) -> tuple[NamedGpu, ...]:
    """Return so many GPUs: those that are named, over and over, or GPUs that nobody named."""
    if not 0 < count <= gpus_at_most():
        return named
    return ((named or (NamedGpu(name=""),)) * count)[:count]


def gpus_at_most() -> int:
    """Return how many GPUs of one machine are believed: the largest server boards have 16."""
    return 16


def _gpus(text: str) -> Iterator[NamedGpu]:
    for part in TOGETHER.split(text):
        count, name = _counted(IN_WORDS.sub(lambda word: f"{COUNT_WORDS[word[1].lower()]}x ", part))
        if re.search(r"[A-Za-z]", name) and not re.fullmatch(r"(?i)gpus?", name):
            yield from (_gpu(name),) * min(max(count, 1), gpus_at_most())


def _counted(part: str) -> tuple[int, str]:
    """Return how many, and of what: "2x A100", "RTX 3090 (x2)"."""
    if (before := COUNT.match(part)) is not None:
        return int(before[1] or before[2]), part[before.end() :].strip()
    if (behind := COUNT_BEHIND.search(part)) is not None:
        return int(behind[1] or behind[2] or behind[3]), part[: behind.start()].strip()
    return 1, part.strip()


def _gpu(text: str) -> NamedGpu:
    parted = JOINED.sub(" ", text) if CONSUMER.search(text) else text.replace("_", " ")
    spaced = SUFFIX.sub(r"\1 \2", GLUED.sub(r"\1 ", parted))
    spec = gpus.spec_for(spaced) or gpus.spec_for(re.sub(r"(?i)\bgeforce (?=10[5-8]0\b)", "GTX ", spaced))
    known = spec.nvml_names[0] if spec is not None and spec.nvml_names else ""
    told, sold = MEMORY.search(text), SIZE_IN_NAME.search(known)
    if told is not None and sold is not None and told[1] != sold[1]:  # another one of that model: "A100 80GB"
        known = ""
    size = told or sold
    memory = float(size[1]) if size is not None else spec.memory_gb[0] if spec is not None and spec.memory_gb else None
    units = MULTIPROCESSORS.search(text)
    bare = re.sub(r"\s*\(.*", "", spaced).strip()
    return NamedGpu(
        name=known or bare or spaced[:60],
        compute_capability=capability(text) or (spec.cc if spec is not None else _by_series(spaced)),
        memory_bytes=int(memory * 2**30) if memory is not None else None,
        multiprocessors=int(units[1]) if units is not None else spec.sm_count if spec is not None else None,
    )


def _by_series(text: str) -> str:
    return next((cc for pattern, cc in SERIES if re.search(pattern, text, re.IGNORECASE)), "")


def system(text: str) -> dict[str, str]:
    """Return os (linux, windows, darwin), distribution, wsl and container as the words say; {} for none."""
    low = text.lower()
    found: dict[str, str] = {}
    if "wsl" in low:
        found = {"os": "linux", "wsl": "yes"}
    elif "windows" in low or re.search(r"\bwin(?:10|11|32|64|dows)?\b", low):
        found = {"os": "windows"}
    elif re.search(r"\bmac ?os|darwin|os ?x\b|^\s*mac\b", low):
        found = {"os": "darwin"}
    elif re.search(
        r"linux|ubuntu|debian|centos|fedora|red ?hat|rhel|rocky|alma|mint|arch|suse|gentoo|colab|kaggle|pop!?_os|manjaro|nixos",
        low,
    ):
        found = {"os": "linux"}
    if found.get("os") == "linux" and (
        name := re.search(r"(?i)(ubuntu|debian|centos|fedora|rhel|rocky|linux mint|arch)[^,;()]*", text)
    ):
        found["distribution"] = name[0].strip()[:40]
    if kind := container(text):
        found["container"] = kind
    return found


def container(text: str) -> str:
    """Return the kind of container that the words name; '' for none."""
    low = text.lower()
    kinds = (
        (r"kubernetes|k8s|\bpod\b|gpu-operator", "kubernetes"),
        (r"podman", "podman"),
        (r"singularity|apptainer", "singularity"),
        (r"docker|nvcr\.io|containerd|\bcontainer\b", "docker"),
    )
    return next((kind for pattern, kind in kinds if re.search(pattern, low)), "")
