"""How driver and TensorFlow come together: by a newer driver where the GPU still gets one, else by an older TensorFlow.

Advising the recommended driver whatever is needed would be tempting; for a K80 that is R470, which no TensorFlow of today
runs on, and which is often installed already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpudoctor.sdk import Driver, Fix, Host, Python, TensorFlow, drivers, either, versions
from gpudoctor_checks.installing import elsewhere
from gpudoctor_checks.remedies import TURING, install_driver, release_for_driver


def newest_for(capabilities: Sequence[int], *, windows: bool) -> int:
    """Return the first field of the newest driver advised for these GPUs: of the oldest GPU's last branch."""
    branch = drivers.recommended_branch(min(capabilities, default=None))
    return branch.windows[1] if windows and branch.windows is not None else int(branch.number)


def reachable(needed: str, capabilities: Sequence[int], *, windows: bool) -> bool:
    """Return whether a driver that serves these GPUs is as new as needed."""
    return newest_for(capabilities, windows=windows) >= versions.parse(needed)[0]


def outlived(needed: str, capabilities: Sequence[int], *, windows: bool) -> bool:
    """Return whether driver support for the oldest of these GPUs ended before there was one as new as needed."""
    last = drivers.last_branch_for(min(capabilities)) if capabilities else None
    return last is not None and not reachable(needed, capabilities, windows=windows)


def reach_driver(
    needed: str,
    driver: Driver,
    capabilities: Sequence[int],
    tensorflow: TensorFlow,
    host: Host | None,
    python: Python | None,
) -> tuple[Fix, ...]:
    """Return the fixes, the surest first; the GPU's last branch only where it is not here yet and helps an older TensorFlow."""
    older = release_for_driver(driver, capabilities, tensorflow, python)
    last = newest_for(capabilities, windows=driver.windows_numbering)
    here = versions.at_least(either(driver.version, "0"), str(last))
    if not here and last >= versions.parse(needed)[0]:
        return (install_driver(capabilities, host), *older)
    if older:
        return older
    under_last = release_for_driver(replace(driver, version=f"{last}.999"), capabilities, tensorflow, python)
    if under_last and not here:
        return (
            *(replace(each, title=each.title.replace("Same driver", "After that")) for each in under_last),
            install_driver(capabilities, host),
        )
    return (elsewhere(min(capabilities, default=TURING)),)
