"""Whatever a text or a fact holds: no crash of a reader or a check, and nothing that a terminal would obey passes."""

from __future__ import annotations

import io
import re
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.from_text import judge_text
from gpudoctor.errors import UsageError
from gpudoctor.logs.facts import snapshot_of
from gpudoctor.logs.intake import events_in
from gpudoctor.logs.stated import KEYS, read_facts
from gpudoctor.model.report import Outcome
from gpudoctor.present.style import Style
from gpudoctor.present.text import render

FIXTURES = Path(__file__).parents[2] / "fixtures"
LINES = sorted({line for path in FIXTURES.rglob("*.log") for line in path.read_bytes().splitlines()})
OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
CHECKS = registry.load().checks
JUNK = st.sampled_from(
    [b"\x1b[31m", b"\x1b]0;t\x07", b"\x9b1m", b"\xe2\x80\xae", b"\x00", b"\r", b"9" * 40, b"\xff", b"nan"]
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Return lines of real texts with pieces cut out and junk put in."""
    lines: list[bytes] = []
    for _ in range(draw(st.integers(1, 5))):
        line = draw(st.sampled_from(LINES))
        at, cut = draw(st.integers(0, len(line))), draw(st.integers(0, 20))
        lines.append(line[:at] + draw(JUNK) + line[at + cut :])
    return b"\n".join(lines)


values = st.one_of(
    st.text(max_size=60), st.sampled_from(["2x A100", "2.16.1", "RTX 5090", "yes", "WSL2", "\x1b[31m12.4", "9" * 50])
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=mutated(), facts=st.dictionaries(st.sampled_from((*KEYS, "env.X", "package.numpy")), values, max_size=4))
def test_no_text_and_no_fact_breaks_anything_or_reaches_the_terminal(text: bytes, facts: dict[str, str]) -> None:
    snapshot = snapshot_of(
        tuple(events_in(io.BytesIO(text))), read_facts(f"{key}={value}" for key, value in facts.items())
    )

    report = judge_text(snapshot, CHECKS)

    assert [(each.code, each.reason) for each in report.checks if each.status is Outcome.CRASHED] == []
    assert OBEYED.search(render(report, style=Style(color=False), verbose=True)) is None


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80))
def test_a_word_that_is_no_fact_is_a_usage_error_without_escapes(word: str) -> None:
    said = ""
    try:
        read_facts([word])
    except UsageError as error:
        said = str(error)
    assert OBEYED.search(said) is None
