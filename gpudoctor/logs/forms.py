"""Reads the answers of a form for bug reports: a heading asks ("### TensorFlow version"), a later line answers.

Between them may stand what a program printed meanwhile, and before each line what a logger puts there.

The same words in a sentence may be about somebody else's machine; a form asks for the reporter's own, so its answers are
facts, marked as said by the reporter.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gpudoctor.logs.fact_values import NO_ANSWER
from gpudoctor.logs.patterns import noise
from gpudoctor.logs.patterns.facts import FACT
from gpudoctor.logs.text import printable
from gpudoctor.model.observed import LogEvent

HEADING = "### "
# The questions as a rendered page shows them, without a mark: such a line counts only where it holds nothing else.
QUESTIONS = (
    "TensorFlow version", "Tensorflow version", "TensorFlow Version", "TF version", "Python version", "Python Version",
    "Keras version", "NumPy version", "OS platform", "OS Platform", "Operating system", "Operating System",
    "__version__", "CUDA/cuDNN", "CUDA version", "CUDA Version", "DNN version", "GPU model", "GPU Model", "Driver version",
)  # fmt: skip
ANCHORS = (HEADING, *QUESTIONS)
ASKS = re.compile(
    r"(?P<before>[^\n]{0,100}?)(?P<mark>[#*_\s\-]*)(?:(?:tensorflow|tf|python|keras|numpy|cuda|cudnn|cuda ?/ ?cudnn|(?:nvidia )?driver) version"
    # a session at Python's prompt, or one line of a shell: what it asks stands in the next line
    r"|(?:\$ ?)?(?:python\d?(?:\.\d{1,2})? -c ['\"]import tensorflow as tf; ?)?(?:print ?\()?(?:tf|tensorflow)\.__version__\)?['\"]?"
    r"|os platform(?: (?:and|&) distribution)?|operating system|gpu model(?: (?:and|&) memory)?)"
    r"(?: \((?:e\.g\.|use command|if )[^)\n]{0,60}\))?[\s:?*_]*",
    re.IGNORECASE,
)
# The other questions of the same forms: where one follows, the one before was not answered.
OTHER_QUESTION = re.compile(
    r"(?:issue type|have you reproduced|source$|custom code|mobile device|bazel version|gcc/compiler version|current behavior|expected behavior"
    r"|standalone code|relevant log output|describe the|exact command|tensorflow installed from|system information|steps to reproduce)",
    re.IGNORECASE,
)
# What a logger puts before each line: it ends with a bracket, a bar, a colon or a time, not with a word of a sentence.
PREFIX = re.compile(r".*(?:[\]|:>]|\d|\dZ|\b[FP])\s+")
DATED = re.compile(r"\d{4}-\d\d-\d\d[ T]")  # a line of a log: nobody answered
PRINTED = re.compile(
    r"\.(?:cc|cu|h|py):\d{1,5}\]|^[IWEF]\d{4} \d\d:|^(?:WARNING|INFO|DEBUG|ERROR)[: ]|^To enable the following instructions"
)
LINES_BETWEEN = 3  # GitHub leaves one empty line; people add a fence
PRINTED_BETWEEN = 8  # policy: lines of a program that got between a question and its answer
VERSION = re.compile(r"\d{1,2}\.\d{1,2}(?:\.\d{1,3}){0,2}")
PRINTED_VERSION = re.compile(r"['\"]?(\d{1,2}\.\d{1,2}\.\d{1,2}(?:-?(?:rc|dev)\d{1,8})?)['\"]?")
# "CUDA 12.4 / cuDNN 8.9", "11.6/8.6", "12.2": the driver's own number, which nvidia-smi shows, is another thing
CUDNN = re.compile(r"(?i)cudnn\D{0,20}?(\d{1,2}(?:\.\d{1,3}){0,3})|/\s{0,3}v?(\d{1,2}\.\d{1,2}(?:\.\d{1,3}){0,2})")
CUDA_AT_LEAST = 7.5  # no CUDA 8.1 or 8.9 exists, so such a number is cuDNN's; TensorFlow began with CUDA 7.5
CUDA_8 = "8.0"
MAX_ANSWER = 120
LONGEST_PRINTED = 240  # of a printed line; one that is longer is cut here
WAITS = (
    LINES_BETWEEN + 1
) * MAX_ANSWER + PRINTED_BETWEEN * LONGEST_PRINTED  # a longer rest holds lines that no form has


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
    (re.compile(r"(?i)cudnn version"), _version("cudnn")),
    (re.compile(r"(?i)driver version"), _version("driver")),
    (re.compile(r"(?i)(?:tensorflow|\btf) version"), _version("tf")),
    (re.compile(r"__version__"), lambda answer: {"tf": told[1]} if (told := PRINTED_VERSION.fullmatch(answer)) else {}),
    (re.compile(r"(?i)python version"), _version("python")),
    (re.compile(r"(?i)keras version"), _version("keras")),
    (re.compile(r"(?i)numpy version"), _version("numpy")),
    (re.compile(r"(?i)os platform|operating system"), lambda answer: {"os": answer}),
    (re.compile(r"(?i)gpu model"), lambda answer: {"gpu": answer}),
)


def cut(block: str) -> tuple[str, str]:
    """Return the block and what waits for the next one: a heading so near the end that its answer may still come."""
    tail = max(0, len(block) - WAITS)
    start = max(block.rfind(each, tail) for each in ANCHORS)
    if start < 0 or block.count("\n", start) > LINES_BETWEEN + PRINTED_BETWEEN:
        return block, ""
    start = block.rfind("\n", 0, start) + 1
    return block[:start], block[start:]


def answered(block: str, start: int, line: int) -> LogEvent | None:
    """Return the fact that the heading at `start` asks for, None where it asks for none or nobody answered."""
    end = block.find("\n", start)
    heading = printable(block[start : end if end >= 0 else len(block)][: 2 * MAX_ANSWER]).rstrip()
    before = _before(heading)
    read = next((read for asked, read in ASKED if asked.search(heading)), None)
    if before is None or read is None or end < 0:
        return None
    answer = _answer(block, end + 1, _shape(before))
    values = read(answer) if answer else {}
    if not values:
        return None
    asked = heading[len(before) :].strip()
    return LogEvent(kind=FACT, text=f"{asked}: {answer}", values={**values, "said_by": "reporter"}, line=line)


def _before(heading: str) -> str | None:
    """Return what a logger put before the heading, '' for nothing; None where the line is no heading."""
    place = heading.find(HEADING)
    if place >= 0:
        return heading[:place]
    asks = ASKS.fullmatch(heading)
    if asks is None:
        return None
    mark: str = asks["mark"]
    before = asks["before"] + mark[: len(mark) - len(mark.lstrip())] if asks["before"] else ""
    return before if not before or PREFIX.fullmatch(before) else None


def _shape(before: str) -> re.Pattern[str] | None:
    """Return what stands before the other lines: the same with other numbers; None where nothing does."""
    told = before.strip(" >")  # a form that somebody quotes may be quoted unevenly
    return re.compile(re.sub(r"\d+", r"\\d+", re.escape(before.strip())) + r"\s?") if told else None


def _answer(block: str, position: int, shape: re.Pattern[str] | None) -> str:
    blank = printed = 0
    while blank < LINES_BETWEEN and printed < PRINTED_BETWEEN:
        end = block.find("\n", position)
        if end < 0:
            return ""
        text = _bare(printable(block[position:end][: LONGEST_PRINTED + MAX_ANSWER]), shape)
        position = end + 1
        if text is None or DATED.match(text) or _is_printed(text):
            printed += 1
        elif text.startswith("#") or ASKS.fullmatch(text) or OTHER_QUESTION.match(text):
            return ""
        elif text and not text.startswith("```"):
            return "" if NO_ANSWER.fullmatch(text) else text[:MAX_ANSWER]
        else:
            blank += 1
    return ""


def _bare(text: str, shape: re.Pattern[str] | None) -> str | None:
    """Return the line without what stands before each line; None for one that lacks it."""
    text = text.strip()
    if shape is not None:
        match = shape.match(text)
        if match is None:
            return None
        text = text[match.end() :].strip()
    return text.lstrip("> ")  # a form that somebody quotes


def _is_printed(text: str) -> bool:
    return PRINTED.search(text) is not None or any(each.anchor in text and each.read(text, 1) for each in noise.ROWS)
