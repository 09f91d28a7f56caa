"""The PCIe link is looked at while data moves over it: what it does at idle never counts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gpudoctor.model.gpu import Gpu, LinkSample, Pcie
from gpudoctor.model.observed import Probe, Trial
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.probe.link import LinkWatch
from gpudoctor.testing import judge
from gpudoctor_checks.hardware.pcie_degraded import degraded
from tests import fakes
from tests.probe.scripts import write

ROOT = Path(__file__).parents[2]
DESKTOP = next(each for each in fakes.FURTHER_SCENARIOS.values() if "RTX 3090" in each.text and len(each.gpus) == 1)
# The child moves no data, but the fake driver plays the link that a real copy would wake up (or not).
CHILD = """
started(1)
with open({scenario!r}, "a") as text:
    text.write({under_load!r})
log, looks = open(os.environ["FAKE_NVML_LOG"]), 0
log.seek(0, os.SEEK_END)
send("begin", name="transfer")
while looks < 4:  # the fourth begins when three have ended
    time.sleep(0.05)
    looks += log.read().count("pcie_gen 0\\n")
send("trial", name="transfer", duration_s=1.2, result=dict(
    status="ok", device="GPU", values=dict(host_to_device_bytes_per_s={rate})))
send("done")
"""
DRIVER = """
import json, sys
from pathlib import Path
from gpudoctor.codec import to_builtins
from gpudoctor.collect.survey import look_at_gpus, look_at_link
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.probe.runner import run_probe
root, script = Path(sys.argv[1]), Path(sys.argv[2])
gpus = look_at_gpus(root)
probe = run_probe(sys.executable, ("transfer",), snapshot=Snapshot(gpus=gpus), force=True, script=script,
    watch_link=lambda index: look_at_link(index, root))
print(json.dumps({"idle": gpus[0].pcie.gen, "values": dict(probe.trials["transfer"].values)}))
"""


def moved(tmp_path: Path, under_load: str, rate: float) -> tuple[int, dict[str, float]]:
    """Return the generation at idle, and the trial's values."""
    env = {**fakes.environment(DESKTOP, tmp_path), "PYTHONPATH": f"{ROOT}:{ROOT / 'checks'}"}
    body = CHILD.format(scenario=env["FAKE_NVML_SCENARIO"], under_load=under_load, rate=rate)
    command = [sys.executable, "-c", DRIVER, env["GPUDOCTOR_SYSROOT"], str(write(tmp_path, body))]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return told["idle"], told["values"]


def a_machine(values: dict[str, float]) -> Snapshot:
    return Snapshot(probe=Probe(trials={"transfer": Trial(name="transfer", device="GPU", values=values)}))


def test_a_link_that_wakes_up_under_load_is_healthy(tmp_path: Path) -> None:
    idle, values = moved(tmp_path, "\ngpu0.pcie_gen=4\ngpu0.pcie_width=16\n", 9e9)
    assert (idle, values["pcie_gen"], values["pcie_gen_max"], values["pcie_width"]) == (1, 4, 4, 16)
    assert values["link_samples"] >= 3
    assert judge(degraded, a_machine(values)).status is Outcome.PASSED


def test_a_link_that_stays_slow_and_narrow_under_load_is_found(tmp_path: Path) -> None:
    _, values = moved(tmp_path, "\ngpu0.pcie_gen=1\ngpu0.pcie_width=4\n", 8e8)
    (finding,) = judge(degraded, a_machine(values)).findings
    assert finding.summary == "GPU 0: PCIe at gen 1 x4 of gen 4 x16."


def looked(*samples: LinkSample | None) -> tuple[LinkWatch, list[int]]:
    asked: list[int] = []
    waiting = list(samples)

    def ask(index: int) -> LinkSample | None:
        asked.append(index)
        return waiting.pop(0)

    return LinkWatch(Gpu(index=3), ask), asked


def test_other_trials_are_not_looked_at() -> None:
    watch, asked = looked(LinkSample(link=Pcie(gen=1, width=4)))
    for name in ("", "baseline", "batch_ladder"):
        watch.look(name)
    assert (asked, watch.figures()) == ([], {})


def test_the_best_that_was_seen_counts() -> None:
    watch, asked = looked(
        LinkSample(link=Pcie(gen=1, gen_max=4, width=16, width_max=16)),
        LinkSample(link=Pcie(gen=4, gen_max=4, width=16, width_max=16), received_bytes_per_s=7),
    )
    watch.look("transfer")
    watch.look("transfer")
    assert asked == [3, 3]
    assert watch.figures() == pytest.approx(
        {
            "gpu_index": 3,
            "link_samples": 2,
            "pcie_gen": 4,
            "pcie_gen_max": 4,
            "pcie_width": 16,
            "pcie_width_max": 16,
            "pcie_received_bytes_per_s": 7,
        }
    )


def test_a_driver_that_does_not_answer_is_asked_once() -> None:
    watch, asked = looked(None)
    watch.look("transfer")
    watch.look("transfer")
    assert (asked, watch.figures()) == ([3], {})
