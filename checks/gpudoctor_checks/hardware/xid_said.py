"""GD851: the log shows a fault of the GPU itself.

What it does
    Reads the kernel's Xid lines and "fallen off the bus" from a text, and looks each code up in NVIDIA's catalog.

Why it matters
    A GPU that leaves the bus, or has memory errors that cannot be corrected, ends every program on it. No software brings
    it back.

How to fix
    Take the card out of use; see to power, cooling and seating; reboot to get it back. Software and code need no change.
    Codes that a faulty program causes (13, 31, 43) are told as such.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Evidence, Finding, Log, LogEvent, Severity, Trial, check, weigh_faulty, xids
from gpudoctor_checks.said import by_hand, events, log_finding

OFF_THE_BUS = 79
DEFECTS = frozenset({"CUDA_ERROR_ECC_UNCORRECTABLE", "CUDA_ERROR_NVLINK_UNCORRECTABLE"})  # cuda.h
# Codes that a program's own fault can cause (NVIDIA Xid Errors, table of causes: "User App Error" marked).
OF_PROGRAMS = frozenset({13, 31, 32, 43, 45, 68, 69})
# cuda.h: a kernel that ended with an exception, at a bad address, or after the display's time limit
STOPS = frozenset(
    {
        "CUDA_ERROR_LAUNCH_FAILED",
        "CUDA_ERROR_ILLEGAL_ADDRESS",
        "CUDA_ERROR_MISALIGNED_ADDRESS",
        "CUDA_ERROR_LAUNCH_TIMEOUT",
    }
)
# NVIDIA's Xid catalog, code 31: repeated on the same GPU it is a possible fault of the hardware; from the third on, policy
AGAIN = 3
STOPPED = 0.4  # policy: a fault in TensorFlow or in an operation of one's own does the same
SEE_XID = "sudo dmesg | grep -i xid | tail -n 5"
READ_XID = by_hand(
    "read-xid",
    "Read the kernel's word on it, test the card",
    f"{SEE_XID}  # 48, 63, 64, 74, 79, 94, 95: the card; 13, 31, 43: mostly the program; none: run a memory test of the card",
    why="the Xid tells a faulty card from a faulty program",
    minutes=10,
)
STOP = by_hand(
    "see-to-hardware",
    "Stop using it; see to power and cooling",
    "Take the card out of use, see to its cooling, power cables and seating, then reboot; nvidia-smi -q -d TEMPERATURE,POWER shows it under load",
    why="no software brings a GPU back that left the bus",
    minutes=60,
)
DIAGNOSE = by_hand(
    "run-dcgmi-diag",
    "Test the card, and reset it",
    "dcgmi diag -r 3, then nvidia-smi --gpu-reset or a reboot; a card that fails again is to be replaced",
    why="memory errors come back on a faulty card",
    minutes=60,
)


@check(
    code="GD851",
    slug="xid-in-log",
    title="The log shows a fault of the GPU itself",
    family="hardware",
    cause="hardware-power-heat",
    core=False,
)
def faulty(log: Log, baseline: Trial | None) -> Iterator[Finding]:
    """Tell hardware codes from those of a program."""
    lost = (
        *events(log, "gpu_lost"),
        *(each for each in events(log, "cuda_error") if each.values.get("name") in DEFECTS),
    )
    # a channel that is torn down names the fault that it follows from
    found = [(each, int(each.values.get("previous") or each.values["code"])) for each in events(log, "xid")]
    hard = [each for each, code in found if code not in OF_PROGRAMS]
    soft = [each for each, code in found if code in OF_PROGRAMS]
    stopped = [each for each in events(log, "cuda_error") if each.values.get("name") in STOPS]
    off = any(each.kind == "gpu_lost" for each in lost) or any(code == OFF_THE_BUS for _, code in found)
    if hard or lost:
        yield log_finding(
            "The GPU fell off the bus (Xid 79)."
            if off
            else f"The GPU reports a fault (Xid {_code(hard[0])})."
            if hard
            else "The GPU reports a memory error that cannot be corrected.",
            weigh_faulty(0.93 if off else 0.8, baseline),
            (*hard, *lost),
            *((STOP,) if off else (DIAGNOSE, STOP)),
            cause="hardware-power-heat",
            more=tuple(_meaning(each) for each in hard[:2]),
        )
    elif stopped and not soft:
        yield log_finding(
            "A kernel of the GPU was stopped; the text does not tell whether by the program or by the card.",
            weigh_faulty(STOPPED, baseline),
            stopped,
            READ_XID,
            DIAGNOSE,
            cause="hardware-power-heat",
            know=SEE_XID,
        )
    elif soft:
        yield _of_program(soft, baseline)


def _of_program(soft: list[LogEvent], trial: Trial | None) -> Finding:
    again = sum(each.count for each in soft) >= AGAIN and len({each.values["pci"] for each in soft}) == 1
    return log_finding(
        f"Xid {_code(soft[0])} again and again on one GPU: the card may be at fault."
        if again
        else f"Xid {_code(soft[0])}: mostly a fault of the program, seldom of the card.",
        weigh_faulty(0.5, trial),
        soft,
        DIAGNOSE,
        cause="hardware-power-heat",
        severity=Severity.WARNING if again else Severity.INFO,
        more=(_meaning(soft[0]),),
    )


def _code(event: LogEvent) -> str:
    return event.values.get("previous") or event.values["code"]


def _meaning(event: LogEvent) -> Evidence:
    known = xids.xid(int(_code(event)))
    text = known.description if known is not None else "not in the catalog"
    return Evidence(label=f"Xid {_code(event)}", value=text[:120], source="NVIDIA Xid catalog")
