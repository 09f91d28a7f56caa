"""What the dashboard costs beside its peers: `python -m tests.benchmarks.monitor_cost --peers FOLDER/bin`; exit 1 where a bar is missed.

The same fake driver with eight GPUs whose figures move, the same terminal of 200x50 in tmux, each program as users start it
and again at one reading a second. nvsonar has no option for its pace. All on one idle machine, one after the other.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from tests.benchmarks.a_run import RunWriter
from tests.benchmarks.monitor_screen import THIS_TREE, Screen
from tests.fakes import FURTHER_SCENARIOS, environment

WATCHED_S, WARM_UP_S, NVSONAR_WARM_UP_S = 20.0, 10.0, 30.0
MOST_CPU_PERCENT, MOST_OF_NVITOP, MOST_BYTES, MOST_OF_EMPTY = 3.0, 1.5, 70 << 20, 1.5
STARTS, READINGS = 7, 11
MIB = 1 << 20
GPUDOCTOR = (sys.executable, "-m", "gpudoctor")
EMPTY_APP = """
from textual.app import App
from textual.widgets import Static, TabbedContent, TabPane
class Empty(App):
    def compose(self):
        with TabbedContent():
            for name in ("Alpha", "Beta", "Gamma"):
                with TabPane(name):
                    yield Static(name.lower())
Empty().run()
"""


class Cost(TypedDict):
    """What a program on a screen took."""

    cpu_percent: float
    program_mib: float
    family_pss_mib: float


@dataclass(frozen=True, slots=True)
class Bench:
    """The environment of all programs, and where the peers are."""

    env: Mapping[str, str]
    peers: Path | None

    def peer(self, name: str, *arguments: str) -> tuple[str, ...]:
        """Return the command of a peer."""
        return () if self.peers is None else (str(self.peers / name), *arguments)

    def cost(self, command: Sequence[str], warm_up_s: float = WARM_UP_S) -> Cost:
        """Return what a program takes of one core and of memory while it is watched."""
        screen = Screen(command, self.env)
        try:
            time.sleep(warm_up_s)
            before, begun = screen.cpu_s(), time.monotonic()
            time.sleep(WATCHED_S)
            spent, seconds = screen.cpu_s() - before, time.monotonic() - begun
            own, family = screen.memory_bytes()
            assert screen.alive, screen.text
        finally:
            screen.close()
        return {
            "cpu_percent": round(100 * spent / seconds, 2), "program_mib": round(own / MIB, 1),
            "family_pss_mib": round(family / MIB, 1),
        }  # fmt: skip

    def paint_s(self, command: Sequence[str], words: str) -> float:
        """Return the time from the start to the first frame with these words."""
        screen = Screen(command, self.env)
        try:
            seen = screen.wait_for(lambda text: words in text, 20.0)
            assert seen is not None, screen.text
            return seen
        finally:
            screen.close()

    def once_s(self, command: Sequence[str]) -> float:
        """Return the wall time of a program that prints once."""
        begun = time.perf_counter()
        subprocess.run(command, env=dict(self.env), check=True, capture_output=True)
        return time.perf_counter() - begun


def _environment(scenario: str, folder: Path) -> dict[str, str]:
    """Return the fake driver on this machine's own /proc, which the peers cannot be told to leave alone."""
    env = {**environment(FURTHER_SCENARIOS[scenario], folder), **THIS_TREE}
    for name in ("GPUDOCTOR_SYSROOT", "FAKE_NVML_LOG"):
        env.pop(name, None)
    return env


def screens(bench: Bench) -> dict[str, Cost]:
    """Return the cost of each program."""
    told = {"gpudoctor": bench.cost((*GPUDOCTOR, "monitor"))}
    with _recorded(Path(bench.env["HOME"])):
        told["gpudoctor, run view on a live run"] = bench.cost((*GPUDOCTOR, "monitor", "--view", "run"))
    if bench.peers is not None:
        told["nvitop"] = bench.cost(bench.peer("nvitop"))
        told["nvitop, 1 s"] = bench.cost(bench.peer("nvitop", "--interval", "1"))
        told["gpustat, 1 s (as it starts)"] = bench.cost(bench.peer("gpustat", "-i"))
        told["nvsonar (as it starts)"] = bench.cost(bench.peer("nvsonar"), NVSONAR_WARM_UP_S)
    return told


@contextmanager
def _recorded(home: Path) -> Generator[None, None, None]:
    """Let a run be recorded meanwhile, by a thread of this process."""
    end = threading.Event()

    def write() -> None:
        writer = RunWriter(home / ".local/state/gpudoctor/sessions")
        while not end.wait(1.0):
            writer.second()
        writer.end()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def paints(bench: Bench) -> dict[str, float]:
    """Return medians of the time to the first frame, the two apps in turn."""
    ours, empty = list[float](), list[float]()
    for _ in range(STARTS):
        ours.append(bench.paint_s((*GPUDOCTOR, "monitor"), "2 Doctor"))
        empty.append(bench.paint_s((sys.executable, "-c", EMPTY_APP), "Gamma"))
    return {"gpudoctor_s": round(statistics.median(ours), 3), "empty_app_s": round(statistics.median(empty), 3)}


def once(bench: Bench) -> dict[str, float]:
    """Return medians of the wall time of one reading, the two programs in turn."""
    ours, theirs = list[float](), list[float]()
    for _ in range(READINGS):
        ours.append(bench.once_s((*GPUDOCTOR, "monitor", "--once")))
        theirs.append(bench.once_s(bench.peer("nvitop", "-1")))
    return {"gpudoctor_s": round(statistics.median(ours), 3), "nvitop_s": round(statistics.median(theirs), 3)}


def missed(told: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[str]:
    """Return the bars that are missed, as sentences."""
    wrong: list[str] = []
    seen = told.get("screens", {})
    for name in ("gpudoctor", "gpudoctor, run view on a live run"):
        if name in seen and seen[name]["cpu_percent"] > MOST_CPU_PERCENT:
            wrong.append(f"{name}: over {MOST_CPU_PERCENT} % of a core")
        if name in seen and seen[name]["family_pss_mib"] * MIB > MOST_BYTES and "run" not in name:
            wrong.append(f"{name}: over {MOST_BYTES / MIB:.0f} MiB")
    if "nvitop, 1 s" in seen and seen["gpudoctor"]["cpu_percent"] > MOST_OF_NVITOP * seen["nvitop, 1 s"]["cpu_percent"]:
        wrong.append(f"gpudoctor: over {MOST_OF_NVITOP} x nvitop at the same interval")
    paint = told.get("first paint", {}).get("", {})
    if paint and paint["gpudoctor_s"] > MOST_OF_EMPTY * paint["empty_app_s"]:
        wrong.append(f"first paint: over {MOST_OF_EMPTY} x an empty app")
    wrong += [
        f"--once, {name}: slower than nvitop -1"
        for name, each in told.get("once", {}).items()
        if each["gpudoctor_s"] > each["nvitop_s"]
    ]
    return wrong


def main() -> int:
    """Measure what was asked for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, help="the bin folder of an environment with nvitop, gpustat and nvsonar")
    parser.add_argument("--part", action="append", choices=("screens", "paint", "once"))
    options = parser.parse_args()
    parts = options.part or ["screens", "paint", "once"]
    told: dict[str, Mapping[str, Mapping[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        eight = Bench(_environment("wave_8", Path(folder, "8")), options.peers)
        one = Bench(_environment("healthy", Path(folder, "1")), options.peers)
        if "screens" in parts:
            told["screens"] = {
                name: {key: float(str(value)) for key, value in each.items()} for name, each in screens(eight).items()
            }
        if "paint" in parts:
            told["first paint"] = {"": paints(eight)}
        if "once" in parts and options.peers is not None:
            told["once"] = {"1 GPU": once(one), "8 GPUs": once(eight)}
    wrong = missed(told)
    sys.stdout.write(json.dumps({**told, "missed": wrong}, indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
