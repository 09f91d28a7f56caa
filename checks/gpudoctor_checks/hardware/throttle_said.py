"""GD852: nvidia-smi in the text shows a GPU that lowers its clocks.

What it does
    Reads the reasons that `nvidia-smi -q -d PERFORMANCE` prints as active.

Why it matters
    A hot or capped GPU trains slower the longer it runs. Nothing in the program is at fault.

How to fix
    Heat: airflow, fans, dust, or a lower power limit. Power brake or cap: cables, the supply, the limit that was set.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Log, Severity, Trial, check
from gpudoctor_checks.said import by_hand, events, log_finding, unproven, weigh_program

COOL = unproven(
    by_hand(
        "improve-cooling",
        "Improve cooling, or lower the power limit",
        "See to fans, dust and airflow; sudo nvidia-smi -pl WATTS lowers the limit; watch nvidia-smi -q -d PERFORMANCE,TEMPERATURE",
        why="",
        minutes=60,
    ),
    "how much the clocks cost was not measured",
)


@check(
    code="GD852",
    slug="throttle-in-log",
    title="The text shows clocks that are lowered",
    family="hardware",
    cause="throttle",
    core=False,
)
def lowered(log: Log, baseline: Trial | None) -> Iterator[Finding]:
    """Believe the driver's own words; a software cap alone is a setting."""
    found = events(log, "throttled")
    if found:
        hot = any("Slowdown" in each.values.get("reason", "") for each in found)
        yield log_finding(
            f"The GPU lowers its clocks: {found[0].values.get('reason', 'active reason')}.",
            weigh_program(0.85 if hot else 0.6, baseline),
            found,
            COOL,
            cause="throttle",
            severity=Severity.WARNING if hot else Severity.INFO,
            know="nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER  # under load",
        )
