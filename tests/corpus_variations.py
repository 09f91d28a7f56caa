"""Each text of the corpus, changed mechanically as other people's texts differ: the answer must stay, or follow the facts.

`python -m tests.corpus_variations` prints the score of each way.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gpudoctor.codec import load_snapshot
from gpudoctor.diagnose import registry
from gpudoctor.diagnose.from_text import judge_text, overlaid
from gpudoctor.diagnose.registry import AnyCheck
from gpudoctor.logs.facts import snapshot_of
from gpudoctor.logs.reader import read_events
from gpudoctor.logs.stated import read_facts
from gpudoctor.model.observed import LogEvent
from gpudoctor.model.report import Report
from tests.corpus import Thread, mistakes, primary, threads

Lines = list[str]
NOISE = (
    "I tensorflow/core/platform/cpu_feature_guard.cc:210] This TensorFlow binary is optimized to use available CPU instructions in performance-critical operations.",
    "I external/local_xla/xla/stream_executor/cuda/cuda_executor.cc:887] could not open file to read NUMA node: /sys/bus/pci/devices/0000:01:00.0/numa_node",
    "Your kernel may have been built without NUMA support.",
    "E external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:485] Unable to register cuFFT factory: Attempting to register factory for plugin cuFFT when one has already been registered",
    "W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find TensorRT",
)
WORDINGS = (
    (r"failed call to cuInit: CUDA_ERROR_UNKNOWN(?:: unknown error)?", "failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: UNKNOWN ERROR (999)"),
    (r"failed call to cuInit: (UNKNOWN ERROR \(\d+\))", r"failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: \1"),
    (r"failed call to cuInit: (CUDA_ERROR_(?:NO_DEVICE|COMPAT)\w*)", r"failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: \1"),
    (r"WARNING:tensorflow:Your input ran out", "UserWarning: Your input ran out"),
    (r"libdevice not found at \./libdevice\.10\.bc", "libdevice is required by this HLO module but was not found at ./libdevice.10.bc"),
    (r"Ignoring gpu device with Cuda multiprocessor count: (\d+)", r"Ignoring visible gpu device (device: 1, name: Quadro K4200, pci bus id: 0000:02:00.0, compute capability: 3.0) with core count: \1. The minimum required count is 8"),
    (r"will not use cuDNN kernel since it doesn't meet the cuDNN kernel criteria", "will not use cuDNN kernels since it doesn't meet the criteria"),
    (r"Descriptors cannot be", "Descriptors cannot not be"),
    (r"tensorflow/stream_executor", "external/local_xla/xla/stream_executor"),
    (r"tensorflow/compiler/xla", "external/local_xla/xla"),
)  # fmt: skip


def timestamps(lines: Lines) -> Lines:
    """Put TensorFlow's own time before each line."""
    return [f"2025-03-02 12:00:{index % 60:02d}.123456: {line}" for index, line in enumerate(lines)]


def orchestrated(lines: Lines) -> Lines:
    """Put a container platform's prefix before each line."""
    return [f"2025-03-02T12:00:00.123456789Z stderr F {line}" for line in lines]


def quoted(lines: Lines) -> Lines:
    """Quote the text as a forum does."""
    return [f"> {line}" for line in lines]


def coloured(lines: Lines) -> Lines:
    """Colour it, with Windows' line ends."""
    return [f"\x1b[31m{line}\x1b[0m\r" for line in lines]


def moved(lines: Lines) -> Lines:
    """Let each message stand in another file and line."""
    return [re.sub(r"[\w/]+\.cc:\d+\]", "xla/service/file_of_tomorrow.cc:4711]", line) for line in lines]


def reworded(lines: Lines) -> Lines:
    """Say it in another release's words."""
    for pattern, words in WORDINGS:
        lines = [re.sub(pattern, words, line) for line in lines]
    return lines


def noisy(lines: Lines) -> Lines:
    """Mix known noise in."""
    return [NOISE[0], NOISE[1], *(each for line in lines for each in (line, NOISE[len(line) % len(NOISE)])), NOISE[3]]


def late(lines: Lines) -> Lines:
    """Keep the last thirty lines of a longer text."""
    return [*(f"{step}/1000 - 0s 3ms/step - loss: 0.{9999 - step}" for step in range(200)), *lines][-30:]


WAYS: Mapping[str, Callable[[Lines], Lines]] = {
    "timestamps": timestamps,
    "platform prefix": orchestrated,
    "quoted": quoted,
    "colour and CRLF": coloured,
    "other file and line": moved,
    "other release's words": reworded,
    "noise mixed in": noisy,
    "last 30 lines": late,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A text whose verdict must follow the facts: each of `facts` with the cause that it must give."""

    name: str
    lines: tuple[str, ...]
    verdicts: tuple[tuple[Mapping[str, str], str], ...]


JIT = "TensorFlow was not built with CUDA kernel binaries compatible with compute capability {}. CUDA kernels will be jit-compiled from PTX"
FLIPS = (
    Flip(
        name="the GPU that PTX is compiled for",
        lines=(),
        verdicts=(({"gpu": "RTX 5090", "tf": "2.17.0", "os": "linux"}, "blackwell"), ({"gpu": "GTX 970", "tf": "2.17.0", "os": "linux"}, "gpu-filtered")),
    ),
    Flip(
        name="no libcuda, in a container or on a machine",
        lines=("failed call to cuInit: UNKNOWN ERROR (303)",),
        verdicts=(({"container": "docker"}, "container-no-gpu"), ({"container": "none"}, "kernel-module-not-loaded"), ({"os": "WSL2"}, "wsl-libcuda")),
    ),
    Flip(
        name="no device, with and without a variable",
        lines=("failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",),
        verdicts=(({"env.CUDA_VISIBLE_DEVICES": "-1"}, "cuda-visible-devices"), ({"container": "docker"}, "container-no-gpu")),
    ),
    Flip(
        name="the release that does not find its wheels",
        lines=("Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly",),
        verdicts=(({"tf": "2.16.1"}, "and-cuda-wheels"), ({"tf": "2.17.1"}, "missing-cuda-libs")),
    ),
    Flip(
        name="native Windows before and after 2.10",
        lines=("tf.test.is_built_with_cuda(): False",),
        verdicts=(({"os": "windows", "tf": "2.12.0"}, "windows-native"), ({"os": "linux", "tf": "2.12.0"}, "cpu-build")),
    ),
    Flip(
        name="ptxas older than the GPU, with a release that is or is not",
        lines=("ptxas fatal   : Value 'sm_86' is not defined for option 'gpu-name'",),
        verdicts=(({"tf": "2.1.0"}, "ptx-jit"), ({"tf": "2.4.0"}, "xla-libdevice-ptxas")),
    ),
    Flip(
        name="code that the GPU cannot run",
        lines=("'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'",),
        verdicts=(({"gpu": "RTX 5080"}, "blackwell"), ({"gpu": "RTX 3090"}, "no-kernel")),
    ),
    Flip(
        name="a driver that is old or new enough",
        lines=(),
        verdicts=(({"gpu": "RTX 3090", "driver": "470.57.02", "tf": "2.15.0", "os": "linux"}, "driver-too-old"), ({"gpu": "GTX 970", "driver": "550.54", "tf": "2.19.0", "os": "linux"}, "gpu-filtered")),
    ),
    Flip(
        name="NVML's unknown error, in a container or closed to the user",
        lines=("Failed to initialize NVML: Unknown Error",),
        verdicts=(({"container": "docker"}, "nvml-lost-in-container"),),
    ),
    Flip(
        name="a pool that is a rest, or the whole of a small card",
        lines=(
            "Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.00GiB (rounded to 3221225472)requested by op x",
            "total_region_allocated_bytes_: 1900000000 memory_limit_: 1900000000 available bytes: 0 curr_region_allocation_bytes_: 3221225472",
            "Limit:                    1900000000",
            "InUse:                    1899999744",
        ),
        verdicts=(({"gpu": "RTX 3090 24 GB"}, "other-process"), ({"gpu": "MX450 2 GB"}, "batch-too-large")),
    ),
)  # fmt: skip


def events_of(lines: Lines) -> tuple[LogEvent, ...]:
    """Return the events of the lines, and where they end."""
    return (*read_events(lines), LogEvent(kind="text_end", line=len(lines)))


def varied(thread: Thread, way: Callable[[Lines], Lines], checks: tuple[AnyCheck, ...]) -> Report:
    """Return the report on the thread's text, changed in that way."""
    lines = (thread.folder / "run.log").read_text(encoding="utf-8").splitlines()
    base = load_snapshot((thread.folder / "snapshot.json").read_bytes())
    return judge_text(overlaid(base, snapshot_of(events_of(way(lines)))), checks)


def score(checks: tuple[AnyCheck, ...]) -> dict[str, tuple[int, int, list[str]]]:
    """Return right answers, all, and the wrong ones, for each way."""
    texts = [each for each in threads() if not each.exempt and (each.folder / "run.log").is_file()]
    result: dict[str, tuple[int, int, list[str]]] = {}
    for name, way in WAYS.items():
        wrong = [
            f"{each.name}: {'; '.join(why)}" for each in texts if (why := mistakes(each, varied(each, way, checks)))
        ]
        result[name] = (len(texts) - len(wrong), len(texts), wrong)
    return result


def flipped(checks: tuple[AnyCheck, ...]) -> list[str]:
    """Return which verdicts do not follow the facts."""
    wrong: list[str] = []
    for flip in FLIPS:
        for facts, cause in flip.verdicts:
            words = read_facts(f"{key}={value}" for key, value in facts.items())
            found = primary(judge_text(snapshot_of(events_of(list(flip.lines)), words), checks))
            if found is None or found.cause != cause:
                wrong.append(f"{flip.name}, {dict(facts)}: {found.cause if found is not None else 'none'}, not {cause}")
    return wrong


def main() -> None:
    """Print the scores."""
    checks = registry.load().checks
    for name, (right, total, wrong) in score(checks).items():
        sys.stdout.write(f"{name}: {right} of {total}\n" + "".join(f"   {each}\n" for each in wrong))
    verdicts = sum(len(each.verdicts) for each in FLIPS)
    wrong = flipped(checks)
    sys.stdout.write(f"verdicts that follow changed facts: {verdicts - len(wrong)} of {verdicts}\n")
    sys.stdout.write("".join(f"   {each}\n" for each in wrong))


if __name__ == "__main__":
    main()
