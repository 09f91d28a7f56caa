"""A run that is being recorded, without a training: the wrapper's own writer, fed with invented steps once a second."""

from __future__ import annotations

import time
from pathlib import Path

from gpudoctor.profile.record import SessionWriter

FILE = "/home/ada/vision/train.py"
STEP_S, WAIT_SHARE = 0.05, 0.6


class RunWriter:
    """Writes a session; the process that made it is its owner, so it counts as live."""

    def __init__(self, folder: Path, name: str = "bench") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{name}.session"
        self._writer = SessionWriter(self.path)
        self._begun, self._count, self._wait_s = time.time(), 0, 0.0
        self._own = {"process": "4711-1"}
        self._writer.note(
            session=name, tool_version="0", command=["python", "train.py"], folder="/home/ada/vision", outcome="running",
            started_at=self._begun, heartbeat_at=self._begun,
        )  # fmt: skip
        self._tables()
        self.second()

    def _tables(self) -> None:
        add, own, begun = self._writer.add, self._own, self._begun
        add("processes", **own, pid=4711, started_at=begun, tensorflow_version="2.20.0", keras_version="3.11.3")
        add("loops", **own, loop=0, label="fit", kind="graph", file=FILE, line=43, graph="step:1", made_at=begun)
        add("phases", **own, phase=1, kind="fit", file=FILE, line=43, started_at=begun)
        add("phases", **own, phase=2, kind="epoch", number=0, file=FILE, line=43, started_at=begun)
        add("call_sites", **own, site=1, method="from_tensor_slices", file=FILE, line=36)
        add("call_sites", **own, site=2, method="map", file=FILE, line=38, callee="prepared", inputs=[1])
        add("iterators", **own, iterator=1, at=begun, label="fit", file=FILE, line=43, site=2)

    def second(self) -> None:
        """Write what came in the last second."""
        now = time.time()
        steps = int((now - self._begun) / STEP_S) - self._count
        self._count += steps
        self._wait_s += steps * STEP_S * WAIT_SHARE
        add, own = self._writer.add, self._own
        add("steps", **own, loop=0, at=now, count=self._count, wait_s=self._wait_s)
        add("memory", **own, at=now, device="host", current_bytes=(5 << 30) + self._count * 1000)
        add("gpu_samples", at=now, gpu=0, gpu_percent=34, memory_used_bytes=62 << 30, power_w=312.0, own_processes=1)
        add("host_samples", at=now, cpu_percent=27.0, cores=16, command_cpu_s=1.7 * (now - self._begun))
        add("bursts", **own, at=now, duration_s=0.01, samples=1)
        add("stack_lines", **own, role="pipeline", file=FILE, line=15, function="crop", activity="numpy", leaf="numpy.pad", weight_s=0.006 * self._count * STEP_S)  # fmt: skip
        for node, name, seconds in ((1, "Root", 0.0), (2, "Map", 0.9), (3, "TensorSlice", 0.01)):
            add("pipeline_nodes", **own, iterator=1, node=node, at=now, name=name, parent=node - 1 or -1, num_elements=self._count, processing_s=seconds * STEP_S * self._count)  # fmt: skip
        self._writer.tick()

    def end(self, exit_code: int = 0) -> None:
        """End the run as the wrapper does."""
        self._writer.note(exit_code=exit_code, ended_at=time.time(), outcome="ended")
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._writer.close(whole=True)
