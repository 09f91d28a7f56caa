"""Tiny stand-ins for the probe's child: they speak its language and misbehave in one way each."""

from __future__ import annotations

from pathlib import Path

PROLOGUE = """
import ctypes, json, os, signal, sys, time
fd, spec = int(sys.argv[1]), json.loads(sys.argv[2])
names = [name for name, _ in spec["trials"]]
def send(kind, **members):
    os.write(fd, (json.dumps(dict(members, kind=kind)) + "\\n").encode())
def started(gpus=0):
    send("hello", pid=os.getpid(), python="3.8")
    send("imported", import_s=0.1, tensorflow_version="2.0", keras_version="2.0")
    send("devices", visible_gpus=gpus, device="CPU")
def ok(name, **result):
    send("begin", name=name)
    send("trial", name=name, duration_s=0.1, result=dict({"status": "ok", "device": "CPU"}, **result))
"""


def write(folder: Path, body: str) -> Path:
    """Write a child that does what `body` says and return its path."""
    path = folder / "fake_child.py"
    path.write_text(PROLOGUE + body, encoding="utf-8")
    return path


SOUND = """
started()
for name in names:
    ok(name)
send("done")
"""

# Each runs the trials before `map` and then ends at it in its own way; in a second child, without `map`, all is well.
BEFORE_MAP = """
started()
for name in names:
    if name != "map":
        ok(name)
        continue
    send("begin", name="map")
    {fault}
send("done")
"""
