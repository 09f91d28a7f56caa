"""Rates of `gpudoctor log` by kind of text and way in: MB/s by the clock and by the processor, and the largest memory.

`python -m tests.benchmarks.reading_rates [MB]` writes the texts into a temporary folder and reads each in a process of its own.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

MB = 10**6
DEFAULT_MB = 1000
OTHERS_MB = 100  # the kinds that are all events: their rate does not depend on the length
COMMAND = (sys.executable, "-m", "gpudoctor", "log", "--no-machine", "--fail-on", "never")
MESSAGES: tuple[Callable[[int], str], ...] = (
    lambda i: (
        f"OP_REQUIRES failed at conv_ops.cc:{i} : RESOURCE_EXHAUSTED: OOM when allocating tensor with shape[{i},3,512]"
    ),
    lambda i: (
        f"WARNING:tensorflow:5 out of the last {i} calls to <function f{i} at 0x7f> triggered tf.function retracing."
    ),
    lambda i: (
        f"Could not load dynamic library 'libcudart.so.{i}'; dlerror: libcudart.so.{i}: cannot open shared object file"
    ),
    lambda i: f"NVRM: Xid (PCI:0000:{i % 100:02d}:00): 79, pid={i}, GPU has fallen off the bus.",
)


def ordinary(step: int) -> str:
    """Return a line of a training."""
    if step % 5:
        return f"{step}/1875 [=====>.....] - ETA: {step % 60}s - loss: 0.{9999 - step % 9000} - accuracy: 0.91\n"
    return f"2025-03-02 12:00:00.{step % 10**6:06d}: I tensorflow/core/common_runtime/executor.cc:1209] a message that means nothing\n"


def distinct(step: int) -> str:
    """Return an event that was not said before."""
    return f"2025-03-02 12:00:00.{step % 10**6:06d}: W tensorflow/file.cc:1] {MESSAGES[step % len(MESSAGES)](step)}\n"


def dump(step: int) -> str:
    """Return one short dump of an allocator, of about 4 KB."""
    at = f"2025-03-02 12:00:00.{step % 10**6:06d}: I tensorflow/core/common_runtime/bfc_allocator.cc:1] "
    return "".join(f"{line}\n" for line in _dump(step, at))


def _dump(step: int, at: str) -> Iterator[str]:
    yield f"{at}Allocator (GPU_0_bfc) ran out of memory trying to allocate 16.00MiB (rounded to 16777216)requested by op m/{step}"
    yield f"{at}BFCAllocator dump for GPU_0_bfc"
    for number in range(8, 12):
        yield (
            f"{at}Bin ({1 << number}): \tTotal Chunks: 3, Chunks in use: 2. 2.2KiB allocated for chunks. 1.1KiB in use in bin."
            " 1.0KiB client-requested in use in bin."
        )
    yield f"{at}Bin for 16.00MiB was 16.00MiB, Chunk State: "
    yield f"{at}Next region of size 16777216"
    for chunk in range(16):
        yield f"{at}{'InUse' if chunk % 3 else 'Free '} at 7f00{chunk:08x} of size {256 * (chunk + step % 97 + 1)} next {chunk}"
    yield f"{at}     Summary of in-use Chunks by size: "
    for number in range(5):
        yield f"{at}{number + 1} Chunks of size {256 << number} totalling {number + 1}.0KiB"
    yield f"{at}Sum Total of in-use chunks: 10.52MiB"
    yield f"{at}total_region_allocated_bytes_: 16777216 memory_limit_: 16777216 available bytes: 0 curr_region_allocation_bytes_: 1"
    yield f"{at}Stats: "
    yield from (
        "Limit:    16777216",
        "InUse:    11031552",
        "MaxInUse: 16777216",
        "NumAllocs: 90",
        "LargestFreeBlock: 0",
        "",
    )


def write(path: Path, line: Callable[[int], str], size_bytes: int) -> None:
    """Write a text of that size."""
    steps = 500  # a child begins with the memory that this process had: keep it small
    with path.open("w", encoding="utf-8") as file:
        written, begin = 0, 0
        while written < size_bytes:
            block = "".join(line(step) for step in range(begin, begin + steps))
            written, begin = written + file.write(block[: size_bytes - written]), begin + steps


def measured(name: str, path: Path, size_bytes: int, *, stdin: bool = False) -> None:
    """Read the text in a process of its own and print what it took."""
    begun = time.perf_counter()
    with path.open("rb") as file:
        child = subprocess.Popen(
            [*COMMAND, "-" if stdin else str(path)], stdin=file if stdin else None, stdout=subprocess.DEVNULL
        )
        _, status, used = os.wait4(child.pid, 0)
    took_s = time.perf_counter() - begun
    processor_s = used.ru_utime + used.ru_stime
    sys.stdout.write(
        f"{name:10} {size_bytes / MB:6.0f} MB  {size_bytes / MB / took_s:6.1f} MB/s by the clock  "
        f"{size_bytes / MB / processor_s:6.1f} MB/s of one core  {used.ru_maxrss / 1024:5.0f} MiB  status {status}\n"
    )
    sys.stdout.flush()


def main() -> None:
    """Print one line for each text."""
    size = (int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_MB) * MB
    others = min(size, OTHERS_MB * MB)
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = Path(folder, "run.log"), Path(folder, "run.log.gz")
        for name, line in (("distinct", distinct), ("dumps", dump)):
            write(plain, line, others)
            measured(name, plain, others)
        write(plain, ordinary, size)
        measured("plain", plain, size)
        measured("stdin", plain, size, stdin=True)
        with plain.open("rb") as source, gzip.open(packed, "wb", compresslevel=1) as target:
            while block := source.read(1 << 20):
                target.write(block)
        measured("gzip", packed, size)


if __name__ == "__main__":
    main()
