"""Why a loaded nvidia module refuses a board, read from its device number, and which driver takes it."""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor.sdk import Fix, Host, Kernel, PciGpu, drivers, either, unblocks, versions
from gpudoctor_checks.remedies import install_driver

FIRST_WITHOUT_VOLTA = "590"  # R590 has dropped Maxwell, Pascal and Volta (table of driver branches)
# The table of GPUs in the README of NVIDIA/open-gpu-kernel-modules begins with 1E02 (TITAN RTX): the first Turing.
FIRST_TURING_ID = 0x1E02


def reason_of(kernel: Kernel, boards: Iterable[PciGpu]) -> str:
    """Return why the module cannot drive the oldest of these boards, '' where the numbers do not say."""
    if not _before_turing(boards):
        return ""
    if _dropped(kernel):
        return f"R{FIRST_WITHOUT_VOLTA} and newer do not drive Volta and older GPUs"
    return "the open module drives Turing and newer only" if either(kernel.flavour, "") == "open" else ""


def driver_for(kernel: Kernel, boards: Iterable[PciGpu], host: Host | None) -> tuple[Fix, ...]:
    """Return the branch that knows every GPU, unless it is loaded: then the module of the other flavour."""
    version, newest = either(kernel.module_version, ""), drivers.recommended_branch(None).number
    if not version or not versions.at_least(version, newest) or _dropped(kernel):
        return (install_driver((), host),)
    flavour, old = either(kernel.flavour, ""), _before_turing(boards)
    if flavour == "open" and old:
        return (_other_module("", newest, "Maxwell, Pascal and Volta are driven by the proprietary module only"),)
    if flavour == "proprietary" and not old:
        return (_other_module("-open", newest, "Blackwell is driven by the open module only"),)
    return ()


def _dropped(kernel: Kernel) -> bool:
    version = either(kernel.module_version, "")
    return bool(version) and versions.at_least(version, FIRST_WITHOUT_VOLTA)


def _before_turing(boards: Iterable[PciGpu]) -> bool:
    numbers = [_number(either(each.device_id, "")) for each in boards]
    return any(0 < number < FIRST_TURING_ID for number in numbers)


def _number(text: str) -> int:
    digits = text.lower().removeprefix("0x")
    return int(digits, 16) if digits and all(each in "0123456789abcdef" for each in digits) else 0


def _other_module(suffix: str, branch: str, why: str) -> Fix:
    kind = "open" if suffix else "proprietary"
    return Fix(
        id=f"{kind}-kernel-module",
        title=f"Install the driver with its {kind} module",
        action="command",
        text=f"sudo apt install nvidia-driver-{branch}{suffix} && sudo reboot",
        gain=unblocks(why),
        risk="medium",
        effort_minutes=20,
    )
