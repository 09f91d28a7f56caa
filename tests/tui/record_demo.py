"""Writes what `gpudoctor monitor --demo` plays: `python -m tests.tui.record_demo`. An invented machine, and said to be one.

Its story: GPU 0 waits for one busy core (to 1:50), then gets its data and works, grows hot, and at last its hardware halves
the clocks; GPU 1 works all the time at its power cap. A recording of real hardware would be better; none was at hand.
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
from tests.tui.stage import MACHINES

BASE = MACHINES / "h100-hardware-thermal-slowdown" / "snapshot.json"
SECONDS, INPUT_FIXED_AT, CORES, LOADER_CORE = 300, 110, 16, 5
COLUMNS: tuple[str, ...] = (
    "second", "what", "kernel_percent", "memory_mib", "power_w", "temperature_c", "sm_mhz", "reasons", "in_mib", "out_mib",
    "net_in_mib", "net_out_mib", "load", "cores",
)  # fmt: skip
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
    hot["processes"] = [
        _process(48213, 62 << 30, "ada", "python train.py --config resnet50.yaml --batch 512", own=True)
    ]
    cool["processes"] = [
        _process(48790, 72 << 30, "lin", "python -m finetune.run --model vit_l16 --mixed-precision", own=False)
    ]
    document["gpus"] = [hot, cool]
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
        rows.append({"second": second, "what": 0, **_first(second, temperature, dice, starved=starved, hot=hot)})
        rows.append({"second": second, "what": 1, **_second(second, dice)})
        rows.append({"second": second, "what": "host", **_host(second, dice, starved=starved)})
    return rows


def _first(second: int, temperature: float, dice: random.Random, *, starved: bool, hot: bool) -> Row:
    wave = 34 + 18 * math.sin(second / 2.3) + dice.gauss(0, 9) if starved else 97 + dice.gauss(0, 1.5)
    kernel = min(100.0, max(8.0, wave))
    power = 402 + dice.gauss(0, 9) if hot else 215 + 2.6 * kernel if starved else 640 + dice.gauss(0, 14)
    return {
        "kernel_percent": round(kernel),
        "memory_mib": 63488 + 1024 * (second > 12),
        "power_w": round(power, 1),
        "temperature_c": round(temperature),
        "sm_mhz": 870 + dice.choice((0, 0, 15, -15)) if hot else 1980 if starved else 1965 + dice.choice((0, 15, -15)),
        "reasons": "HwSlowdown HwThermalSlowdown" if hot else "",
        "in_mib": (900 if starved else 1400 if hot else 2900) + dice.randint(-90, 90),
        "out_mib": 120 + dice.randint(-20, 20),
    }


def _second(second: int, dice: random.Random) -> Row:
    capped = dice.random() < 0.55
    return {
        "kernel_percent": round(max(93.0, min(100.0, 98 + dice.gauss(0, 1)))),
        "memory_mib": 73728,
        "power_w": round((688 if capped else 652) + dice.gauss(0, 8), 1),
        "temperature_c": 61 + round(math.sin(second / 40)),
        "sm_mhz": 1905 + dice.choice((0, 15, 30)) if capped else 1965,
        "reasons": "SwPowerCap" if capped else "",
        "in_mib": 3300 + dice.randint(-120, 120),
        "out_mib": 240 + dice.randint(-30, 30),
    }


def _host(second: int, dice: random.Random, *, starved: bool) -> Row:
    rest, spread = (12, 4) if starved else (58, 11)
    cores = [98.0 if starved and core == LOADER_CORE else dice.gauss(rest, spread) for core in range(CORES)]
    return {
        "memory_mib": 91000 + second * 3,
        "in_mib": (180 if starved else 640) + dice.randint(-30, 30),
        "out_mib": 12 + dice.randint(0, 9),
        "net_in_mib": 2 + dice.randint(0, 3),
        "net_out_mib": 1,
        "load": round(2.4 if starved else 9.6 + dice.gauss(0, 0.3), 1),
        "cores": " ".join(str(round(max(1.0, min(100.0, each)))) for each in cores),
    }


def write(folder: Path) -> None:
    """Write the three files."""
    (folder / "snapshot.json").write_text(json.dumps(machine(), indent=1) + "\n", encoding="utf-8")
    rows = ticks(random.Random(7))  # noqa: S311  # a story, not a secret
    with (folder / "recording.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    record_demo_run.write(folder, rows)


if __name__ == "__main__":
    write(DEMO)
