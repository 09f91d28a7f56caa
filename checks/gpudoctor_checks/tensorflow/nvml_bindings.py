"""GD306: another package lies over the official NVML bindings.

What it does
    Looks for packages that bring a module named pynvml beside nvidia-ml-py, NVIDIA's own: pynvml before 12.0 and
    nvidia-ml-py3.

Why it matters
    Python then imports the old copy. It lacks newer calls and reads newer structures wrongly: monitors such as nvitop,
    gpustat and gpudoctor itself show wrong process memory, or fail. Training does not use these bindings.

How to fix
    Remove the other package, then put the official module back, for removing one takes the shared file with it:
    pip uninstall -y pynvml nvidia-ml-py3 && pip install --force-reinstall nvidia-ml-py
    pynvml 12.0 and newer is a shell around nvidia-ml-py and does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Evidence,
    Finding,
    Fix,
    Gain,
    Grade,
    Nvml,
    Packages,
    Severity,
    Trial,
    check,
    either,
    versions,
)
from gpudoctor_checks.usage import weigh_pace

OFFICIAL = "nvidia-ml-py"
# Wheels 11.5.3, 12.0.0 and 13.0.1 read: up to 11 a folder pynvml/, which Python prefers to the module pynvml.py.
HARMLESS_SINCE = "12.0"
SAME_FILE = "nvidia-ml-py3"  # 7.352.0 read: its own pynvml.py at the same place
SHADOWED = 0.9
MEND = Fix(
    id="reinstall-nvml-bindings",  # GD107 gives the same cure under the same id
    title="Keep NVIDIA's own bindings only",
    action="command",
    text="pip uninstall -y pynvml nvidia-ml-py3 && pip install --force-reinstall nvidia-ml-py",
    gain=Gain(grade=Grade.UNPROVEN, basis="makes the GPU's figures right; not faster"),
    effort_minutes=1,
)


@check(
    code="GD306",
    slug="nvml-bindings",
    title="Another package shadows NVIDIA's bindings",
    family="tensorflow",
    cause="pynvml",
    core=False,
)
def shadowed(packages: Packages, nvml: Nvml | None, baseline: Trial | None) -> Iterator[Finding]:
    """Find an old copy beside the official bindings; warn where NVML could not be asked because of it."""
    official = packages.version(OFFICIAL)
    old = packages.version("pynvml")
    rivals = {SAME_FILE: packages.version(SAME_FILE)}
    if old and not versions.at_least(old, HARMLESS_SINCE):
        rivals["pynvml"] = old
    lying = {name: version for name, version in rivals.items() if version}
    if not official or not lying:
        return
    broken = nvml is not None and either(nvml.status, "") == "binding_broken"
    weight = weigh_pace(SHADOWED, baseline)
    yield Finding(
        summary=f"{' and '.join(lying)} lies over {OFFICIAL}: monitors use an old copy.",
        severity=Severity.WARNING if broken else Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=(
            Evidence(label=OFFICIAL, value=official, source="installed packages"),
            *(Evidence(label=name, value=version, source="installed packages") for name, version in lying.items()),
        ),
        fixes=(MEND,),
    )
