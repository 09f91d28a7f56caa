"""GD102: the driver branch is past its end of life.

What it does
    Looks up the driver's branch (its first number; on WSL through the Windows numbers) in NVIDIA's list of branches.

Why it matters
    A branch past its end of life gets no fixes, security fixes included, and knows no newer GPU or CUDA. It does not
    make training slower: where everything works this is information, no trouble. R535, which many guides still
    recommend, ended in June 2026.

How to fix
    Move to a long-term branch: R580 serves every GPU from Maxwell to Blackwell until 2028. Kepler stays on R470, its
    last. Change the driver between two runs, on the host for a container and on Windows for WSL, then reboot.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    BROKEN,
    Devices,
    Driver,
    Evidence,
    Finding,
    Gain,
    Grade,
    Host,
    Inconclusive,
    Severity,
    Trial,
    check,
    drivers,
    either,
    must_know,
)
from gpudoctor_checks.remedies import install_driver

LISTED = 0.95  # the list is NVIDIA's own; what is left is an end date of a new-feature branch, a rule of thumb


@check(
    code="GD102",
    slug="driver-end-of-life",
    title="The driver branch is past its end of life",
    family="driver",
    cause="driver-end-of-life",
    core=False,
)
def ended(driver: Driver, devices: Devices | None, host: Host | None, baseline: Trial | None) -> Iterator[Finding]:
    """Inform; warn where training on the GPU also fails, for then nobody will mend this driver."""
    version: str = must_know(driver.version, "the driver version")
    branch = drivers.branch_of(version, windows=driver.windows_numbering)
    if branch is None:
        raise Inconclusive(f"driver {version} is of no branch that is known here")
    day = drivers.end_of_life(branch, drivers.FACTS_DATE)
    capabilities = devices.compute_capabilities if devices is not None else ()
    if day is None or any(drivers.last_branch_for(cc) == branch for cc in capabilities):
        return
    failed = baseline is not None and baseline.status in BROKEN
    yield Finding(
        summary=f"Driver {version} is of branch {branch}, which ended in {day:%B %Y}.",
        severity=Severity.WARNING if failed else Severity.INFO,
        confidence=LISTED,
        basis="NVIDIA's list of driver branches"
        + (f", and the probe {baseline.status}" if baseline and failed else ""),
        evidence=(
            Evidence(label="driver", value=version, source=either(driver.version_from, "driver")),
            Evidence(label="branch", value=f"{branch} ({branch.type})", source="NVIDIA driver releases"),
            Evidence(label="end of life", value=day.isoformat(), source="NVIDIA driver releases"),
        ),
        fixes=(
            install_driver(
                capabilities, host, gain=Gain(grade=Grade.UNPROVEN, basis="keeps the driver maintained; not faster")
            ),
        ),
    )
