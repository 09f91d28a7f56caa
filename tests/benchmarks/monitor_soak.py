"""Thirty minutes of faults: `python -m tests.benchmarks.monitor_soak [--seconds 1800]`; exit 1 where a promise is broken.

Every few seconds the fake driver changes: a GPU is lost, a call hangs or crashes, fields are unsupported, GPUs come and go;
processes are born and die all the time, a run is recorded beside it, and keys are pressed whose answer must be seen.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.a_run import RunWriter
from tests.benchmarks.monitor_screen import THIS_TREE, Screen
from tests.fakes import FURTHER_SCENARIOS, environment

FAULT_EVERY_S, KEY_EVERY_S, LOOK_EVERY_S = 4.0, 2.0, 1.0
WARM_UP_S = 180.0
MOST_GROWTH_BYTES = 5 << 20
ANSWER_S = 5.0
GPUS, CHURN = 8, 6
BASE = FURTHER_SCENARIOS["wave_8"]

# Key -> what the screen shows when it has answered.
KEYS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("2", lambda text: "one trial" in text),
    ("3", lambda text: "next run" in text),
    ("s", lambda text: "next run" in text),
    ("1", lambda text: "processes" in text),
    ("?", lambda text: "this help" in text),
    ("Escape", lambda text: "this help" not in text),
    ("t", lambda text: ", tree" in text),
    ("t", lambda text: ", tree" not in text),
    ("o", lambda text: "by cpu" in text),
    ("O", lambda text: "by gpu memory" in text),
    ("p", lambda text: "PAUSED" in text),
    ("p", lambda text: "PAUSED" not in text),
    ("/", lambda text: "Show processes with" in text),
    ("Escape", lambda text: "Show processes with" not in text),
)  # fmt: skip


@dataclass(slots=True)
class Result:
    """What was seen."""

    seconds: float = 0.0
    faults: int = 0
    keys: int = 0
    lost_keys: list[str] = field(default_factory=list[str])
    troubles: list[str] = field(default_factory=list[str])
    memory: list[tuple[float, int, int]] = field(default_factory=list[tuple[float, int, int]])

    def growth_bytes(self) -> int:
        """Return the growth of the program's memory from the end of the warm-up to the end: medians of two minutes each."""
        late = [own for at, own, _ in self.memory if at > WARM_UP_S]
        part = max(1, min(120, len(late) // 3))
        return _median(late[-part:]) - _median(late[:part]) if late else 0

    def summary(self) -> dict[str, object]:
        """Return the figures."""
        return {
            "seconds": round(self.seconds), "faults": self.faults, "keys": self.keys, "lost_keys": self.lost_keys,
            "exceptions": self.troubles, "growth_mib": round(self.growth_bytes() / (1 << 20), 2),
            "program_mib": round(self.memory[-1][1] / (1 << 20), 1) if self.memory else None,
            "family_pss_mib": round(self.memory[-1][2] / (1 << 20), 1) if self.memory else None,
        }  # fmt: skip

    @property
    def kept(self) -> bool:
        """Return whether all promises were kept."""
        return not self.lost_keys and not self.troubles and self.growth_bytes() <= MOST_GROWTH_BYTES


def _median(values: list[int]) -> int:
    return sorted(values)[len(values) // 2]


def faults(dice: random.Random) -> Iterator[list[str]]:
    """Yield lines that make the healthy machine sick, in turn."""
    while True:
        gpu = dice.randrange(GPUS)
        yield []
        yield [f"gpu{gpu}.rc.all=15"]
        yield ["gpu*.rc.utilization=3", "gpu*.rc.power=3", "gpu*.rc.reasons=3"]
        yield [f"gpus={dice.randrange(GPUS)}"]
        yield ["gpu*.rc.all=4"]
        yield [f"gpu{gpu}.hang=utilization"]
        yield []
        yield []
        yield [f"gpu{gpu}.rc.all=16"]
        yield [f"gpu{gpu}.segfault=temperature"]
        yield []
        yield ["gpus=0"]
        yield ["gpu*.rc.memory=999", "gpu*.rc.temperature=3"]
        yield ["gpu*.slow=power,200"]


class Machine:
    """The fake driver's file, and processes that live shortly."""

    def __init__(self, path: Path, dice: random.Random) -> None:
        self._path, self._dice = path, dice
        self._faults = faults(dice)
        self._processes: list[subprocess.Popen[bytes]] = []

    def change(self) -> None:
        """Go on to the next state."""
        self.churn()
        rows = [
            f"gpu{self._dice.randrange(GPUS)}.process={each.pid},{self._dice.randrange(1 << 33)}"
            for each in self._processes
        ]
        fresh = self._path.with_suffix(".new")
        fresh.write_text("\n".join([BASE.text, *rows, *next(self._faults), ""]), encoding="utf-8")
        fresh.rename(self._path)

    def churn(self) -> None:
        """Let processes die and be born."""
        while len(self._processes) >= CHURN:
            dead = self._processes.pop(0)
            dead.kill()
            dead.wait()
        self._processes.append(subprocess.Popen(["/bin/sleep", "600"]))

    def close(self) -> None:
        """End the processes."""
        for each in self._processes:
            each.kill()
            each.wait()


def soak(seconds: float) -> Result:
    """Run it."""
    result, dice = Result(), random.Random(5)  # noqa: S311  # the same faults each time
    with tempfile.TemporaryDirectory() as folder:
        env = {**environment(BASE, Path(folder)), **THIS_TREE, "FAKE_NVML_LIVE": "1"}
        env.pop("FAKE_NVML_LOG", None)  # half an hour of calls
        machine = Machine(Path(env["FAKE_NVML_SCENARIO"]), dice)
        writer = RunWriter(Path(env["HOME"]) / ".local/state/gpudoctor/sessions")
        screen = Screen([sys.executable, "-m", "gpudoctor", "monitor"], env, size=(120, 40))
        try:
            screen.wait_for(lambda text: "processes" in text, 20.0)
            _watch(screen, machine, writer, result, seconds)
        finally:
            screen.close()
            machine.close()
            writer.close()
    return result


def _watch(screen: Screen, machine: Machine, writer: RunWriter, result: Result, seconds: float) -> None:
    keys = itertools.cycle(KEYS)
    begun = time.monotonic()
    fault_due = key_due = look_due = begun
    while (now := time.monotonic()) < begun + seconds:
        if now >= fault_due:
            machine.change()
            result.faults, fault_due = result.faults + 1, now + FAULT_EVERY_S
        if now >= key_due:
            _press(screen, next(keys), result)
            key_due = now + KEY_EVERY_S
        if now >= look_due:
            writer.second()
            result.memory.append((now - begun, *screen.memory_bytes()))
            _look(screen, result, now - begun)
            look_due = now + LOOK_EVERY_S
            if result.troubles:
                break
        time.sleep(0.1)
    result.seconds = time.monotonic() - begun


def _press(screen: Screen, key: tuple[str, Callable[[str], bool]], result: Result) -> None:
    name, answered = key
    screen.press(name)
    result.keys += 1
    if screen.wait_for(answered, ANSWER_S) is None:
        result.lost_keys.append(f"{result.keys}: {name}\n{screen.text}")


def _look(screen: Screen, result: Result, at_s: float) -> None:
    text = screen.text
    if not screen.alive:
        result.troubles.append(f"{at_s:.0f} s: it ended\n{text}")
    for words in ("Traceback", "without a word", "the reader of the session ended"):
        if words in text:
            result.troubles.append(f"{at_s:.0f} s: {words}\n{text}")


def main() -> int:
    """Soak and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1800.0)
    options = parser.parse_args()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.nice(1)
    result = soak(options.seconds)
    sys.stdout.write(json.dumps(result.summary(), indent=1) + "\n")
    return 0 if result.kept else 1


if __name__ == "__main__":
    sys.exit(main())
