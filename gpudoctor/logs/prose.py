"""Tells which facts of a sentence are in use: "I installed tensorflow 2.16.1 with pip, RTX 3080, driver 535".

A clause counts where a person speaks of the own machine, or where it holds nothing but facts. What is wanted, was tried
before, is compared with or belongs to somebody else stands in the same words, so each fact is left out that such a word
comes before; two answers to one question are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

OWN = r"(?<![\w/.\\-])"  # no part of a path, a package's longer name or a library
IS = r"(?:[ -]?versions?)?(?: is| ==?|[:=]{1,2})?\s{0,2}"
# What names each fact, the value in its first group.
FACTS: Mapping[str, re.Pattern[str]] = {
    "tf": re.compile(
        rf"(?i){OWN}(?:tensorflow|tf)(?:-gpu)?(?:\[and-cuda\])?{IS}v?(\d\.\d{{1,2}}(?:\.\d{{1,2}})?)(?![\w.-]*\d)"
        rf"|{OWN}version (\d\.\d{{1,2}}(?:\.\d{{1,2}})?) of tensorflow\b"
    ),
    "cuda": re.compile(rf"(?i){OWN}cuda(?: ?toolkit)?{IS}v?(\d{{1,2}}\.\d{{1,2}})"),
    "cudnn": re.compile(rf"(?i){OWN}cudnn{IS}v?(\d{{1,2}}(?:\.\d{{1,3}}){{1,3}})"),
    "python": re.compile(rf"(?i){OWN}python{IS}v?(3\.\d{{1,2}}(?:\.\d{{1,2}})?)(?![\d/])"),
    "driver": re.compile(rf"(?i){OWN}drivers?{IS}v?(\d{{3}}(?:\.\d{{1,3}}){{0,2}})(?![\w%])"),
    "os": re.compile(
        rf"(?i){OWN}\b(wsl ?2?|windows (?:10|11)|ubuntu \d\d\.\d\d|mac ?os|debian \d{{1,2}}|fedora \d\d|centos \d|rocky(?: linux)? \d"
        r"|rhel \d|arch linux|linux mint \d\d|linux)\b(?!-)"
    ),
    "container": re.compile(r"(?i)\b(?:in|inside|using|with|via) (?:a |the |my )?(?:\w{2,12} )?(docker)\b"),
    "conda": re.compile(
        r"(?i)\binstalled (?:tensorflow|tf)\b(?:(?!\bpip\b)[^;]){0,40}? (?:with|via|using|from|through) (?:ana|mini)?(conda)\b(?! env)"
    ),
    "gpu": re.compile(
        rf"(?i){OWN}((?:(?:[2-8] ?x|two|four|eight) )?(?:nvidia )?(?:geforce )?(?:(?:[gr]tx|quadro|tesla|titan) ?(?:rtx )?[a-z]{{0,2}}\d{{2,4}}"
        r"(?:[- ]?ti)?(?:[- ]?super)?(?: laptop)?|titan (?:xp|x|v|rtx)|[ahvp]100|h200|b200|l40s?|(?-i:A10G?|A30|A40|T4|L4|K80)|rtx a\d{4}))(?=s?\b)(?!-\d)"
    ),
}  # fmt: skip
ANY = re.compile(
    r"(?i)tensorflow|\btf|cuda|cudnn|python|driver|[gr]tx|quadro|tesla|titan|\b[ahbvptkl]\d{1,3}|linux|ubuntu|windows|wsl"
)
# Where a sentence or its clause ends; a dot between digits is no end
CLAUSE = re.compile(
    r"[.!?]+(?=\s|$)|;|\s[-\u2013\u2014]\s|,? (?:but|while|whereas|however|because|although|so that|and then)\b|\bthen\b"
)
SPEAKS = re.compile(
    r"(?i)\b(?:i|i'm|i've|im|we|we're|we've|my|our)\b"
    r"|^(?![^\n]*\byou\b)\W*(?:(?:currently|just|now|still|here) )?(?:using|running|installed|on|with|i'm|setup|system|specs?|environment|env|machine|pc|hardware|config\w*)\b"
)
# Before a fact they make it another's, a wish, a memory or a condition
NOT_IN_USE = re.compile(
    r"(?i)\b(?:tr(?:y|ied|ying)|test(?:ed|ing)?|want\w*|wish\w*|need\w*|requir\w*|should|could|would|must|if|when|unless|support\w*|compatible"
    r"|recommend\w*|suggest\w*|before|previous\w*|earlier|former\w*|old|older|original\w*|used to|was|were|had|downgrad\w*|compil\w*|built|build|compar\w*"
    r"|than|versus|vs|instead|friends?|colleagues?|coworkers?|others?|another|someone|somebody|elsewhere|docs?|documentation|tutorial|guide|says?|said|according"
    r"|does|did|do|can|will|which|what|how|why|is there|are there|plan\w*|consider\w*|thinking|going to|about to|buy\w*|from|until|except|not|no|never|without"
    r"|remov\w*|uninstall\w*|replac\w*|work(?:s|ed|ing)?|expect\w*|read|saw|seen|looking|latest|minimum|at least|for|like|switch\w*|return\w*|cannot|lib\w*)\b|n't\b|nvidia-smi"
)
# Behind a fact: it is spoken of, not used
SPOKEN_OF = re.compile(
    r"(?i)[)\s]{1,2}(?:\(?or (?:higher|newer|later|above)|requires?|needs?|supports?|was|were|worked|works\b|used to|before|(?:is|are) (?:required|needed|recommended|supported|too|not))|\+|\?"
    r"|\s?(?:and|or|/)\s?v?\d{1,2}\.\d"
)
MINE = re.compile(r"(?i)\bmy (?:new |own |single |desktop |laptop )?(?:nvidia )?(?:geforce )?$")
# Other drivers are no driver of the GPU; what may stand before the word
OTHER_DRIVER = re.compile(r"(?i)([a-z]\w*)[ :-]{1,2}$")
GPU_DRIVER = frozenset(
    ["nvidia", "gpu", "graphics", "display", "video", "geforce", "ready", "studio", "proprietary", "open", "and", "with", "on", "the", "my", "a", "plus", "using", "use", "have", "has", "current", "installed", "ubuntu", "linux", "is", "'nvidia'"]
)  # fmt: skip
# Words that a bare list of facts may hold besides
BETWEEN = frozenset(
    ["and", "with", "on", "in", "using", "via", "the", "a", "an", "gpu", "gpus", "graphics", "card", "video", "nvidia", "geforce", "driver", "drivers", "os", "operating", "system", "version", "versions", "python", "tensorflow", "tf", "cuda", "toolkit", "cudnn", "keras", "pip", "conda", "lts", "bit", "x64", "pro", "home", "linux", "name", "model", "my"]
)  # fmt: skip
LABEL = re.compile(r"\W{0,6}[A-Za-z][\w /]{1,24}:")
QUOTED = re.compile(
    r"(?i:^\s*(?:>|\$|#!|import |from |collecting|requirement|downloading|using cached|found existing|file \"|traceback|pip |conda |apt|sudo ))"
    r"|\.(?:cc|cu|h|py):\d{1,5}\b|^\W{0,6}[IWEF]\d{4} \d\d:|^\W{0,3}\d{4}-\d\d-\d\d|\b(?:WARNING|INFO|DEBUG|ERROR)\b|\|"
)
# Where a line that is wrapped by hand does not go on: it is blank or begins a list, a quotation, an answer, a new sentence of the writer
ANEW = re.compile(r"\s*$|\s{4}|\s*(?:[-*+#>|`$=~]|\d{1,2}[.)]\s)|\W{0,3}(?:I|I'm|I've|My|We|We're|We've|Our)\b")
ENDED = re.compile(r"[.!?:;|][\W_]*$")
# A word that is never a sentence's last: what follows belongs to it, whatever it begins with
GOES_ON = re.compile(
    r"(?i)(?:,|\b(?:a|an|the|my|our|and|with|on|in|of|to|from|for|or|than|under|inside|using|use|via|is|are|has|have|i|we|installed|two|four|eight|nvidia|geforce|[gr]tx|tesla|quadro|titan|tensorflow|tf|cuda|cudnn|python|drivers?|version|ubuntu|windows))\s*$"
)
BELONGS_BEFORE = re.compile(r"\s{0,3}(?:[a-z(]|(?:Ti|Super|SUPER|Laptop)\b)")
MOST_WRAPPED = 8  # policy: lines of one sentence about a machine
LONGEST = 600  # policy: a line of prose; what is longer was printed


def stated_in(text: str) -> dict[str, str]:
    """Return the facts that the lines of a text state, those on which they agree."""
    said: dict[str, list[str]] = {}
    for line in _unwrapped(text.split("\n")):
        if len(line) <= LONGEST and ANY.search(line) and not QUOTED.search(line):
            for key, value in _in_line(line):
                said.setdefault(key, []).append(value)
    return {key: agreed for key, values in said.items() if (agreed := _agreed(key, values))}


def _unwrapped(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines, those of a sentence that was wrapped by hand in one."""
    held, count = "", 0
    for line in lines:
        if held and count < MOST_WRAPPED and _goes_on(held, line):
            held, count = f"{held.rstrip()} {line.lstrip()}", count + 1
            continue
        if held:
            yield held
        held, count = line, 1
    yield held


def _goes_on(before: str, line: str) -> bool:
    """Return whether a line is the rest of the sentence before it, which tells of a machine or ends in its middle."""
    if ANEW.match(line) or LABEL.match(line) or ENDED.search(before) or len(before) + len(line) > LONGEST:
        return False
    if QUOTED.search(before) or QUOTED.search(line) or not (ANY.search(before) or SPEAKS.search(before)):
        return False
    if BELONGS_BEFORE.match(line) or (line[0].isdigit() and SPEAKS.search(before)):
        return True
    return GOES_ON.search(before) is not None or NOT_IN_USE.search(before.rsplit(maxsplit=1)[-1]) is not None


def _in_line(line: str) -> Iterator[tuple[str, str]]:
    stated = False
    for clause, asks in _clauses(line):
        found = [(key, match) for key, pattern in FACTS.items() for match in pattern.finditer(clause)]
        spoken = SPEAKS.search(clause) is not None and not asks
        denied = NOT_IN_USE.search(clause)
        used = clause if denied is None else clause[: denied.start()]
        listed = _is_list(clause, found) and (stated or len({key for key, _ in found}) > 1 or LABEL.match(clause))
        stated = bool(found and (spoken or listed))
        for key, match in found:
            owned = key == "gpu" and MINE.search(clause[: match.start()]) is not None
            if owned or ((spoken or listed) and match.start() < len(used) and _is_used(key, clause, match)):
                yield key, next(each for each in match.groups() if each)


def _clauses(line: str) -> Iterator[tuple[str, bool]]:
    """Yield each clause, and whether it is a question."""
    position = 0
    for end in CLAUSE.finditer(line):
        yield line[position : end.start()], "?" in end[0]
        position = end.end()
    yield line[position:], False


def _is_list(clause: str, found: list[tuple[str, re.Match[str]]]) -> bool:
    rest = list(clause)
    for _, match in found:
        rest[match.start() : match.end()] = " " * (match.end() - match.start())
    return bool(found) and all(each.lower() in BETWEEN for each in re.findall(r"[\w'.%]*\w", "".join(rest)))


def _is_used(key: str, clause: str, match: re.Match[str]) -> bool:
    before = clause[: match.start()]
    if SPOKEN_OF.match(clause, match.end()) or (key == "cuda" and "nvidia-smi" in clause):  # it shows the driver's own
        return False
    if key == "driver" and (word := OTHER_DRIVER.search(before)) is not None:
        return word[1].lower() in GPU_DRIVER or any(each.search(before[-30:]) for each in FACTS.values())
    return True


def _agreed(key: str, values: list[str]) -> str:
    """Return the fullest of values that say the same; '' where they do not."""
    if key == "os" and (inside := [each for each in values if each.lower().startswith("wsl")]):
        return inside[0]  # what runs there is Linux, whatever is around it
    if key == "conda":
        return "yes"
    longest = max(values, key=len)
    same = all(_plain(longest).startswith(_plain(each)) for each in values)
    if key == "gpu":
        same = all(_plain(longest) == _plain(each) for each in values)
    if key == "os":
        named = {_plain(longest), "" if "windows" in longest.lower() else "linux"}
        same = all(_plain(each) in named for each in values)
    return longest if same else ""


def _plain(value: str) -> str:
    return re.sub(r"(?i)nvidia|geforce|[\s-]", "", value).lower()
