"""One row of the table of messages: which line says what, as data.

The anchor is a literal that stands in every line the row means; all anchors together are the cheap first sieve. Take one
that starts with a rare character (an upper-case letter): the sieve then skips ordinary text at its full speed. Never
match `file.cc:123]`: files move and lines shift with each release, messages stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gpudoctor.model.observed import LogEvent

MAX_TEXT = 400  # characters of a message kept in an event; the longest message of the table has about 330
MAX_VALUE = 200  # characters kept of one field

Refine = Callable[[dict[str, str]], dict[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Lines with `anchor` that match `regex` are events of this kind.

    Fields: the named groups that took part, then `fixed`; `refine` may derive more from them (a code from a name).
    """

    kind: str
    anchor: str
    regex: re.Pattern[str]
    fixed: Mapping[str, str] = field(default_factory=dict[str, str])
    refine: Refine | None = None

    def read(self, text: str, line: int) -> LogEvent | None:
        """Return the event that the text holds, if it does."""
        match = self.regex.search(text)
        if match is None:
            return None
        found = {name: value.strip()[:MAX_VALUE] for name, value in match.groupdict().items() if value}
        values = {**found, **self.fixed}
        if self.refine is not None:
            values = self.refine(values)
        return LogEvent(kind=self.kind, text=match[0].strip()[:MAX_TEXT], values=values, line=line)


def row(kind: str, anchor: str, regex: str, *, refine: Refine | None = None, **fixed: str) -> Pattern:
    """Return one row of a table."""
    return Pattern(kind=kind, anchor=anchor, regex=re.compile(regex), fixed=fixed, refine=refine)
