"""The table of messages, one file a subject; where two rows would read the same line, the earlier one has it.

Known noise stands first: some of it holds the very words that a real fault has.
"""

from __future__ import annotations

from gpudoctor.logs.pattern import Pattern
from gpudoctor.logs.patterns import (
    compiler,
    devices,
    driver,
    facts,
    kernel,
    libraries,
    memory,
    noise,
    other_makers,
    packages,
    pressure,
    programs,
    speed,
    training,
)

PATTERNS: tuple[Pattern, ...] = (
    *noise.ROWS,
    *pressure.ROWS,
    *driver.ROWS,
    *libraries.ROWS,
    *devices.ROWS,
    *other_makers.ROWS,
    *memory.ROWS,
    *compiler.ROWS,
    *training.ROWS,
    *speed.ROWS,
    *kernel.ROWS,
    *programs.ROWS,
    *packages.ROWS,
    *facts.ROWS,
    *pressure.LAST,
)
