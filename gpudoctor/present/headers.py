"""The lines above the verdict: which interpreter, which machine, which build, what the probe did."""

from __future__ import annotations

from collections.abc import Mapping

from gpudoctor.model.missing import NOT_IN_TEXT, Missing, either
from gpudoctor.model.report import SAVED, TEXT_ALONE, TEXT_OF_ANOTHER, TEXT_OF_THIS, Report
from gpudoctor.model.run import COMMANDS_OWN
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.present import figures

UNNAMED = "unknown GPU"
WIDTH = 80
ELSEWHERE = (SAVED, TEXT_ALONE, TEXT_OF_ANOTHER)
NOT_CHOSEN = (*ELSEWHERE, TEXT_OF_THIS, COMMANDS_OWN)  # no interpreter was looked for, so no other one can be named


def is_text_alone(target: Mapping[str, str]) -> bool:
    """Return whether a text was judged without the machine that it comes from."""
    return target.get("chosen_by") in {TEXT_ALONE, TEXT_OF_ANOTHER}


def is_elsewhere(target: Mapping[str, str]) -> bool:
    """Return whether what was judged need not be this machine: a text alone, or a saved snapshot."""
    return not target or target.get("chosen_by", "").startswith(ELSEWHERE)


def target_line(target: Mapping[str, str], width: int = WIDTH) -> str:
    """Return which interpreter is examined and why."""
    if not target:
        return "Target   a saved snapshot"
    chosen_by = target.get("chosen_by", "?")
    other = "" if chosen_by.startswith(("--python", *NOT_CHOSEN)) else "; change: --python"
    line = f"Target   {target.get('executable', '?')} ({chosen_by}{other})"
    return line if len(line) <= width else line.replace(other, "")


def machine_line(report: Report) -> str:
    """Return GPUs, driver and processors."""
    snapshot = report.snapshot
    return f"Machine  {_gpus(snapshot)}, {_driver(snapshot)}; {_cpus(snapshot)}"


def _gpus(snapshot: Snapshot) -> str:
    named = [
        (either(gpu.name, UNNAMED), either(gpu.compute_capability, "?"), gpu.memory.total_bytes)
        for gpu in snapshot.gpus or ()
    ]
    if not named and snapshot.cuda is not None:
        devices = either(snapshot.cuda.devices, ())
        named = [
            (either(each.name, "GPU"), either(each.compute_capability, "?"), each.memory_bytes) for each in devices
        ]
    if not named:
        return "no GPU seen" if _looked(snapshot) else "GPU unknown"
    name, capability, memory = next((each for each in named if each[0] != UNNAMED), named[0])
    amount = "" if isinstance(memory, Missing) or memory == 0 else f" {figures.size(memory)}"
    times = f"{len(named)} x " if len(named) > 1 else ""
    return f"{times}{name.removeprefix('NVIDIA ')}{amount}, cc {capability}"


def _driver(snapshot: Snapshot) -> str:
    sources = (
        snapshot.nvml.driver_version if snapshot.nvml else None,
        snapshot.kernel.module_version if snapshot.kernel else None,
        snapshot.cuda.library_version if snapshot.cuda else None,
    )
    version = next((each for each in sources if isinstance(each, str)), None)
    return f"driver {version}" if version else "no driver" if _asked(snapshot) else "driver unknown"


def _looked(snapshot: Snapshot) -> bool:
    """Return whether anything that would show a GPU was looked at."""
    if snapshot.missing.get("gpus") == NOT_IN_TEXT:  # a table of the driver alone shows that nobody named the GPU
        return False
    return snapshot.gpus is not None or _asked(snapshot)


def _asked(snapshot: Snapshot) -> bool:
    """Return whether anything that would show a driver was looked at; a GPU that a text names shows none, and has one."""
    asked = snapshot.nvml is not None and not isinstance(snapshot.nvml.status, Missing)  # a stated driver shows no GPU
    return asked or snapshot.cuda is not None or snapshot.kernel is not None


def _cpus(snapshot: Snapshot) -> str:
    if snapshot.host is None:
        return "host unknown"
    cpu = snapshot.host.cpu
    words = [f"{either(cpu.cores, 0) or '?'} CPUs"]
    if not isinstance(cpu.quota_cores, Missing):
        words.append(f"quota {cpu.quota_cores:g}")
    container = either(snapshot.host.container, "none")
    if container != "none":
        words.append(f"in {container}")
    if either(snapshot.host.wsl, False):
        words.append("WSL2")
    return ", ".join(words)


def build_line(report: Report) -> str:
    """Return TensorFlow's build, Keras and Python."""
    tensorflow, python = report.snapshot.tensorflow, report.snapshot.python
    if tensorflow is None:
        build = f"TensorFlow unknown ({report.snapshot.why_missing('tensorflow')})"
    elif not either(tensorflow.installed, True):
        build = "TensorFlow not installed"
    else:
        kind = {True: "", False: " CPU-only"}.get(either(tensorflow.is_cuda_build, True), "")
        origin = either(tensorflow.origin, "").replace("_", " ")
        build = f"TensorFlow {either(tensorflow.version, '?')}{kind} {origin}".rstrip()
        if not isinstance(tensorflow.keras_version, Missing):
            build += f", Keras {tensorflow.keras_version}"
    version = either(python.version, "?") if python is not None else "?"
    return f"Build    {build}, Python {version}"


def probe_line(report: Report) -> str:
    """Return what the probe did, on which device, and why it left a GPU alone."""
    probe = report.snapshot.probe
    if probe is None:
        why = report.snapshot.missing.get("probe", "not run")
        return f"Probe    {why}"
    devices = sorted({trial.device for trial in probe.trials.values() if isinstance(trial.device, str)})
    where = {"CPU": "CPU only", "GPU": "GPU"}.get("/".join(devices), "GPU and CPU" if devices else "no device")
    left = f"; GPU left alone: {probe.gpu_left_alone}" if probe.gpu_left_alone else ""
    ran = sum(trial.status == "ok" for trial in probe.trials.values())
    other = sum(trial.status == "unsupported" for trial in probe.trials.values())
    trials = f"{ran} of {len(probe.trials) - other} trials ok" + (f", {other} not for this device" if other else "")
    return f"Probe    {where}, {trials}, {figures.duration(probe.duration_s)}{left}"
