"""Reads the answers of a form for bug reports: a heading asks ("### TensorFlow version"), a later line answers.

The same words in a sentence may be about somebody else's machine; a form asks for the reporter's own, so its answers are
facts, marked as said by the reporter.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gpudoctor.logs.patterns.facts import FACT
from gpudoctor.logs.text import printable
from gpudoctor.model.observed import LogEvent

HEADING = "### "
DATED = re.compile(r"\d{4}-\d\d-\d\d[ T]")  # a line of a log: nobody answered
LINES_BETWEEN = 3  # GitHub leaves one empty line; people add a fence
NO_ANSWER = re.compile(r"(?i)[\W_]*(?:no response|n/?a|none|unknown|not applicable|nil|-)?[\W_]*")
VERSION = re.compile(r"\d{1,2}\.\d{1,2}(?:\.\d{1,3}){0,2}")
# "CUDA 12.4 / cuDNN 8.9", "11.6/8.6", "12.2": the driver's own number, which nvidia-smi shows, is another thing
CUDNN = re.compile(r"(?i)cudnn\D{0,20}?(\d{1,2}(?:\.\d{1,3}){0,3})|/\s{0,3}v?(\d{1,2}\.\d{1,2}(?:\.\d{1,3}){0,2})")
CUDA_AT_LEAST = 7.5  # no CUDA 8.1 or 8.9 exists, so such a number is cuDNN's; TensorFlow began with CUDA 7.5
CUDA_8 = "8.0"
MAX_ANSWER = 120
WAITS = (LINES_BETWEEN + 1) * MAX_ANSWER  # a longer rest holds lines that no form has


def _cuda(answer: str) -> dict[str, str]:
    if re.search(r"(?i)nvidia-smi|driver", answer):
        return {}
    cudnn = CUDNN.search(answer)
    rest = answer if cudnn is None else answer[: cudnn.start()]
    numbers = [each for each in VERSION.findall(rest) if _is_cuda(each)]
    found = {"cuda": numbers[0]} if numbers else {}
    return {**found, **({"cudnn": cudnn[1] or cudnn[2]} if cudnn is not None else {})}


def _is_cuda(number: str) -> bool:
    major, minor = number.split(".")[:2]
    value = float(f"{major}.{minor}")
    return value >= CUDA_AT_LEAST and (int(major) != int(float(CUDA_8)) or f"{major}.{minor}" == CUDA_8)


def _version(key: str) -> Callable[[str], dict[str, str]]:
    def read(answer: str) -> dict[str, str]:
        return {key: answer} if VERSION.search(answer) else {}

    return read


ASKED: tuple[tuple[re.Pattern[str], Callable[[str], dict[str, str]]], ...] = (
    (re.compile(r"(?i)cuda ?/ ?cudnn|cuda version"), _cuda),
    (re.compile(r"(?i)(?:tensorflow|\btf) version"), _version("tf")),
    (re.compile(r"(?i)python version"), _version("python")),
    (re.compile(r"(?i)keras version"), _version("keras")),
    (re.compile(r"(?i)numpy version"), _version("numpy")),
    (re.compile(r"(?i)os platform|operating system"), lambda answer: {"os": answer}),
    (re.compile(r"(?i)gpu model"), lambda answer: {"gpu": answer}),
)


def cut(block: str) -> tuple[str, str]:
    """Return the block and what waits for the next one: a heading so near the end that its answer may still come."""
    start = block.rfind(HEADING, max(0, len(block) - WAITS))
    if start < 0 or block.count("\n", start) > LINES_BETWEEN:
        return block, ""
    start = block.rfind("\n", 0, start) + 1
    return block[:start], block[start:]


def answered(block: str, start: int, line: int) -> LogEvent | None:
    """Return the fact that the heading at `start` asks for, None where it asks for none or nobody answered."""
    end = block.find("\n", start)
    heading = block[start : end if end >= 0 else len(block)][:MAX_ANSWER]
    read = next((read for asked, read in ASKED if asked.search(heading)), None)
    if read is None or end < 0:
        return None
    answer = _answer(block, end + 1)
    values = read(answer) if answer else {}
    if not values:
        return None
    return LogEvent(kind=FACT, text=f"{heading.strip()}: {answer}", values={**values, "said_by": "reporter"}, line=line)


def _answer(block: str, position: int) -> str:
    for _ in range(LINES_BETWEEN):
        end = block.find("\n", position)
        text = printable(block[position : end if end >= 0 else len(block)][:MAX_ANSWER]).strip()
        text = text.lstrip("> ")  # a form that somebody quotes
        if text.startswith("#") or DATED.match(text) or end < 0:
            return ""
        if text and not text.startswith("```"):
            return "" if NO_ANSWER.fullmatch(text) else text
        position = end + 1
    return ""
