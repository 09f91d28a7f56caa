"""How to get back to the Python environment that was set up: use it, leave a broken one, keep other folders out."""

from __future__ import annotations

from gpudoctor.sdk import Fix, shell_path, unblocks

GAIN = unblocks("the environment that was set up is used")
NO_OVERLAY = Fix(
    id="drop-python-overlay",
    title="Keep other folders out of this environment",
    action="command",
    text="unset PYTHONPATH; export PYTHONNOUSERSITE=1",
    gain=GAIN,
    effort_minutes=1,
)


def use_interpreter(executable: str) -> Fix:
    """Return how to examine, and train with, that interpreter."""
    return Fix(
        id="point-at-python",  # GD303 offers the same without a name
        title="Examine and train with the other one",
        action="command",
        text=f"gpudoctor scan --python {shell_path(executable)}",
        gain=GAIN,
        risk="none",
        effort_minutes=1,
    )


def register_kernel(executable: str) -> Fix:
    """Return how to give that interpreter a kernel of its own, to be chosen in the notebook's menu."""
    python = shell_path(executable)
    return Fix(
        id="register-notebook-kernel",
        title="Give it a kernel; choose it in the notebook",
        action="command",
        text=f"{python} -m pip install ipykernel && {python} -m ipykernel install --user --name tensorflow",
        gain=GAIN,
        effort_minutes=2,
    )


def leave_environment(prefix: str) -> Fix:
    """Return how to leave an environment whose Python is gone."""
    return Fix(
        id="recreate-environment",
        title="Leave it, then activate one that exists",
        action="command",
        text=f"deactivate; ls {shell_path(prefix)}",
        gain=GAIN,
        effort_minutes=2,
    )
