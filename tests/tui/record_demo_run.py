"""Writes the run of the demo: a session of an invented script beside the invented machine of `record_demo`.

Its first epoch waits for NumPy; from the second one on the cache feeds it, until the hot GPU halves its clocks. Figures of
the pipeline and of stacks are those of the first epoch. A session of a real GPU would be better; none was at hand.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gpudoctor.profile.schema import TABLES

BEGUN_S = datetime(2026, 11, 30, 14, 0, tzinfo=timezone.utc).timestamp()
FOLDER, FILE = "/home/ada/vision", "/home/ada/vision/train.py"
PROCESS, FIT_LINE, MAP_LINE = "48213-90210", 43, 38
COMMAND = ["python", "train.py"]
# Invented, as all of it: the GPU could train 1400 images a second, and one core prepares 406 of them with NumPy.
BATCH, STEPS_AN_EPOCH = 128, 340
STARVED_STEP_S, FED_STEP_S, HOT_STEP_S = 0.315, 0.0931, 0.2071
STARVED_WAIT, FED_WAIT = 0.71, 0.018
FIT_AT_S, FIRST_STEP_AT_S = 1.0, 2.4
EPOCH_END_S = 0.35
MIB = 1 << 20
IMAGE_BYTES = 224 * 224 * 3 * 4  # as float32, which is what the cache holds and the GPU gets
CACHE_MIB = STEPS_AN_EPOCH * BATCH * IMAGE_BYTES // MIB
PEAK_MIB, KEPT_MIB = 13_120, 281  # of TensorFlow's allocator: activations come and go; weights and Adam's moments stay

Row = dict[str, object]


def batch_mib() -> float:
    """Return what a batch takes on its way to the GPU."""
    return BATCH * IMAGE_BYTES / MIB


def session(rows: Sequence[Row], machine: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """Return the session as a document. `rows`: those of the recording, `machine`: the snapshot beside it."""
    hot = {row["second"] for row in rows if row["what"] == 0 and row["reasons"]}
    hosts = [row for row in rows if row["what"] == "host"]
    used = _used_by_command([row for row in rows if row["what"] == 0])
    end = BEGUN_S + len(hosts) - 1
    steps, epochs = _steps(len(hosts) - 1, hot, dice)
    own = {"process": PROCESS}
    return {
        "schema_version": 1, "session": "demo", "tool_version": "", "command": COMMAND, "folder": FOLDER,
        "started_at": BEGUN_S, "heartbeat_at": end, "outcome": "running", "nvml_status": "ok",
        "processes": [
            own | {
                "pid": 48213, "ppid": 48210, "argv": COMMAND[1:], "executable": _at_home(machine["python"]["executable"]),
                "python": machine["python"]["version"], "folder": FOLDER, "started_at": BEGUN_S,
                "tensorflow_version": machine["tensorflow"]["version"], "keras_version": machine["tensorflow"]["keras_version"],
                "imported_at": BEGUN_S + 0.7, "import_s": 0.6,
            }
        ],
        "loops": [
            own | {
                "loop": 0, "label": "fit", "kind": "graph", "file": FILE, "line": FIT_LINE, "function": "<module>",
                "graph": "multi_step_on_iterator:1", "made_at": BEGUN_S + FIT_AT_S,
            }
        ],
        "steps": [own | {"loop": 0} | each for each in steps],
        "phases": [own | each for each in _phases(epochs)],
        "traces": [own | _tracing(_at_home(machine["python"]["site_packages"][0]))],
        "settings": [own | each for each in _settings()],
        "call_sites": [own | each for each in _call_sites()],
        "iterators": [own | {"iterator": 1, "at": BEGUN_S + FIT_AT_S, "label": "fit", "file": FILE, "line": FIT_LINE, "site": 6}],
        "pipeline_nodes": [own | each for each in _nodes()],
        "stack_lines": [own | each for each in _stack_lines()],
        "bursts": [own | {"at": BEGUN_S + at, "duration_s": 0.25, "samples": 24, "switch_interval_s": 0.0005} for at in range(5, 105, 5)],
        "memory": [own | each for each in _memory(used)],
        "host_samples": [_host(row) | each for row, each in zip(hosts, used, strict=True)],
    }  # fmt: skip


def _at_home(path: str) -> str:
    return path.replace("~", "/home/ada", 1)


def _used_by_command(rows: Sequence[Row]) -> list[Row]:
    """Return what the command has used of the host by each second: the recording's process, added up.

    It reads in its first epoch, while the cache fills: a byte for each colour.
    """
    used: list[Row] = []
    cpu_s = 0.0
    for row in rows:
        cpu_s += int(str(row["process_cpu"])) / 100
        read = (int(str(row["process_mib"])) - int(str(rows[0]["process_mib"]))) / 4 * MIB
        used.append(
            {
                "command_cpu_s": round(cpu_s, 2),
                "command_rss_bytes": int(str(row["process_mib"])) * MIB,
                "command_read_bytes": int(read),
            }
        )
    return used


def _steps(seconds: int, hot: set[object], dice: random.Random) -> tuple[list[Row], list[tuple[float, float]]]:
    """Return the readings of the counters, once a second and at each border of an epoch, and the epochs."""
    at, count, wait, ends = FIRST_STEP_AT_S, 0, 0.0, 0.0
    readings, epochs = [_reading(FIT_AT_S, 0, 0.0, 0.0)], list[tuple[float, float]]()
    epoch_at, told = FIT_AT_S + 0.1, float(int(at) + 1)
    while at < seconds:
        starved = count < STEPS_AN_EPOCH
        length = STARVED_STEP_S if starved else HOT_STEP_S if int(at) in hot else FED_STEP_S
        length *= 1 + dice.gauss(0, 0.03)
        waited = length * (STARVED_WAIT + dice.gauss(0, 0.02) if starved else FED_WAIT)
        while at + length > told:
            readings.append(_reading(told, count, wait, ends))
            told += 1.0
        at, count, wait = at + length, count + 1, wait + waited
        ends += at - FIT_AT_S
        if count % STEPS_AN_EPOCH == 0:
            readings.append(_reading(at, count, wait, ends))
            epochs.append((epoch_at, at))
            at += EPOCH_END_S
            epoch_at = at
            readings.append(_reading(at, count, wait, ends))
    return readings, [*epochs, (epoch_at, float("inf"))]


def _reading(at: float, count: int, wait: float, ends: float) -> Row:
    return {"at": BEGUN_S + round(at, 4), "count": count, "wait_s": round(wait, 4), "end_sum_s": round(ends, 3)}


def _phases(epochs: Sequence[tuple[float, float]]) -> Iterator[Row]:
    yield {
        "phase": 1,
        "kind": "fit",
        "subject": "model 1: functional",
        "file": FILE,
        "line": FIT_LINE,
        "started_at": BEGUN_S + FIT_AT_S,
    }
    for number, (begin, end) in enumerate(epochs):
        row: Row = {
            "phase": 2 + 2 * number, "kind": "epoch", "number": number, "file": FILE, "line": FIT_LINE,
            "started_at": BEGUN_S + round(begin, 4),
        }  # fmt: skip
        if end == float("inf"):
            yield row
            return
        yield row | {"ended_at": BEGUN_S + round(end + EPOCH_END_S, 4)}
        yield row | {
            "phase": 3 + 2 * number, "kind": "epoch_end", "started_at": BEGUN_S + round(end, 4),
            "ended_at": BEGUN_S + round(end + EPOCH_END_S, 4),
        }  # fmt: skip


def _tracing(site_packages: str) -> Row:
    return {
        "at": BEGUN_S + FIRST_STEP_AT_S, "name": "multi_step_on_iterator", "file": FILE, "line": FIT_LINE, "duration_s": 1.1,
        "defined_file": f"{site_packages}/keras/src/backend/tensorflow/trainer.py", "defined_line": 150,
        "reason": "first",
    }  # fmt: skip


def _settings() -> Iterator[Row]:
    of_model = {
        "class": "Functional", "dtype_policy": "float32", "jit_compile": True, "layers": 177, "optimizer": "Adam",
        "parameters": 23669672, "run_eagerly": False, "steps_per_execution": 1, "layer_policies": ["float32"],
    }  # fmt: skip
    of_process = {
        "gpus": 1,
        "memory_growth": True,
        "replicas": 1,
        "dtype_policy": "float32",
        "floatx": "float32",
        "eager_functions": False,
    }
    for subject, told in (("model 1: functional", of_model), ("process", of_process)):
        for name, value in told.items():
            yield {"subject": subject, "name": name, "value": value, "at": BEGUN_S + FIT_AT_S}


def _call_sites() -> Iterator[Row]:
    methods: tuple[tuple[str, dict[str, int]], ...] = (
        ("from_tensor_slices", {}), ("shuffle", {"argument_0": 2048}), ("map", {}), ("cache", {}), ("batch", {"argument_0": BATCH}),
        ("prefetch", {"argument_0": 2}),
    )  # fmt: skip
    for at, (method, arguments) in enumerate(methods, start=1):
        row: Row = {
            "site": at, "method": method, "file": FILE, "line": MAP_LINE - 3 + at, "function": "<module>", "arguments": arguments,
            "inputs": [at - 1] if at > 1 else [],
        }  # fmt: skip
        if method == "map":
            row |= {
                "callee": "prepared", "callee_file": FILE, "callee_line": 20, "python_function": "crop_and_scale",
                "python_file": FILE, "python_line": 11,
            }  # fmt: skip
        yield row


def _nodes() -> Iterator[Row]:
    images = STEPS_AN_EPOCH * BATCH
    batch_s = STARVED_STEP_S * STEPS_AN_EPOCH
    told: tuple[tuple[str, int, float, dict[str, tuple[float, bool]]], ...] = (
        ("Root", STEPS_AN_EPOCH, 0.02, {}),
        ("Prefetch", STEPS_AN_EPOCH, 0.9, {"buffer_size": (2.0, False)}),
        ("BatchV2", STEPS_AN_EPOCH, batch_s * 0.052, {}),
        ("MemoryCache", images, batch_s * 0.014, {}),
        ("Map", images, batch_s * 0.905, {}),
        ("Shuffle", images, batch_s * 0.009, {}),
        ("TensorSlice", images, batch_s * 0.016, {}),
    )
    for at, (name, elements, seconds, parameters) in enumerate(told, start=1):
        yield {
            "iterator": 1, "node": at, "at": BEGUN_S + 109.0, "name": name, "parent": at - 1 if at > 1 else -1,
            "num_elements": elements, "processing_s": round(seconds, 4), "bytes_produced": images * IMAGE_BYTES,
            "parameters": parameters,
        }  # fmt: skip


def _stack_lines() -> Iterator[Row]:
    told = (
        ("pipeline", 15, "crop_and_scale", "numpy", "numpy.pad", 1.93),
        ("pipeline", 17, "crop_and_scale", "numpy", "numpy.std", 1.24),
        ("pipeline", 13, "crop_and_scale", "numpy", "numpy.flatnonzero", 0.71),
        ("pipeline", 16, "crop_and_scale", "numpy", "numpy.astype", 0.33),
        ("main", FIT_LINE, "<module>", "tensorflow_wait", "tensorflow.quick_execute", 4.62),
        ("main", FIT_LINE, "<module>", "tensorflow", "keras.fit", 0.19),
    )
    for role, line, function, activity, leaf, weight in told:
        yield {
            "role": role, "file": FILE, "line": line, "function": function, "activity": activity, "leaf": leaf,
            "weight_s": weight, "samples": round(weight * 96),
        }  # fmt: skip


def _memory(used: Sequence[Row]) -> Iterator[Row]:
    for at, row in enumerate(used[3:], start=3):
        yield {"at": BEGUN_S + at, "device": "GPU:0", "current_bytes": KEPT_MIB * MIB, "peak_bytes": PEAK_MIB * MIB}
        yield {"at": BEGUN_S + at, "device": "host", "current_bytes": row["command_rss_bytes"]}


def _host(row: Row) -> Row:
    cores = [int(each) for each in str(row["cores"]).split()]
    second = float(str(row["second"]))
    return {
        "at": BEGUN_S + second, "cpu_percent": sum(cores) / len(cores), "cores": len(cores), "throttled_s": 0.0,
        "memory_used_bytes": int(str(row["memory_mib"])) * MIB, "memory_total_bytes": 128 << 30, "io_wait_percent": 0.4,
        "command_threads": 61,
    }  # fmt: skip


def _table(rows: Sequence[Row]) -> str:
    """Return a table with a line for each row, so that a change can be read."""
    return "[\n  " + ",\n  ".join(map(json.dumps, rows)) + "\n ]"


def write(folder: Path, rows: Sequence[Row], machine: dict[str, Any]) -> None:
    """Write the session."""
    told = session(rows, machine, random.Random(11))  # noqa: S311  # a story, not a secret
    parts = [
        f"{json.dumps(name)}: {_table(value) if name in TABLES else json.dumps(value)}" for name, value in told.items()
    ]
    (folder / "session.json").write_text("{\n " + ",\n ".join(parts) + "\n}\n", encoding="utf-8")
