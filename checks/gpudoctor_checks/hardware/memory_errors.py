"""GD803: the GPU's memory reports errors that were not corrected, or has parts out of service.

What it does
    Reads the ECC counters since the driver was loaded, rows that wait to be remapped, and retired pages.

Why it matters
    An uncorrected error ends the process that met it, often with a message that blames the program. A remap that is
    pending takes effect only after a reset; until then the bad row is in use. A remap that failed means that spare
    rows have run out: the board is worn out. Corrected errors and a few retired pages are normal wear.

How to fix
    Pending: end the GPU's processes and reset it. Uncorrected: reset, then test the board with NVIDIA's diagnostics; if
    the count rises again, have it replaced. Failed remap: have it replaced. Software cannot mend any of it, and
    nothing has to be installed. GeForce boards have no ECC counters; there the gradient check is what can be done.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    BROKEN,
    Finding,
    Fix,
    Gain,
    Gpu,
    Gpus,
    Grade,
    Missing,
    Severity,
    Skip,
    Trial,
    Weight,
    check,
    either,
    unblocks,
    weigh_faulty,
)
from gpudoctor_checks.figures import known

COUNTED = 0.9  # NVML's own counters; whether they still rise is not seen in one reading
FELL = BROKEN - {"oom"}  # running out of memory says nothing about the memory's health
TEST = Fix(
    id="test-board",  # GD901 gives the same
    title="Test the idle GPU with NVIDIA's DCGM",
    action="command",
    text="dcgmi diag -r 3",
    gain=Gain(grade=Grade.UNPROVEN, basis="tells whether the board can be trusted"),
    effort_minutes=30,
)
REPLACE = Fix(
    id="replace-board",
    title="Have the board replaced; show this to support",
    action="command",
    text="nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT > gpu-memory.txt",
    gain=unblocks("worn-out memory does not mend"),
    effort_minutes=60,
)


@check(
    code="GD803",
    slug="memory-errors",
    title="The GPU's memory reports errors",
    family="hardware",
    cause="hardware-power-heat",
)
def errors(gpus: Gpus, baseline: Trial | None) -> Iterator[Finding]:
    """Judge each GPU that counts; one without ECC has nothing to count."""
    found = [each for gpu in gpus if (each := _judge(gpu, baseline)) is not None]
    yield from found
    unknown = [f"GPU {gpu.index}: {why}" for gpu in gpus if (why := _unknown(gpu))]
    if not found and (unknown or not len(gpus)):
        raise Skip("; ".join(unknown) or "NVML lists no GPU")


def _unknown(gpu: Gpu) -> str:
    for figure in (gpu.ecc.enabled, gpu.ecc.uncorrected):
        if isinstance(figure, Missing):
            return "" if figure.reason.startswith("not_supported") else f"ECC unknown ({figure.reason})"
        if figure is False:
            return ""  # switched off: nothing is counted
    return ""


def _judge(gpu: Gpu, baseline: Trial | None) -> Finding | None:
    uncorrected, ecc = either(gpu.ecc.uncorrected, 0), gpu.ecc
    severity, fixes = Severity.WARNING, (_reset(gpu.index), TEST)
    if either(ecc.remap_failed, False):
        words, severity, fixes = "a row of its memory could not be remapped", Severity.ERROR, (REPLACE, TEST)
    elif either(ecc.remap_pending, False):
        words = "a bad row is in use until the GPU is reset"
    elif uncorrected:
        words = f"{uncorrected} memory errors were not corrected"
    else:
        return None
    fell = baseline is not None and baseline.status in FELL
    weight = Weight(confidence=COUNTED, basis="NVML's counters since the driver was loaded")
    if fell:
        weight = weigh_faulty(COUNTED, baseline)
    return Finding(
        subject=f"GPU {gpu.index}",
        summary=f"GPU {gpu.index}: {words}.",
        severity=Severity.ERROR if fell else severity,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=known(
            "NVML",
            ("uncorrected", ecc.uncorrected, "errors"),
            ("corrected", ecc.corrected, "errors"),
            ("remapped rows", ecc.remapped_rows, "rows"),
            ("retired pages", ecc.retired_pages, "pages"),
        ),
        fixes=fixes,
    )


def _reset(index: int) -> Fix:
    return Fix(
        id=f"reset-gpu-{index}",
        title="End its processes, then reset the GPU",
        action="command",
        text=f"sudo nvidia-smi -i {index} --gpu-reset",
        gain=unblocks("a pending remap takes effect, and the counters begin anew"),
        risk="medium",
    )
