"""Makes a sparse snapshot of what a text and a person tell of a machine; the fact base fills in what follows.

What was stated outranks what the text shows, and both leave out what they do not say: absent is unknown, never healthy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from gpudoctor.knowledge import tensorflow_early, tensorflow_releases, versions
from gpudoctor.logs import fact_values, machine_text
from gpudoctor.logs.era import AT_MOST
from gpudoctor.logs.fact_values import CPU_PACKAGES, MODES, NONE, SCHEDULERS
from gpudoctor.logs.machine_text import NamedGpu
from gpudoctor.logs.patterns.facts import FACT
from gpudoctor.logs.stated import truth
from gpudoctor.model.gpu import Gpu, Memory
from gpudoctor.model.machine import Cpu, Cuda, Host, Kernel, Nvml, Scheduler
from gpudoctor.model.missing import NOT_IN_TEXT, Maybe, Missing
from gpudoctor.model.observed import STATED, Log, LogEvent
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.software import Python, TensorFlow
from gpudoctor.model.words import BuildOrigin, word

CORES = re.compile(r"(?i)(?<![\w.-])(\d{1,4})(?:\s?(?:v?cpus?|cores?|threads)\b|\s*$)")
TOLD_BESIDE = ("container", AT_MOST)  # what events of another kind tell of the machine
NOT_SAID = Missing("not said")
# The last release with a CUDA build for native Windows is 2.10 (tensorflow.org/install/pip)
FIRST_CPU_ONLY_ON_WINDOWS = "2.11"
GROUPS = (
    "host",
    "nvml",
    "cuda",
    "scheduler",
    "kernel",
    "gpus",
    "python",
    "packages",
    "tensorflow",
    "libraries",
    "env",
    "probe",
)
PACKAGES = ("numpy", "keras", "protobuf")
KEPT = (
    "cuda",
    "cudnn",
    "tf",
    AT_MOST,
    "python",
    "container_image",
    "multiprocessors",
    "nccl",
    "conda",
    "other",
    "libcuda",
    "storage",
    "said_by",
)


def snapshot_of(events: Iterable[LogEvent], stated: Mapping[str, str] | None = None, *, taken_at: str = "") -> Snapshot:
    """Return the machine that the events and the stated facts describe, the events in its log."""
    listed = tuple(events)
    facts = merged(listed, stated or {})
    gpus = _gpus(facts, listed)
    host = _host(facts)
    snapshot = Snapshot(
        taken_at=taken_at,
        host=host,
        nvml=_nvml(facts),
        cuda=Cuda(library_version=facts["libcuda"]) if facts.get("libcuda") else None,
        scheduler=None
        if (scheduler := word(facts.get("scheduler", ""), SCHEDULERS)) is None
        else Scheduler(kind=scheduler),
        kernel=_kernel(facts),
        gpus=gpus or (() if facts.get("gpu") == NONE else None),
        python=Python(version=facts["python"], manager=_manager(facts)) if facts.get("python") else None,
        packages=_packages(facts),
        tensorflow=_tensorflow(facts, host),
        env=_env(facts),
        log=Log(events=(*_kept(facts), *(each for each in listed if each.kind != FACT))),
    )
    absent = {name: NOT_IN_TEXT for name in GROUPS if getattr(snapshot, name) is None}
    return replace(snapshot, missing=absent)


def merged(events: Iterable[LogEvent], stated: Mapping[str, str]) -> dict[str, str]:
    """Return all facts, read: the text's first, the stated ones over them."""
    raw: dict[str, str] = {}
    for event in events:
        if event.kind == FACT:
            for key, value in event.values.items():
                raw.setdefault(key, value)
        elif event.kind == "variable":
            raw.setdefault(f"env.{event.values['name']}", event.values.get("value", ""))
        else:
            raw.update({key: event.values[key] for key in TOLD_BESIDE if event.values.get(key) and key not in raw})
    told: dict[str, str] = {}
    for layer in (raw, stated):
        told.update(fact_values.read_all(layer))
    return told


def _host(facts: Mapping[str, str]) -> Host | None:
    system, wsl = facts.get("os"), facts.get("wsl")
    container = facts.get("container")
    if wsl == "yes":
        system = "linux"
    if not any(facts.get(key) for key in ("os", "wsl", "container", "arch", "kernel", "glibc", "cpu", "memory_bytes")):
        return None
    return Host(
        os=system or ("linux" if container else NOT_SAID),
        distribution=facts.get("distribution") or NOT_SAID,
        arch=facts.get("arch") or NOT_SAID,
        kernel=facts.get("kernel") or NOT_SAID,
        wsl=wsl == "yes" if wsl or system else NOT_SAID,
        container=container or NOT_SAID,
        libc=facts.get("glibc") or NOT_SAID,
        cpu=_cpu(facts.get("cpu", "")),
        memory_bytes=int(facts["memory_bytes"]) if facts.get("memory_bytes") else NOT_SAID,
    )


def _cpu(said: str) -> Cpu:
    cores = CORES.search(said)
    return Cpu(model=said or NOT_SAID, cores=NOT_SAID if cores is None else int(cores[1]))


def _nvml(facts: Mapping[str, str]) -> Nvml | None:
    driver, cuda = facts.get("driver"), facts.get("driver_cuda")
    if not driver and not cuda:
        return None
    shown = "nvidia-smi" in facts.get("source", "")
    return Nvml(
        status="ok" if shown else NOT_SAID, driver_version=driver or NOT_SAID, cuda_driver_version=cuda or NOT_SAID
    )


def _kernel(facts: Mapping[str, str]) -> Kernel | None:
    told: dict[str, Maybe[bool]] = {}
    for key, name in (("secure_boot", "secure_boot"), ("nouveau", "nouveau_loaded"), ("uvm", "uvm_loaded")):
        if key in facts:
            told[name] = facts[key] == "yes"
    module = facts.get("kernel_module")
    if not told and not module:
        return None
    return Kernel(
        module_version=module or NOT_SAID,
        module_loaded=True if module else False if told.get("nouveau_loaded") is True else NOT_SAID,
        secure_boot=told.get("secure_boot", NOT_SAID),
        nouveau_loaded=told.get("nouveau_loaded", NOT_SAID),
        uvm_loaded=told.get("uvm_loaded", NOT_SAID),
    )


def _gpus(facts: Mapping[str, str], events: Iterable[LogEvent]) -> tuple[Gpu, ...]:
    count = facts.get("gpu_count", "")
    wanted = int(count) if count.isdecimal() and len(count) < 4 else None
    if facts.get("gpu") == NONE:
        return ()
    named = machine_text.named_gpus(facts["gpu"]) if facts.get("gpu") else _in_text(events)
    if wanted is not None:
        named = machine_text.as_many(named, wanted)
    cc = facts.get("compute_capability", "")
    mode = word(facts.get("compute_mode", "").lower(), MODES)
    mig = truth(facts.get("mig", ""))
    return tuple(
        Gpu(
            index=index,
            name=gpu.name or NOT_SAID,
            compute_capability=cc or gpu.compute_capability or NOT_SAID,
            memory=Memory(total_bytes=NOT_SAID if gpu.memory_bytes is None else gpu.memory_bytes),
            compute_mode=mode or NOT_SAID,
            mig_mode=NOT_SAID if mig is None else "enabled" if mig else "disabled",
        )
        for index, gpu in enumerate(named)
    )


def _in_text(events: Iterable[LogEvent]) -> tuple[NamedGpu, ...]:
    """Return the GPUs that TensorFlow or nvidia-smi listed, by index; of two lists the longer one."""
    lists: dict[str, dict[str, NamedGpu]] = {}
    for event in events:
        name = event.values.get("gpu", "")
        if event.kind not in {"gpu_created", "gpu_found", "gpu_skipped", FACT} or not name:
            continue
        place = event.values.get("device") or event.values.get("index") or event.values.get("pci") or str(event.line)
        told = event.values.get("compute_capability") or event.values.get("capability", "")
        known = machine_text.named_gpus(name)
        if known:
            gpu = replace(known[0], compute_capability=told or known[0].compute_capability)
            lists.setdefault(event.kind, {}).setdefault(place, gpu)
    longest = max(lists.values(), key=len, default=dict[str, NamedGpu]())
    return tuple(longest.values())[: machine_text.gpus_at_most()]


def _manager(facts: Mapping[str, str]) -> Maybe[str]:
    return "conda" if facts.get("conda") == "yes" else NOT_SAID


def _packages(facts: Mapping[str, str]) -> dict[str, str] | None:
    found = {name: facts[name] for name in PACKAGES if facts.get(name)}
    found.update({key[8:].lower(): value for key, value in facts.items() if key.startswith("package.")})
    if found and facts.get("tf"):
        found["tensorflow"] = facts["tf"]
    return found or None


def _env(facts: Mapping[str, str]) -> dict[str, str] | None:
    return {key[4:]: value for key, value in facts.items() if key.startswith("env.")} or None


def _tensorflow(facts: Mapping[str, str], host: Host | None) -> TensorFlow | None:
    version = facts.get("tf", "")
    if not version:
        return None
    origin = _origin(facts)
    cuda_build = _has_cuda(version, facts, host)
    official = origin == "official_wheel" and cuda_build is not False
    release = tensorflow_releases.release_of(version) if official else None
    early = tensorflow_early.built_with(version) if official else None
    cuda = release.cuda_version if release is not None else early[0] if early is not None else None
    cudnn = release.cudnn_version if release is not None else early[1] if early is not None else None
    return TensorFlow(
        installed=True,
        version=version,
        distribution=facts.get("tf_package", "tensorflow"),
        origin=origin,
        is_cuda_build=cuda_build,
        cuda_version=cuda or NOT_SAID,
        cudnn_version=cudnn or NOT_SAID,
        compute_capabilities=release.compute_capabilities if release is not None else NOT_SAID,
        build_info_from="fact base" if release is not None or early is not None else NOT_SAID,
    )


def _origin(facts: Mapping[str, str]) -> BuildOrigin:
    image = facts.get("container_image", "").lower()
    if facts.get("image") == "ngc" or "nvcr.io" in image or facts.get("tf_package") == "nvidia-tensorflow":
        return "ngc"
    if facts.get("conda") == "yes":
        return "conda"
    if image and not image.startswith(("tensorflow/", "gcr.io/tensorflow/", "docker.io/tensorflow/")):
        return "unknown"
    return "official_wheel" if _is_release(facts.get("tf", "")) else "unknown"


def _is_release(version: str) -> bool:
    """Return whether PyPI has a wheel of that minor release, as far as the tables know."""
    return tensorflow_releases.release_of(version) is not None or tensorflow_early.is_release(version)


def _has_cuda(version: str, facts: Mapping[str, str], host: Host | None) -> bool:
    if facts.get("tf_package") in CPU_PACKAGES:
        return False
    system = host.os if host is not None else NOT_SAID
    arch = host.arch if host is not None else NOT_SAID
    if system == "darwin" or (arch in {"aarch64", "arm64"} and _origin(facts) == "official_wheel"):
        return False
    return not (system == "windows" and versions.at_least(version, FIRST_CPU_ONLY_ON_WINDOWS))


def _kept(facts: Mapping[str, str]) -> tuple[LogEvent, ...]:
    values = {name: facts[name] for name in KEPT if facts.get(name)}
    return (LogEvent(kind=STATED, text="facts stated or shown", values=values),) if values else ()
