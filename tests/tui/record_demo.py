"""Writes what `gpudoctor monitor --demo` plays: `python -m tests.tui.record_demo`. An invented machine, and said to be one.

Its story: a training on GPU 0 waits for one busy core (its first epoch, to 1:50), then the cache feeds it, the GPU works, grows
hot, and at last its hardware halves the clocks; GPU 1 works all the time at its power cap, for somebody else. Snapshot, recording
and session are of one moment, and their figures of one training: bytes over PCIe, from disk and in the cache follow from its
steps. A recording of real hardware would be better; none was at hand.
"""

from __future__ import annotations

import csv
import json
import math
import random
from copy import deepcopy
from pathlib import Path
from typing import Any

from gpudoctor.tui.sources import DEMO
from tests.tui import record_demo_run
from tests.tui.record_demo_run import CACHE_MIB, FED_STEP_S, HOT_STEP_S, MIB, STARVED_STEP_S, STARVED_WAIT, batch_mib
from tests.tui.stage import MACHINES

BASE = MACHINES / "h100-hardware-thermal-slowdown" / "snapshot.json"
SECONDS, INPUT_FIXED_AT, CORES, LOADER_CORE = 300, 110, 16, 5
COLUMNS: tuple[str, ...] = (
    "second", "what", "kernel_percent", "memory_mib", "power_w", "temperature_c", "sm_mhz", "reasons", "in_mib", "out_mib",
    "net_in_mib", "net_out_mib", "load", "cores", "process_cpu", "process_mib",
)  # fmt: skip
CONTEXT_MIB, OWN_MIB, OTHERS_MIB = 620, 14_940, 73_728  # of the GPUs; TensorFlow grows its pool (the snapshot's env)
AT_START_MIB, OTHERS_HOST_MIB, SYSTEM_MIB = 5_200, 14_600, 8_400  # of the host
OTHERS_CPU, OTHERS_READ_MIB = 190.0, 85  # what lin's training takes of the host
SLOWDOWN_C, COOL_C, HOT_C = 89.5, 62.0, 97.0

Row = dict[str, object]


def machine() -> Any:  # a JSON document
    """Return the snapshot: the machine of BASE with a second, healthy GPU and a process on each."""
    document = json.loads(BASE.read_text(encoding="utf-8"))
    hot = document["gpus"][0]
    hot["pcie"]["gen"] = 5
    cool = deepcopy(hot)
    cool.update(index=1, pci="00000000:2a:00.0", temperature_c=61, throttle_reasons=[])
    cool["clocks"]["sm_mhz"], cool["power"]["draw_w"] = 1965, 655.0
    for gpu, used in ((hot, OWN_MIB * MIB), (cool, OTHERS_MIB * MIB)):
        gpu["memory"] |= {
            "used_bytes": used,
            "free_bytes": gpu["memory"]["total_bytes"] - used - gpu["memory"]["reserved_bytes"],
        }
    hot["processes"] = [_process(48213, (OWN_MIB - 4) * MIB, "ada", "python train.py", own=True)]
    others = "python -m finetune.run --model vit_l16 --mixed-precision"
    cool["processes"] = [_process(48790, (OTHERS_MIB - 4) * MIB, "lin", others, own=False)]
    document["gpus"] = [hot, cool]
    document["env"] = {"TF_FORCE_GPU_ALLOW_GROWTH": "true", "VIRTUAL_ENV": "~/venv"}
    del document["probe"]  # a GPU at work is left alone: what a scan says beside a training is said without trials
    document["missing"]["probe"] = "not run (level quick)"
    devices = document["cuda"]["devices"]
    devices.append({**devices[0], "pci": "0000:2a:00.0"})
    document["nvml"]["device_count"] = 2
    return document


def _process(pid: int, memory_bytes: int, user: str, command: str, *, own: bool) -> Row:
    held = {"pid": pid, "kind": "compute", "memory_bytes": memory_bytes}
    return {**held, "name": "python", "user": user, "command": command, "own": own}


def ticks(dice: random.Random) -> list[Row]:
    """Return three rows a second: two GPUs and the host."""
    rows: list[Row] = []
    temperature = 58.0
    for second in range(SECONDS):
        starved, hot = second < INPUT_FIXED_AT, temperature >= SLOWDOWN_C
        target = COOL_C if starved else HOT_C
        temperature += (target - temperature) * (0.018 if target > temperature else 0.03)
        temperature = min(temperature, 93.4) if hot else temperature
        step = STARVED_STEP_S if starved else HOT_STEP_S if hot else FED_STEP_S
        own_cpu = (120.0 if starved else 5.9 / step) + dice.gauss(0, 3)  # fed, each step costs the host the same
        rows.append({"second": second, "what": 0, **_first(second, temperature, step, own_cpu, dice)})
        rows.append({"second": second, "what": 1, **_second(second, dice)})
        rows.append({"second": second, "what": "host", **_host(second, own_cpu, dice)})
    return rows


def _first(second: int, temperature: float, step_s: float, own_cpu: float, dice: random.Random) -> Row:
    begun, starved, hot = second >= 3, step_s == STARVED_STEP_S, step_s == HOT_STEP_S
    busy = 100 * (1 - STARVED_WAIT)
    wave = busy + 14 * math.sin(second / 2.3) + dice.gauss(0, 6) if starved else 97 + dice.gauss(0, 1.5)
    kernel = min(100.0, max(4.0, wave)) if begun else 0.0
    power = 402 + dice.gauss(0, 9) if hot else 118 + 5.3 * kernel if starved else 640 + dice.gauss(0, 14)
    return {
        "kernel_percent": round(kernel),
        "memory_mib": OWN_MIB if begun else CONTEXT_MIB,
        "power_w": round(power, 1),
        "temperature_c": round(temperature),
        "sm_mhz": 870 + dice.choice((0, 0, 15, -15)) if hot else 1980 if starved else 1965 + dice.choice((0, 15, -15)),
        "reasons": "HwSlowdown HwThermalSlowdown" if hot else "",
        "in_mib": round(batch_mib() / step_s * (1 + dice.gauss(0, 0.02))) if begun else 1,
        "out_mib": 3 + dice.randint(0, 4),
        "process_cpu": round(own_cpu),
        "process_mib": AT_START_MIB + round(CACHE_MIB * min(second, INPUT_FIXED_AT) / INPUT_FIXED_AT),
    }


def _second(second: int, dice: random.Random) -> Row:
    capped = dice.random() < 0.55
    return {
        "kernel_percent": round(max(93.0, min(100.0, 98 + dice.gauss(0, 1)))),
        "memory_mib": OTHERS_MIB,
        "power_w": round((688 if capped else 652) + dice.gauss(0, 8), 1),
        "temperature_c": 61 + round(math.sin(second / 40)),
        "sm_mhz": 1905 + dice.choice((0, 15, 30)) if capped else 1965,
        "reasons": "SwPowerCap" if capped else "",
        "in_mib": 520 + dice.randint(-30, 30),
        "out_mib": 24 + dice.randint(-5, 5),
        "process_cpu": round(OTHERS_CPU + dice.gauss(0, 6)),
        "process_mib": OTHERS_HOST_MIB,
    }


def _host(second: int, own_cpu: float, dice: random.Random) -> Row:
    starved = second < INPUT_FIXED_AT
    rest = (OTHERS_CPU + own_cpu - (98 if starved else 0)) / CORES
    cores = [98.0 if starved and core == LOADER_CORE else rest + dice.gauss(0, 3) for core in range(CORES)]
    cached = round(CACHE_MIB * min(second, INPUT_FIXED_AT) / INPUT_FIXED_AT)
    return {
        "memory_mib": SYSTEM_MIB + OTHERS_HOST_MIB + AT_START_MIB + cached,
        "in_mib": OTHERS_READ_MIB + (round(batch_mib() / 4 / STARVED_STEP_S) if starved else 0) + dice.randint(-9, 9),
        "out_mib": 1 + dice.randint(0, 2),
        "net_in_mib": 2 + dice.randint(0, 3),
        "net_out_mib": 1,
        "load": round((OTHERS_CPU + own_cpu) / 100 + dice.gauss(0, 0.1), 1),
        "cores": " ".join(str(round(max(1.0, min(100.0, each)))) for each in cores),
    }


def write(folder: Path) -> None:
    """Write the three files."""
    made = machine()
    (folder / "snapshot.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    rows = ticks(random.Random(7))  # noqa: S311  # a story, not a secret
    with (folder / "recording.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    record_demo_run.write(folder, rows, made)


if __name__ == "__main__":
    write(DEMO)
