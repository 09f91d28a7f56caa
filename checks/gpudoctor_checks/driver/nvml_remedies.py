"""What to do where NVML does not answer, by its answer and by whether this is a container."""

from __future__ import annotations

from gpudoctor.sdk import Fix, Gain, Grade, unblocks

LOST = frozenset({"unknown_error", "no_permission"})  # nvidia-container-toolkit issues 48, 251, 1227
RECREATE = Fix(
    id="recreate-container",
    title="Recreate the container, its GPU passed by CDI",
    action="command",
    text="docker run --device nvidia.com/gpu=all IMAGE",
    gain=unblocks("the container gets its device permissions back"),
    effort_minutes=5,
)
UTILITY = Fix(
    id="utility-capability",
    title="Start it with the utility capability (NVML)",
    action="command",
    text="docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility IMAGE",
    gain=Gain(grade=Grade.UNPROVEN, basis="makes the GPU's figures readable; not faster"),
)
REBIND = Fix(
    id="reinstall-nvml-bindings",
    title="Mend the NVML bindings gpudoctor uses",
    action="command",
    text="pip uninstall -y pynvml && pip install --force-reinstall nvidia-ml-py",
    gain=Gain(grade=Grade.UNPROVEN, basis="makes the GPU's figures readable; not faster"),
    effort_minutes=1,
)

LOOK = Fix(
    id="ask-nvidia-smi",
    title="See whether nvidia-smi works (NVML as well)",
    action="command",
    text="nvidia-smi",
    gain=Gain(grade=Grade.UNPROVEN, basis="tells whether it is the driver or gpudoctor's environment"),
    risk="none",
    effort_minutes=1,
)


def remedy(status: str, *, in_container: bool) -> tuple[str, tuple[Fix, ...]]:
    """Return the cause and its fixes."""
    if status == "binding_broken":
        return "pynvml", (REBIND,)
    if in_container and status in LOST:
        return "nvml-lost-in-container", (RECREATE,)
    if in_container:
        return "container-no-gpu", (UTILITY,)
    # No cause stands for "NVML is absent and nothing is wrong" (Jetson, WSL): the nearest one carries the information.
    return ("device-permission-mode" if status == "no_permission" else "pynvml"), (LOOK,)
