"""GD102: the driver branch is past its end of life, or has dropped this GPU.

What it does
    Looks up the driver's branch (its first number; on WSL through the Windows numbers) in NVIDIA's list of branches, and
    the GPU's architecture in NVIDIA's list of what each branch drives.

Why it matters
    A branch past its end of life gets no fixes, security fixes included, and knows no newer GPU or CUDA. It does not
    make training slower: where everything works this is information, no trouble. R535, which many guides still
    recommend, ended in June 2026. A newer branch can be the wrong one, too: R590 and later have dropped Maxwell, Pascal and
    Volta, so a V100 or a GTX 1080 stays on R580.

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

DROPPED = (
    0.9  # the architecture matrix of NVIDIA's driver documentation; an early build of the branch may still drive it
)
DROPPED_AND_TRAINS = 0.5  # the facts say dropped, and it works: for how long is open
LISTED = 0.95  # the list is NVIDIA's own; what is left is an end date of a new-feature branch, a rule of thumb


@check(
    code="GD102",
    slug="driver-end-of-life",
    title="The driver branch is past its end of life",
    family="driver",
    cause="driver-end-of-life",
    core=False,
    of_text="nothing",  # a text has no date, and the driver of an old post is always past its end of life
)
def ended(driver: Driver, devices: Devices | None, host: Host | None, baseline: Trial | None) -> Iterator[Finding]:
    """Inform; warn where training on the GPU also fails, for then nobody will mend this driver."""
    version = must_know(driver.version, "the driver version")
    branch = drivers.branch_of(version, windows=driver.windows_numbering)
    if branch is None:
        raise Inconclusive(f"driver {version} is of no branch that is known here")
    day = drivers.end_of_life(branch, drivers.FACTS_DATE)
    capabilities = devices.compute_capabilities if devices is not None else ()
    outlived = _outlived(branch, devices)
    if outlived:
        yield _dropped(version, branch, outlived, min(capabilities), host, baseline)
        return
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


def _outlived(branch: drivers.Branch, devices: Devices | None) -> str:
    """Return the first GPU whose last branch is older than this one, '' where there is none."""
    if devices is None:
        return ""
    for name, capability in zip(devices.names, devices.compute_capabilities, strict=True):
        last = drivers.last_branch_for(capability)
        if last is not None and int(last.number) < int(branch.number):
            return name
    return ""


def _dropped(
    version: str, branch: drivers.Branch, gpu: str, capability: int, host: Host | None, baseline: Trial | None
) -> Finding:
    trains = baseline is not None and baseline.status == "ok" and baseline.device == "GPU"
    failed = baseline is not None and baseline.status in BROKEN
    last = drivers.last_branch_for(capability)
    gain = Gain(grade=Grade.UNBLOCKS if failed else Grade.UNPROVEN, basis="the last branch that serves this GPU")
    return Finding(
        title="The driver branch has dropped this GPU",
        summary=f"Driver {version} is of branch {branch}, which no longer serves {gpu}: its last is {last}.",
        severity=Severity.ERROR if failed else Severity.WARNING,
        confidence=DROPPED_AND_TRAINS if trains else DROPPED,
        basis="NVIDIA's architecture matrix" + (", but the probe trained on the GPU" if trains else ""),
        evidence=(
            Evidence(label="driver", value=version, source="driver"),
            Evidence(label="last branch for it", value=str(last), source="NVIDIA driver documentation"),
            Evidence(label="compute capability", value=f"{capability // 10}.{capability % 10}", source="driver"),
        ),
        fixes=(install_driver((capability,), host, gain=gain),),
    )
