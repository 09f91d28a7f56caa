"""The acceptance script for machines with a GPU, tried without one: fake NVML, fake nvidia-smi, and a stand-in gpudoctor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.codec import load_snapshot
from tests.fakes import FURTHER_SCENARIOS, environment

ACCEPT = Path(__file__).with_name("accept")
Json = dict[str, Any]  # JSON documents as the script reads them

# What nvidia-smi prints of one idle H100, by the names of its fields.
SMI: Mapping[str, str] = {
    "name": "NVIDIA H100 80GB HBM3",
    "driver_version": "580.95.05",
    "compute_cap": "9.0",
    "memory.total": "81559",
    "memory.used": "4",
    "memory.free": "81004",
    "utilization.gpu": "0",
    "power.draw.average": "71.23",
    "enforced.power.limit": "700.00",
    "power.default_limit": "700.00",
    "power.max_limit": "700.00",
    "temperature.gpu": "36",
    "fan.speed": "[N/A]",
    "clocks.max.sm": "1980",
    "clocks.max.memory": "2619",
    "clocks.sm": "345",
    "pcie.link.gen.max": "5",
    "pcie.link.width.max": "16",
    "pcie.link.width.current": "16",
    "ecc.mode.current": "Enabled",
    "ecc.errors.uncorrected.volatile.total": "0",
    "ecc.errors.corrected.volatile.total": "0",
    "mig.mode.current": "Disabled",
    "compute_mode": "Default",
    "persistence_mode": "Enabled",
    "display_active": "Disabled",
    **{
        f"clocks_event_reasons.{name}": "Not Active"
        for name in (
            "hw_slowdown",
            "hw_thermal_slowdown",
            "hw_power_brake_slowdown",
            "sw_thermal_slowdown",
            "sw_power_cap",
        )
    },
}
MIB = 1024 * 1024
GPU: Json = {
    "index": 0,
    "name": "NVIDIA H100 80GB HBM3",
    "compute_capability": "9.0",
    "memory": {"total_bytes": 81559 * MIB, "used_bytes": 4 * MIB, "free_bytes": 81004 * MIB},
    "utilization": {"gpu_percent": 0},
    "power": {"draw_w": 75.9, "limit_w": 700.0, "default_limit_w": 700.0, "max_limit_w": 700.0},
    "temperature_c": 37,
    "clocks": {"sm_mhz": 345, "sm_max_mhz": 1980, "memory_max_mhz": 2619},
    "throttle_reasons": ["GpuIdle"],
    "pcie": {"gen_max": 5, "width": 16, "width_max": 16},
    "ecc": {"enabled": True, "corrected": 0, "uncorrected": 0},
    "mig_mode": "disabled",
    "compute_mode": "default",
    "persistence": True,
    "display_active": False,
    "processes": [],
}
SMI_PROGRAM = """#!{python}
import json, sys
data = json.load(open({path!r}))
what = next(each.partition("=")[2] for each in sys.argv if each.startswith("--query-"))
if not data["gpus"]:
    sys.exit("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.")
if any(each.startswith("--query-compute-apps") for each in sys.argv):
    print("\\n".join(str(each) for each in data.get("pids", [])))
    sys.exit()
for gpu in data["gpus"]:
    for name in what.split(","):
        if name not in gpu:
            sys.exit('Field "{{}}" is not a valid field to query.'.format(name))
    print(", ".join(gpu[name] for name in what.split(",")))
"""
STAND_IN = """
import os, sys
sys.stdout.write(open(os.environ["STAND_IN"] + "/" + sys.argv[1] + ".json").read())
"""


def a_report(gpu: Json | None = None, *, tensorflow: Json | None = None, missing: Json | None = None) -> Json:
    return {
        "schema_version": 1,
        "checks": [{"code": "GD801", "status": "passed"}],
        "plugins": [],
        "snapshot": {
            "schema_version": 1,
            "nvml": {"status": "ok", "driver_version": "580.95.05"},
            "cuda": {"cu_init": 0},
            "gpus": [gpu or GPU],
            "tensorflow": tensorflow or {"installed": False},
            "missing": {"gpus[0].fan_percent": "not_supported", **(missing or {})},
        },
    }


def a_probe(status: str = "ok", device: str = "GPU") -> Json:
    arm = {"name": "baseline", "steps": 400, "loss_first": 2.3, "loss_last": 0.1}
    trials = {
        name: {"name": name, "status": status, "device": device, "arms": [arm] if name == "baseline" else []}
        for name in ("baseline", "gradcheck")
    }
    reason = {"trials.gradcheck.device_name": "not told"}
    return {"schema_version": 1, "probe": {"trials": trials}, "missing": reason}


def an_nvidia_smi(folder: Path, *gpus: Mapping[str, str], pids: tuple[int, ...] = ()) -> Path:
    data, program = folder / "smi.json", folder / "nvidia-smi"
    data.write_text(json.dumps({"gpus": [dict(each) for each in gpus], "pids": pids}), encoding="utf-8")
    program.write_text(SMI_PROGRAM.format(python=sys.executable, path=str(data)), encoding="utf-8")
    program.chmod(0o755)
    return program


def accept(
    folder: Path,
    smi: Path | str,
    *options: str,
    scan: Json | str | None = None,
    probe: Json | None = None,
    environ: Mapping[str, str] | None = None,
) -> tuple[int, str, Json]:
    """Run the script; with `scan` a stand-in for gpudoctor answers, else the real one does."""
    told = folder / "accept.json"
    command = [sys.executable, str(ACCEPT), "--output", str(told), "--nvidia-smi", str(smi), *options]
    whole = dict(environ or os.environ)
    if scan is not None:
        package = folder / "packages" / "gpudoctor"
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").write_text("", encoding="utf-8")
        (package / "__main__.py").write_text(STAND_IN, encoding="utf-8")
        (folder / "scan.json").write_text(scan if isinstance(scan, str) else json.dumps(scan), encoding="utf-8")
        (folder / "probe.json").write_text(json.dumps(probe or {}), encoding="utf-8")
        command += ["--packages", str(package.parent)]
        whole["STAND_IN"] = str(folder)
    done = subprocess.run(command, capture_output=True, text=True, env=whole, cwd=folder, check=False, timeout=120)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, json.loads(told.read_text(encoding="utf-8"))


def failures(document: Json) -> list[str]:
    return [each["name"] for each in document["results"] if not each["passed"]]


def test_figures_that_agree_are_accepted_and_the_json_is_a_machine(tmp_path: Path) -> None:
    status, text, document = accept(tmp_path, an_nvidia_smi(tmp_path, SMI), scan=a_report())
    assert (status, failures(document)) == (0, [])
    assert document["accepted"] is True
    assert text.splitlines()[-1].startswith("ACCEPTED")
    replayed = load_snapshot((tmp_path / "accept.json").read_bytes())
    assert replayed.gpus is not None
    assert replayed.gpus[0].name == "NVIDIA H100 80GB HBM3"


@pytest.mark.parametrize(
    ("field", "theirs", "ours"),
    [
        ("name", "NVIDIA H200", "name"),
        ("memory.total", "81557", "memory.total_bytes"),
        ("memory.used", "400", "memory.used_bytes"),
        ("enforced.power.limit", "650.00", "power.limit_w"),
        ("temperature.gpu", "50", "temperature_c"),
        ("clocks.max.sm", "1755", "clocks.sm_max_mhz"),
        ("pcie.link.width.current", "8", "pcie.width"),
        ("mig.mode.current", "Enabled", "mig_mode"),
        ("ecc.errors.corrected.volatile.total", "7", "ecc.corrected"),
        ("clocks_event_reasons.hw_slowdown", "Active", "throttle_reasons[HwSlowdown]"),
    ],
)
def test_a_figure_that_differs_fails_by_its_name(tmp_path: Path, field: str, theirs: str, ours: str) -> None:
    status, text, document = accept(tmp_path, an_nvidia_smi(tmp_path, {**SMI, field: theirs}), scan=a_report())
    assert status == 1
    assert failures(document) == [f"gpu 0 {ours}"]
    assert f"FAIL  gpu 0 {ours}" in text


def test_a_figure_that_we_lack_and_nvidia_smi_has_fails_with_our_reason(tmp_path: Path) -> None:
    gpu = {key: value for key, value in GPU.items() if key != "temperature_c"}
    report = a_report(gpu, missing={"gpus[0].temperature_c": "timeout"})
    _, text, document = accept(tmp_path, an_nvidia_smi(tmp_path, SMI), scan=report)
    assert failures(document) == ["gpu 0 temperature_c"]
    assert "missing: timeout" in text


def test_a_figure_that_neither_has_passes(tmp_path: Path) -> None:
    gpu: Json = {**GPU, "ecc": {}}
    bare = {**SMI, **{name: "[N/A]" for name in SMI if name.startswith("ecc.")}}
    status, _, document = accept(tmp_path, an_nvidia_smi(tmp_path, bare), scan=a_report(gpu))
    assert (status, failures(document)) == (0, [])


def test_an_older_nvidia_smi_is_asked_by_its_own_names(tmp_path: Path) -> None:
    old = {
        name: value for name, value in SMI.items() if not name.startswith(("clocks_event", "power.draw", "compute_cap"))
    }
    old |= {name.replace("event", "throttle"): value for name, value in SMI.items() if name.startswith("clocks_event")}
    old |= {"power.draw": "71.23"}
    status, text, document = accept(tmp_path, an_nvidia_smi(tmp_path, old), scan=a_report())
    assert (status, failures(document)) == (0, [])
    assert "this nvidia-smi does not know it" in text


def test_each_compute_process_must_be_seen(tmp_path: Path) -> None:
    _, _, document = accept(tmp_path, an_nvidia_smi(tmp_path, SMI, pids=(812,)), scan=a_report())
    assert failures(document) == ["compute processes"]


def test_a_second_gpu_that_we_miss_fails(tmp_path: Path) -> None:
    _, _, document = accept(tmp_path, an_nvidia_smi(tmp_path, SMI, SMI), scan=a_report())
    assert "number of GPUs" in failures(document)


def test_an_identifier_in_the_json_fails(tmp_path: Path) -> None:
    report = a_report({**GPU, "uuid": "GPU-12345678-1234-1234-1234-123456789012"})
    _, _, document = accept(tmp_path, an_nvidia_smi(tmp_path, SMI), scan=report)
    assert failures(document) == ["no GPU UUID in the JSON"]


@pytest.mark.parametrize("smi", ["/nonexistent/nvidia-smi", ""])
def test_without_nvidia_smi_nothing_is_accepted(tmp_path: Path, smi: str) -> None:
    program = smi or str(an_nvidia_smi(tmp_path))
    status, text, document = accept(tmp_path, program, scan=a_report())
    assert status == 3
    assert document["accepted"] is False
    assert text.startswith("NOT ACCEPTED")


def test_a_gpudoctor_that_prints_no_json_fails(tmp_path: Path) -> None:
    status, text, document = accept(tmp_path, an_nvidia_smi(tmp_path, SMI), scan="Traceback, of sorts")
    assert (status, document["accepted"]) == (1, False)
    assert "printed no JSON" in text


def test_a_crashed_check_fails(tmp_path: Path) -> None:
    report = {**a_report(), "checks": [{"code": "GD801", "status": "crashed"}]}
    assert failures(accept(tmp_path, an_nvidia_smi(tmp_path, SMI), scan=report)[2]) == ["no check crashed"]


def as_nvidia_smi_prints(gpu: Mapping[str, int | str]) -> dict[str, str]:
    """Return what nvidia-smi would print of the GPU that the fake NVML plays."""
    total, used, reserved = (int(gpu[f"memory_{name}"]) // MIB for name in ("total", "used", "reserved"))
    watts = {name: f"{int(gpu[f'power_{name}_mw']) / 1000:.2f}" for name in ("enforced", "default", "max")}
    return {
        **SMI,
        "name": str(gpu["name"]),
        "memory.total": str(total),
        "memory.used": str(used),
        "memory.free": str(total - used - reserved),
        "utilization.gpu": str(gpu["util_gpu"]),
        "power.draw.average": f"{int(gpu['power_mw']) / 1000:.2f}",
        "enforced.power.limit": watts["enforced"],
        "power.default_limit": watts["default"],
        "power.max_limit": watts["max"],
        "temperature.gpu": str(gpu["temperature_c"]),
        "fan.speed": str(gpu["fan_percent"]),
        "clocks.sm": str(gpu["clock_sm"]),
        "clocks.max.memory": str(gpu["max_memory"]),
        "ecc.errors.corrected.volatile.total": str(gpu["ecc_corrected_volatile"]),
    }


def test_gpudoctor_itself_is_accepted_on_the_machine_that_the_fake_nvml_plays(tmp_path: Path) -> None:
    idle = FURTHER_SCENARIOS["idle"]
    smi = an_nvidia_smi(tmp_path, as_nvidia_smi_prints(idle.gpus[0]))
    status, text, document = accept(tmp_path, smi, environ=environment(idle, tmp_path))
    trained = find_spec("tensorflow") is not None  # then the trials run, and no real GPU is there to train on
    elsewhere = ["trial gradcheck device", "trial baseline device"] if trained else []
    assert (status, failures(document)) == (int(trained), elsewhere), text
    assert load_snapshot((tmp_path / "accept.json").read_bytes()).gpus is not None


BUILD: Json = {"installed": True, "is_cuda_build": True}


def test_trials_that_train_on_the_gpu_join_the_machine(tmp_path: Path) -> None:
    smi = an_nvidia_smi(tmp_path, SMI)
    status, _, document = accept(tmp_path, smi, scan=a_report(tensorflow=BUILD), probe=a_probe())
    assert (status, failures(document)) == (0, [])
    probe = load_snapshot((tmp_path / "accept.json").read_bytes()).probe
    assert probe is not None
    assert probe.trials["baseline"].device == "GPU"
    assert str(probe.trials["gradcheck"].device_name) == "Missing(reason='not told')"


@pytest.mark.parametrize(("status", "device"), [("failed", "GPU"), ("ok", "CPU"), ("refused", "GPU")])
def test_a_trial_that_fails_or_runs_elsewhere_fails(tmp_path: Path, status: str, device: str) -> None:
    smi = an_nvidia_smi(tmp_path, SMI)
    probe = a_probe(status, device)
    code, _, document = accept(tmp_path, smi, scan=a_report(tensorflow=BUILD), probe=probe)
    assert code == 1
    assert {name.split()[1] for name in failures(document)} == {"gradcheck", "baseline"}


def test_without_tensorflow_the_probe_is_said_not_to_have_run(tmp_path: Path) -> None:
    _, text, _ = accept(tmp_path, an_nvidia_smi(tmp_path, SMI), scan=a_report())
    assert "no TensorFlow in the examined environment" in text
