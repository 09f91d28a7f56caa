"""Small typed builders of recorded runs: start from a healthy one, change one group, judge."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpudoctor.model.missing import Missing
from gpudoctor.model.phases import CallGroup, Calls, Tracing, Tracings
from gpudoctor.model.run import (
    Breakdown,
    Change,
    GpuOverTime,
    HotLine,
    HotLines,
    MachineOverTime,
    Needless,
    Pipeline,
    Run,
    Settings,
    Stage,
    StepTimes,
)
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.trends import Loss, Memory, MemorySlope
from gpudoctor.model.words import ChangeKind, ThreadRole
from tests.checks.case import Case
from tests.checks.machines import GIB, broken, changed, healthy_h100, with_trial, without
from tests.checks.trials import trained

SCRIPT = "/home/someone/train.py"
VARIANTS = (None, broken())


def make_steps(*, waits: float = 0.02, host: float = 0.0, gpu: bool = False, **members: Any) -> StepTimes:
    """Return 600 steady steps of 20 ms in fit, of which a share waits for data."""
    compute = max(0.0, 1 - waits - host)
    given: dict[str, Any] = {
        "label": "fit",
        "file": SCRIPT,
        "line": 41,
        "steps": 600,
        "warm_up_steps": 50,
        "step_s": 0.020,
        "wait_s": 0.020 * waits,
        "shares": Breakdown(
            input=waits,
            host=host,
            tracing=0.0,
            compute=compute,
            device=compute if gpu else Missing("no GPU at work was seen"),
        ),
        "input_class": "highly" if waits >= 0.2 else "moderately" if waits >= 0.05 else "not",
        "methods": ("stamps",),
        "device_plane": "seen" if gpu else "no device",
        "confidence": 0.85,
        "basis": "one method only (stamps)",
        "loop_s": 13.0,
        "run_s": 20.0,
    }
    return StepTimes(**{**given, **members})


def make_pipeline(
    *, python: str = "", name: str = "Map", batch_s: float = 0.015, kinds: tuple[ChangeKind, ...] = ()
) -> Pipeline:
    """Return shuffle, map, batch, prefetch, with a map that takes that long for a batch."""
    slow = Stage(
        name=name,
        method="map",
        file=SCRIPT,
        line=30,
        callee="augment",
        callee_file=SCRIPT,
        callee_line=12,
        python=python,
        elements=8000,
        visits=8.0,
        cost_s=batch_s / 8,
        batch_s=batch_s,
        element_bytes=12288.0,
        snippet="ds = ds.map(augment)",
    )
    stages = (
        Stage(name="Prefetch", made_by="tensorflow", elements=1000, element_bytes=98304.0),
        Stage(name="BatchV2", method="batch", file=SCRIPT, line=31, elements=1000, batch_s=0.0001),
        slow,
    )
    changes = tuple(Change(kind=each, stage=2, low=1.4, high=2.6, basis="15 ms a batch over 4 cores") for each in kinds)
    return Pipeline(
        source="from_tensor_slices",
        file=SCRIPT,
        line=41,
        stages=stages,
        bottleneck=2,
        batch_s=batch_s,
        prefetch="tensorflow",
        changes=(*changes, Change(kind="perfect", high=3.4, basis="no step waits for data any more")),
        needless=(Needless(what="prefetch", why="TF injected it"),),
    )


def make_line(
    share: float, *, role: ThreadRole = "main", activity: str = "numpy", leaf: str = "numpy.pad", **members: Any
) -> HotLine:
    """Return a hot line."""
    given: dict[str, Any] = {"file": SCRIPT, "line": 17, "function": "augment", "snippet": "x = np.pad(x, 4)"}
    return HotLine(role=role, activity=activity, leaf=leaf, share=share, **{**given, **members})


def make_settings(*, gpus: int = 0, recurrent: str = "", **model: Any) -> Settings:
    """Return the usual settings of a compiled model."""
    given: dict[str, Any] = {
        "jit_compile": False,
        "run_eagerly": False,
        "steps_per_execution": 1,
        "optimizer": "Adam",
        "loss_scale": False,
        "dtype_policy": "float32",
        "layer_policies": ("float32",),
    }
    if recurrent:
        given["recurrent: LSTM lstm"] = recurrent
    process: dict[str, Any] = {"gpus": gpus, "eager_functions": False, "debug_numerics": False, "floatx": "float32"}
    return Settings(process=process, model={**given, **model}, file=SCRIPT, line=41)


def make_gpu_over_time(**members: Any) -> GpuOverTime:
    """Return an H100 at work."""
    given: dict[str, Any] = {
        "index": 0,
        "name": "NVIDIA H100 80GB HBM3",
        "busy_share": 0.93,
        "memory_total_bytes": 80 * GIB,
        "power_w": 520.0,
        "power_limit_w": 700.0,
        "temperature_c": 61,
        "sm_mhz": 1900.0,
        "sm_max_mhz": 1980,
        "throttled_share": 0.0,
        "own_processes": 1,
    }
    return GpuOverTime(**{**given, **members})


def make_machine_over_time(*gpus: GpuOverTime, **members: Any) -> MachineOverTime:
    """Return a host of 8 cores without a quota."""
    given: dict[str, Any] = {
        "nvml_status": "ok" if gpus else "library_not_found",
        "cores": 8,
        "quota_cores": Missing("unlimited"),
        "stopped_share": Missing("no quota"),
        "io_wait_share": 0.01,
        "memory_total_bytes": 64 * GIB,
    }
    return MachineOverTime(gpus=gpus, **{**given, **members})


def make_run(**groups: Any) -> Run:
    """Return a healthy run on the CPU, with groups replaced (None: unknown)."""
    given: dict[str, Any] = {
        "session": "7f3a",
        "script": "train.py",
        "command": ("python", "train.py"),
        "exit_code": 0,
        "duration_s": 20.0,
        "hello": True,
        "trained": True,
        "steps": make_steps(),
        "pipeline": make_pipeline(batch_s=0.0002),
        "hot_lines": HotLines(lines=(make_line(0.9, activity="tensorflow_wait", leaf="keras.fit"),), sampled_s=3.0),
        "settings": make_settings(),
        "tracings": Tracings(functions=(Tracing(name="multi_step_on_iterator", count=1, users=False),)),
        "calls": Calls(
            groups=(CallGroup(kind="fit", file=SCRIPT, line=41, calls=1, steps=650, total_s=13, share=1),),
            epochs=5,
            steady_epochs=5,
            epoch_s=13.0,
            epoch_end_s=0.01,
        ),
        "machine": make_machine_over_time(),
        "memory": Memory(slopes=(MemorySlope(device="host", last_bytes=GIB),)),
        "loss": Loss(file=SCRIPT, line=41, steps=650, first_value="2.3", last_value="0.4"),
    }
    members: dict[str, Any] = {**given, **groups}
    members["unknown"] = {name: "removed by the test" for name, value in members.items() if value is None}
    return Run(**members)


def ran(**groups: Any) -> Snapshot:
    """Return a machine on which that run was recorded."""
    return changed(with_trial(healthy_h100(), trained()), run=make_run(**groups))


def case(code: str, fires: dict[str, Any], near_miss: dict[str, Any], lacking: str) -> Case:
    """Return the case of a check of runs; `lacking` names the group without which it cannot judge."""
    machine = ran(**fires)
    run = machine.run
    assert run is not None
    gone: dict[str, Any] = {lacking: None}
    return Case(
        check_code=code,
        fires=machine,
        near_miss=ran(**near_miss),
        lacking=replace(machine, run=replace(run, unknown={lacking: "removed by the test"}, **gone)),
        trial_variants=VARIANTS,
    )


def without_run(machine: Snapshot) -> Snapshot:
    """Return the machine as a scan sees it."""
    return without(machine, "run")
