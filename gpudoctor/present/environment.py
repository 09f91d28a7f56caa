"""The environment as `key: value` lines, ready to paste: what is unknown says why, nothing identifies a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpudoctor import __version__
from gpudoctor.model.gpu import Gpu
from gpudoctor.model.missing import Missing
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.present import figures
from gpudoctor.present.style import printable

PACKAGES = ("keras", "tf-keras", "numpy", "protobuf", "nvidia-ml-py")


def render(snapshot: Snapshot, target: Mapping[str, str]) -> str:
    """Return the block."""
    rows = [("gpudoctor", __version__), *_machine(snapshot), *_driver(snapshot), *_software(snapshot, target)]
    rows += _libraries(snapshot)
    rows += [(f"env {name}", value) for name, value in sorted((snapshot.env or {}).items())]
    width = max(len(label) for label, _ in rows)
    return "".join(f"{label + ':':<{width + 2}}{printable(value)}\n" for label, value in rows)


def _say(value: object) -> str:
    return f"unknown ({value.reason})" if isinstance(value, Missing) else str(value)


def _told(first: object, *more: tuple[str, object]) -> str:
    """Return the first value, or why it is unknown; further ones follow where they are known."""
    known = [f"{label}{value}" for label, value in more if not isinstance(value, Missing)]
    return ", ".join([_say(first), *known])


def _machine(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    host = snapshot.host
    if host is None:
        yield "host", f"unknown ({snapshot.why_missing('host')})"
        return
    yield "os", f"{_say(host.distribution)}, kernel {_say(host.kernel)}, {_say(host.arch)}, {_say(host.libc)}"
    yield "container", _say(host.container)
    yield "wsl", _say(host.wsl)
    quota = "none" if isinstance(host.cpu.quota_cores, Missing) else f"{host.cpu.quota_cores:g}"
    yield "cpu", f"{_say(host.cpu.cores)} cores, affinity {_say(host.cpu.affinity)}, quota {quota}"
    memory = host.memory_bytes
    yield "memory", _say(memory) if isinstance(memory, Missing) else figures.size(memory)


def _driver(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    nvml, cuda, kernel = snapshot.nvml, snapshot.cuda, snapshot.kernel
    if nvml is None:
        yield "nvml", f"unknown ({snapshot.why_missing('nvml')})"
    else:
        yield "nvml", _told(nvml.status, ("driver ", nvml.driver_version), ("CUDA ", nvml.cuda_driver_version))
    if cuda is None:
        yield "libcuda", f"unknown ({snapshot.why_missing('cuda')})"
    else:
        yield "libcuda", _told(cuda.libcuda_path, ("origin ", cuda.origin), ("cuInit ", cuda.cu_init_name))
    if kernel is not None:
        yield "kernel module", _told(kernel.module_version, ("loaded ", kernel.module_loaded))
    for gpu in snapshot.gpus or ():
        yield f"gpu {gpu.index}", _gpu(gpu)


def _gpu(gpu: Gpu) -> str:
    total = gpu.memory.total_bytes
    memory = _say(total) if isinstance(total, Missing) else figures.size(total)
    return f"{_say(gpu.name)}, cc {_say(gpu.compute_capability)}, {memory}, {gpu.status}"


def _software(snapshot: Snapshot, target: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    version = snapshot.python.version if snapshot.python is not None else Missing(snapshot.why_missing("python"))
    yield "python", f"{_say(version)}, {target.get('executable', '?')} ({target.get('chosen_by', '?')})"
    tensorflow = snapshot.tensorflow
    if tensorflow is not None:
        yield (
            "tensorflow",
            f"{_say(tensorflow.version)}, {_say(tensorflow.origin)}, CUDA build {_say(tensorflow.is_cuda_build)}",
        )
        yield "built for", f"CUDA {_say(tensorflow.cuda_version)}, cuDNN {_say(tensorflow.cudnn_version)}"
    packages = snapshot.packages or {}
    for name in sorted(each for each in packages if each in PACKAGES or each.startswith("nvidia-")):
        yield name, packages[name]


def _libraries(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    for library in snapshot.libraries or ():
        yield library.soname, _told(library.path, ("version ", library.version), ("from ", library.origin))
