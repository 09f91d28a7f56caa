"""Mutated logs, snapshots and facts in number: no crash, no hang, nothing that a terminal would obey passes.

`python -m tests.fuzz 100000` splits the number among the kinds and prints what was run; the default suite runs a few
hundred of the same strategies. A case that takes longer than `SLOWEST_S` counts as a hang.
"""

from __future__ import annotations

import io
import json
import re
import sys
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpudoctor.codec import dumps, load_snapshot, snapshot_to_builtins
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.from_text import judge_text, overlaid
from gpudoctor.errors import SnapshotError, UsageError
from gpudoctor.logs.accepted import refuse_what_is_not_understood
from gpudoctor.logs.facts import snapshot_of
from gpudoctor.logs.intake import events_in
from gpudoctor.logs.stated import KEYS, read_facts
from gpudoctor.model.report import Outcome, Report
from gpudoctor.model.words import Level
from gpudoctor.present.style import Style
from gpudoctor.present.text import render

FIXTURES = Path(__file__).parents[1] / "fixtures"
LINES = sorted({line for path in FIXTURES.rglob("*.log") for line in path.read_bytes().splitlines()})
MACHINES = [path.read_bytes() for path in sorted(FIXTURES.glob("machines/*/snapshot.json"))]
OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
CHECKS = registry.load().checks
SLOWEST_S = 20.0  # policy: these inputs are small; a judgement takes a hundredth of it on a busy machine
MUTATIONS = 6
JUNK = st.sampled_from(
    [b"\x1b[31m", b"\x1b]0;t\x07", b"\x9b1m", b"\xe2\x80\xae", b"\x00", b"\r", b"9" * 40, b"\xff", b"nan", b"\x1b"]
)
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 10**30, -(10**18), 1.5e308, "", "\x1b[31mred", "\u202eturned", "9" * 60, "0.0", "nan", [], {}, [None], {"a": 1},
)  # fmt: skip
odd = st.one_of(st.sampled_from(ODD), st.text(max_size=20), st.integers(), st.floats(allow_nan=False))
values = st.one_of(
    st.text(max_size=60),
    st.sampled_from(["2x A100", "2.16.1", "RTX 5090", "yes", "WSL2", "\x1b[31m12.4", "9" * 50, "-1", "1e400"]),
)
facts = st.dictionaries(
    st.sampled_from((*KEYS, "env.X", "env.CUDA_VISIBLE_DEVICES", "package.numpy")), values, max_size=5
)


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    """Return lines of real texts with pieces cut out and junk put in."""
    lines: list[bytes] = []
    for _ in range(draw(st.integers(1, 6))):
        line = draw(st.sampled_from(LINES))
        at, cut = draw(st.integers(0, len(line))), draw(st.integers(0, 20))
        lines.append(line[:at] + draw(JUNK) + line[at + cut :])
    return b"\n".join(lines)


@st.composite
def snapshots(draw: st.DrawFn) -> bytes:
    """Return a recorded machine with values exchanged, left out or put in at random places."""
    document: Any = json.loads(draw(st.sampled_from(MACHINES)))
    for _ in range(draw(st.integers(1, MUTATIONS))):
        _mutate(draw, document)
    text = json.dumps(document)
    return (text[: draw(st.integers(0, len(text)))] if draw(st.integers(0, 30)) == 0 else text).encode()


def _mutate(draw: st.DrawFn, node: Any) -> None:
    """Walk down at random and change what is found there."""
    for _ in range(draw(st.integers(1, 6))):
        keys: list[Any] = list(cast("dict[str, Any]", node)) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key: Any = draw(st.sampled_from(keys))
        inner: Any = cast("Any", node)[key]
        if isinstance(inner, (dict, list)) and inner and draw(st.integers(0, 5)):
            node = cast("Any", inner)
            continue
        if draw(st.booleans()):
            node[key] = deepcopy(draw(odd))  # a list that is put in may be changed in turn
        else:
            del node[key]
        return


def refuse_if_obeyed(text: str) -> None:
    """Raise where a terminal would obey the text."""
    if OBEYED.search(text):
        raise AssertionError(repr(text))


def sound(report: Report) -> None:
    """Raise unless no check crashed and the terminal is safe."""
    crashed = [(each.code, each.reason) for each in report.checks if each.status is Outcome.CRASHED]
    if crashed:
        raise AssertionError(crashed)
    for verbose in (False, True):
        refuse_if_obeyed(render(report, style=Style(color=False), verbose=verbose))


def judge_log(text: bytes, told: dict[str, str]) -> None:
    """Read the text with the facts beside it."""
    words = read_facts(f"{key}={value}" for key, value in told.items())
    sound(judge_text(snapshot_of(tuple(events_in(io.BytesIO(text))), words), CHECKS))


def judge_machine(data: bytes, text: bytes) -> None:
    """Load the snapshot, judge it alone and with a text over it, and send it through JSON."""
    try:
        snapshot = load_snapshot(data)
    except SnapshotError as error:
        refuse_if_obeyed(str(error))
        return
    level: Level = "standard" if snapshot.probe is not None else "quick"
    sound(diagnose(snapshot, CHECKS, level=level))
    sound(judge_text(overlaid(snapshot, snapshot_of(tuple(events_in(io.BytesIO(text))))), CHECKS))
    load_snapshot(dumps(snapshot_to_builtins(snapshot)).encode())


def judge_word(word: str) -> None:
    """Read a word as a fact, as strictly as one that is typed."""
    try:
        refuse_what_is_not_understood(read_facts([word]))
    except UsageError as error:
        refuse_if_obeyed(str(error))


def timed(case: Callable[..., None], *inputs: Any) -> None:
    """Run one case; one that is much too slow is a hang."""
    begun = time.perf_counter()
    case(*inputs)
    assert time.perf_counter() - begun < SLOWEST_S


def fuzz(kind: str, count: int, *, repeatable: bool = False) -> None:
    """Run that many cases of the kind, the same ones each time or new ones; hypothesis shrinks and shows one that fails."""
    rules = settings(
        max_examples=count,
        deadline=None,
        derandomize=repeatable,
        database=None,
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much),
        print_blob=True,
    )

    @rules
    @given(logs(), facts)
    def of_logs(text: bytes, told: dict[str, str]) -> None:
        timed(judge_log, text, told)

    @rules
    @given(snapshots(), logs())
    def of_snapshots(data: bytes, text: bytes) -> None:
        timed(judge_machine, data, text)

    @rules
    @given(st.text(max_size=80), facts)
    def of_facts(word: str, told: dict[str, str]) -> None:
        timed(judge_word, word)
        for key, value in told.items():
            timed(judge_word, f"{key}={value}")

    {"logs": of_logs, "snapshots": of_snapshots, "facts": of_facts}[kind]()


def main(count: int) -> None:
    """Run them, by kind, in rounds of at most a thousand: hypothesis slows down over a long round."""
    shares = {"logs": count * 5 // 10, "snapshots": count * 3 // 10, "facts": count * 2 // 10}
    for kind, share in shares.items():
        begun = time.perf_counter()
        for done in range(0, share, 1000):
            fuzz(kind, min(1000, share - done))
            sys.stdout.write(f"\r{kind}: {min(share, done + 1000)} of {share}, {time.perf_counter() - begun:.0f} s")
            sys.stdout.flush()
        sys.stdout.write("\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
