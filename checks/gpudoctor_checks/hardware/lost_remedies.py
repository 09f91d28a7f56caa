"""What brings a GPU back that the driver has given up."""

from __future__ import annotations

from gpudoctor.sdk import Fix, unblocks

RESTART = Fix(
    id="restart-machine",
    title="Save the Xid lines, then restart the machine",
    action="command",
    text="sudo dmesg | grep -i xid > xid.txt; sudo reboot",
    gain=unblocks("a lost GPU comes back only with a restart"),
    risk="medium",
)


def reset(index: int) -> Fix:
    """Return the reset of one GPU, by NVML's index."""
    return Fix(
        id=f"reset-gpu-{index}",
        title="End the GPU's processes, then reset it (if refused: restart the machine)",
        action="command",
        text=f"sudo nvidia-smi -i {index} --gpu-reset",
        gain=unblocks("no program can use the GPU before"),
        risk="medium",
    )
