"""A mangled text never raises and never lets a control character through."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpudoctor.logs.reader import read_events
from tests.logs.lines import LINES

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"
TEXTS = [
    *(path.read_text(encoding="utf-8") for path in sorted(LOGS.glob("*.log"))),
    "\n".join(line for line, _, _ in LINES),
]
# What a terminal obeys: C0 and C1 controls, line separators, and what turns the writing direction.
UNSAFE = {*map(chr, (*range(32), *range(127, 160), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))}
PIECES = st.one_of(
    st.sampled_from(["\x1b[", "\x1b]0;", "\r", "\n", "\t", "\x00", "\x9b", "\u202e", "9" * 40]), st.text(max_size=8)
)


@st.composite
def mangled(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(TEXTS))
    begin = draw(st.integers(0, len(text)))
    text = text[begin : begin + draw(st.integers(50, 4000))]
    for _ in range(draw(st.integers(1, 12))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(PIECES) + text[at + draw(st.integers(0, 30)) :]
    return text


@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(mangled())
def test_a_mangled_text_is_read_without_an_error_and_stays_harmless(text: str) -> None:
    for event in read_events(text.splitlines(keepends=True)):
        for told in (event.kind, event.text, *event.values.values()):
            assert not UNSAFE.intersection(told)
