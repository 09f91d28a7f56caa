"""Evidence from figures that may be missing: what is unknown is left out, never shown as zero."""

from __future__ import annotations

from gpudoctor.sdk import Evidence, Missing


def known(source: str, *figures: tuple[str, str | float | Missing, str]) -> tuple[Evidence, ...]:
    """Return the known ones of (label, value, unit) as evidence from that source."""
    return tuple(
        Evidence(label=label, value=value, unit=unit, source=source)
        for label, value, unit in figures
        if not isinstance(value, Missing)
    )
