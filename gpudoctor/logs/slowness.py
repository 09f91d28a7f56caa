"""Reads a post in which somebody asks why training is slow: the complaint, the step time, how busy the GPU is, what the code does.

A post is short, so only the beginning of a text is looked at; and without a complaint, or a GPU that is seen to idle, none
of it is an event: a step time alone is no trouble.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from gpudoctor.logs.text import printable
from gpudoctor.model.observed import LogEvent

YES, NO, UNKNOWN = "yes", "no", "unknown"  # whether a program is on the GPU while it is looked at
SAID, STEP, USE, CODE = "slow_said", "step_time", "gpu_use", "slow_code"
POST_CHARACTERS = 1 << 16  # policy: what is longer is no post
MAX_TEXT = 160
MOST = 8  # of each kind
COMPLAINT = re.compile(
    r"\bslow(?:er|ly|ness)?\b|\btak(?:es?|ing) (?:too long|so long|very long|forever|ages|hours|days)\b|\bslowed down\b"
    r"|\b(?:low|poor|bad) (?:gpu )?(?:utili[sz]ation|usage|load)\b|\bunder-?utili[sz]ed\b|\bgpu (?:is |sits |stays )?(?:mostly |almost |nearly )?idle\b"
    r"|\bgpu (?:is |are )?(?:barely|hardly|not fully) (?:used|utili[sz]ed|being used)\b|\b(?:not|no|isn't) (?:any |much )?faster\b",
    re.IGNORECASE,
)
# A program's own line, in which such a word complains of something else: it has a row of its own where it matters.
PRINTED = re.compile(
    r"\.(?:cc|cu|h|py):\d{1,5}\]|^\W{0,6}[IWEF]\d{4} \d\d:|\b(?:WARNING|INFO|DEBUG|ERROR)[: ]|\bis slow compared to|\bslow compile\b|\bcould be slow\b"
)
UNITS = {"min": 60.0, "s": 1.0, "ms": 1e-3, "millis": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "micros": 1e-6}
WHAT = r"step|batch|it(?:er(?:ation)?)?|iteration"
# A number without a unit is no time: "32 a batch" are examples.
# "5s/step", "120ms/step", "3.2 s/it", "0.8 sec/batch", "5 seconds per step", "per-step time 3.5s"
EACH = re.compile(
    rf"(?<![\w.])(?P<number>\d{{1,6}}(?:\.\d{{1,6}})?)\s?(?P<unit>(?:m|u|µ|μ|milli|micro)?s|min)(?:ec(?:ond)?s?|utes?|s)?\s?(?:/|per|a|each|for each)\s?(?:{WHAT})\b"
    r"|per-step time (?P<named>\d{1,6}(?:\.\d{1,6})?)s?",
    re.IGNORECASE,
)
RATE = re.compile(
    r"(?<![\w.])(\d{1,6}(?:\.\d{1,6})?)\s?(?:it|steps?|batch(?:es)?)/s(?:ec)?\b|global_step/sec: (\d{1,6}(?:\.\d{1,6})?)"
)
TABLE = re.compile(r"MiB /\s{1,8}\d{1,7}MiB \|\s{1,8}(\d{1,3})%")
LISTED = re.compile(r"\d{1,3}['°]?C, {1,4}(\d{1,3}) ?% \|")  # gpustat
QUERIED = re.compile(r"utilization\.gpu \[%\]")
TOLD = re.compile(
    r"\b(?:gpu[- ]?util(?:i[sz]ation)?|gpu (?:usage|load|use)\b|utili[sz]ation of (?:the |my |both )?gpus?|usage of (?:the |my )?gpus?)\b(?P<behind>[^\n.!?;]{0,80})"
    r"|(?P<before>\d{1,3}) ?% (?:gpu[- ]util|(?:gpu )?utili[sz]ation|(?:gpu )?usage|of (?:the |my )gpu\b)",
    re.IGNORECASE,
)
OTHERS = re.compile(r"\b(?:cpus?|ram|v?ram|memory|disk)\b", re.IGNORECASE)
PERCENT = re.compile(r"(?<![\d.])(\d{1,3})(?:\.\d{1,2})?\s?(?:%|percent\b)")
WISHED = re.compile(
    r"\b(?:not|reach\w*|instead of|should|expect\w*|want|full)\b|n't\b", re.IGNORECASE
)  # the figure that it is not
NEAR = 16  # characters: "not 100%, it is at 20%" wishes for the first figure only
PROCESS = re.compile(r"\|\s{1,6}\d{1,3}\s{1,6}(?:N/A\s{1,4}N/A\s{1,8})?\d{1,8}\s{1,8}(?:C|C\+G|M\+C)\s")
NO_PROCESS = "No running processes found"
OTHER_WORK = re.compile(r"\b(?:import|install|download|start-?up|boot|ssh|compil|build)\w*\b", re.IGNORECASE)
NUMBER = re.compile(r"\d{1,3}")
TRAINS = re.compile(
    r"(?:^|[\s:>\]])Epoch:? \[?\d{1,6}(?:/\d{1,6})?|\b(?:model|estimator)\.(?:fit|train)\w*\(|\btrain(?:ing|s)?\b",
    re.IGNORECASE,
)
# What code shows, by a word of its own: it tells where to look, not what it costs.
CODES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "on-cpu",  # no code, but said as plainly
        re.compile(
            r"\bonly (?:the |my )?cpu\b|\bgpu (?:is |are )?(?:not|never) (?:being )?used\b|\b(?:not|isn't|doesn't|does not) (?:using|use) (?:the |my )?gpu\b"
            r"|\bruns? on (?:the |my )?cpu instead\b",
            re.IGNORECASE,
        ),
    ),
    (
        "python-batches",
        re.compile(
            r"\b(?:fit_generator|from_generator|ImageDataGenerator|flow_from_(?:directory|dataframe)|py_func(?:tion)?|numpy_function|PyDataset)\("
            r"|\bSequence\)|\buse_multiprocessing\b|\bworkers ?= ?\d|\b(?:cv2\.imread|Image\.open|load_img|np\.load)\("
            r"|\bdef \w{0,30}gen(?:erator)?\w{0,20}\("
        ),
    ),
    ("remote-files", re.compile(r"/content/(?:g?drive|MyDrive)|\bdrive\.mount\(|\bgs://|\bs3://|\bnfs\b|/mnt/[a-z]/", re.IGNORECASE)),
    (
        "calls-in-loop",
        re.compile(r"\bfor \w[^\n]{0,80}:[^\n]{0,40}\n(?:[^\n]{0,160}\n){0,6}?[ \t>]{1,40}[^\n]{0,60}\.(?:predict|train_on_batch|predict_on_batch|fit)\("),
    ),
    ("one-example", re.compile(r"\bbatch_size ?= ?1\b(?![\d.])|\.batch\(1\)")),
    ("eager", re.compile(r"\brun_eagerly ?= ?True|\brun_functions_eagerly\(True\)|\bGradientTape\(")),
    ("histograms", re.compile(r"\bhistogram_freq ?= ?[1-9]|\bwrite_images ?= ?True")),
    ("recurrent", re.compile(r"\brecurrent_dropout ?= ?0?\.\d")),
    ("several-gpus", re.compile(r"\bMirroredStrategy\(|\bmulti_gpu_model\(")),
    ("half-precision", re.compile(r"\bmixed_float16\b")),
    ("double-precision", re.compile(r"\bfloat64\b")),
)  # fmt: skip
GRAPH = re.compile(r"\btf\.function\b")


class Post:
    """The beginning of a text, kept until it is known whether somebody complains in it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._parts: list[str] = []
        self._room = POST_CHARACTERS

    def feed(self, block: str) -> None:
        """Keep what there is room for."""
        if self._room > 0:
            self._parts.append(block[: self._room])
            self._room -= len(block)

    def text(self) -> str:
        """Return what was kept."""
        return "".join(self._parts).replace("\r\n", "\n").replace("\r", "\n")

    def events(self) -> Iterator[LogEvent]:
        """Yield what was said of slowness, and what else bears on it; nothing where neither words nor a GPU at rest do."""
        text = self.text()
        said, use = list(_said(text)), list(_use(text))
        if not said and not any(each.values.get("process") != NO for each in use):
            return
        steps, codes = list(_steps(text)), list(_codes(text))
        if (said and (steps or use or codes)) or (use and (steps or TRAINS.search(text))):
            yield from sorted([*said, *steps[-1:], *use, *codes], key=lambda each: each.line)


def _event(kind: str, text: str, at: int, **values: str) -> LogEvent:
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = printable(text[start : end if end >= 0 else len(text)]).strip()
    return LogEvent(kind=kind, text=line[:MAX_TEXT], values=values, line=text.count("\n", 0, at) + 1)


def _said(text: str) -> Iterator[LogEvent]:
    for match in islice(COMPLAINT.finditer(text), MOST):
        event = _event(SAID, text, match.start())
        if not PRINTED.search(event.text) and (TRAINS.search(event.text) or not OTHER_WORK.search(event.text)):
            yield event
            return


def _steps(text: str) -> Iterator[LogEvent]:
    """Yield the last step time: of a progress bar the one that has settled."""
    found = [(match.start(), _seconds(match)) for match in EACH.finditer(text)]
    found += [(match.start(), 1 / rate) for match in RATE.finditer(text) if (rate := float(match[1] or match[2])) > 0]
    for at, seconds in sorted(found)[-1:]:
        yield _event(STEP, text, at, seconds=f"{seconds:.6g}")


def _seconds(match: re.Match[str]) -> float:
    return float(match["number"] or match["named"]) * UNITS[(match["unit"] or "s").lower()]


def _use(text: str) -> Iterator[LogEvent]:
    """Yield how busy the GPU is: of tables the busiest GPU, else what is said of it first."""
    shown = [(int(match[1]), match.start()) for pattern in (TABLE, LISTED) for match in pattern.finditer(text)]
    shown += list(_queried(text))
    if shown:
        percent, at = max(shown)
        process = YES if PROCESS.search(text) else NO if NO_PROCESS in text else UNKNOWN
        yield _event(USE, text, at, percent=str(percent), process=process)
        return
    told = ((seen, match.start()) for match in TOLD.finditer(text) if (seen := _percent(match)) is not None)
    for figure, place in islice(told, 1):
        yield _event(USE, text, place, percent=str(figure), process=YES)


def _percent(match: re.Match[str]) -> int | None:
    if match["before"]:
        return min(int(match["before"]), 100)
    behind = OTHERS.split(match["behind"])[0]
    found = [
        int(each[1])
        for each in PERCENT.finditer(behind)
        if not WISHED.search(behind[max(0, each.start() - NEAR) : each.start()])
    ]
    return max((each for each in found if each <= 100), default=None)


def _queried(text: str) -> Iterator[tuple[int, int]]:
    """Yield the column of `nvidia-smi --query-gpu=...utilization.gpu... --format=csv`."""
    for header in islice(QUERIED.finditer(text), MOST):
        column = text.count(",", text.rfind("\n", 0, header.start()) + 1, header.start())
        position = text.find("\n", header.end()) + 1
        for row in text[position : position + 4096].split("\n"):
            cells = row.split(",")
            if len(cells) <= column or (number := NUMBER.fullmatch(cells[column].strip(" %"))) is None:
                break
            yield int(number[0]), position
            position += len(row) + 1


def _codes(text: str) -> Iterator[LogEvent]:
    for what, pattern in CODES:
        match = pattern.search(text)
        if match is not None and not (what == "eager" and "GradientTape" in match[0] and GRAPH.search(text)):
            yield _event(CODE, text, match.start(), what=what)
