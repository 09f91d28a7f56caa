"""What the value of a fact means, in the words of the model: "tensorflow-gpu 2.10" is a release and a package.

Values come from people and from texts alike and are read leniently; one that says nothing gives nothing, since a guessed
fact decides like a known one. Who typed it is told so (`accepted`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from gpudoctor.logs import machine_text
from gpudoctor.logs.stated import capability, number, tensorflow_version, truth
from gpudoctor.model.words import ComputeMode, SchedulerKind

MIG = re.compile(r"\bMIG\b")
NCCL = re.compile(r"\bnccl[ :=v]{0,3}(\d\.\d{1,2}(?:\.\d{1,2})?)", re.IGNORECASE)
GPU_PACKAGES = ("tensorflow-gpu", "tf-nightly-gpu")
CPU_PACKAGES = ("tensorflow-cpu", "tensorflow-intel", "tensorflow-macos")
SWITCHES = frozenset({"secure_boot", "nouveau", "uvm"})
VERSIONS = frozenset({"numpy", "keras", "protobuf", "nccl", "driver_cuda", "kernel_module", "module", "libcuda"})
NEED_MINOR = frozenset({"python", "numpy", "keras", "protobuf", "kernel_module", "module", "libcuda"})
NO_ANSWER = re.compile(
    r"(?i)[\W_]*(?:no(?:t)? (?:response|applicable|sure|known|available)|n/?a|unknown|nil|none|i don'?t know)?[\W_]*"
)
NO_GPU = re.compile(r"(?i)\W*(?:none|no|without|no (?:nvidia )?gpu|cpu(?: only)?)\W*")
NONE = "none"
DOTTED = re.compile(r"\d\.\d")
# "py311", "cp312": Python's minor version without a dot
TAG = re.compile(r"(?i)\b(?:cp|py|python)[ _-]?3(\d{1,2})\b")
# CUDA as wheels and as `CUDA_VERSION` write it: cu121 is 12.1, 12040 is 12.4 (1000 x major + 10 x minor, cuda.h)
CUDA_TAG = re.compile(r"(?i)\bcu(?:da)?[ _-]?(\d{2})(\d)\b(?!\.)")
CUDA_FOLDER = re.compile(r"(?i)\bcuda-(?:toolkit-)?(\d{2})-(\d)\b")
CUDA_NUMBER = re.compile(r"(?<![\d.])(\d{1,2})0(\d)0(?![\d.])")
# cuDNN's own number: 8906 is 8.9.6 (1000 x major), from 9.0 on 90100 is 9.1.0 (10000 x major; cudnn_version.h)
CUDNN_8 = re.compile(r"(?<![\d.])([4-8])(\d)(\d\d)(?![\d.])")
CUDNN_9 = re.compile(r"(?<![\d.])(9|[1-4]\d)(\d\d)(\d\d)(?![\d.])")
# Windows' number of the display driver: its last five digits are NVIDIA's own ("31.0.15.4633" is 546.33)
WINDOWS_DRIVER = re.compile(r"(?<![\d.])\d{2}\.\d{1,2}\.\d?(\d)\.(\d\d)(\d\d)(?![\d.])")
ARCHITECTURES = {
    "x86_64": "x86_64", "x86-64": "x86_64", "amd64": "x86_64", "x64": "x86_64", "aarch64": "aarch64", "arm64": "arm64",
    "ppc64le": "ppc64le",
}  # fmt: skip
MODES: tuple[ComputeMode, ...] = ("exclusive_process", "exclusive_thread", "prohibited", "default")
SCHEDULERS: tuple[SchedulerKind, ...] = ("slurm", "kubernetes", "pbs", "lsf", "sge", "none")
COUNTED = re.compile(r"(?<![\d.-])(\d{1,4})(?![\d.])")
WORDS = {
    "zero": "0",
    "no": "0",
    "none": "0",
    "one": "1",
    "two": "2",
    "dual": "2",
    "three": "3",
    "four": "4",
    "eight": "8",
}
GIGABYTES = re.compile(r"(?i)(\d{1,5}(?:\.\d{1,3})?)\s?(T|G|M)i?B?\b")
BYTES = {"T": 2**40, "G": 2**30, "M": 2**20}
Read = Callable[[str], dict[str, str]]


def read_all(raw: Mapping[str, str]) -> dict[str, str]:
    """Return the facts in the model's words."""
    facts: dict[str, str] = {}
    for key in ("other", "docker", "container_image", "os"):  # the surer a key is, the later it is read
        if raw.get(key):
            told = _docker(raw[key]) if key == "docker" else machine_text.system(raw[key])
            facts.update({name: value for name, value in told.items() if key == "os" or name == "container"})
    for key, value in raw.items():
        if key not in {"os", "docker"}:
            facts.update(read(key, value))
    return facts


def read(key: str, value: str) -> dict[str, str]:
    """Return what one fact says; {} where it says nothing."""
    if key in SWITCHES:
        said = truth(value)
        return {} if said is None else {key: "yes" if said else "no"}
    if key in VERSIONS:
        return _version(key, value)
    reader = READERS.get(key)
    return {key: value} if reader is None else reader(value)


def _version(key: str, value: str) -> dict[str, str]:
    found = number(value)
    if key in NEED_MINOR and "." not in found:  # "numpy=2" says enough, "python=3" does not
        found = f"{found}.0" if found and key != "python" and len(found) == 1 else ""
    conda = {"conda": "yes"} if "conda" in value.lower() else {}
    return {"kernel_module" if key == "module" else key: found, **conda} if found else conda


def _python(value: str) -> dict[str, str]:
    tag = TAG.search(value)
    return _version("python", value if tag is None else f"3.{tag[1]}")


def _cuda(value: str) -> dict[str, str]:
    forms = () if DOTTED.search(value) else (CUDA_TAG, CUDA_FOLDER, CUDA_NUMBER)
    found = next((match for form in forms if (match := form.search(value)) is not None), None)
    return _version("cuda", value if found is None else f"{found[1]}.{found[2]}")


def _cudnn(value: str) -> dict[str, str]:
    found = None if DOTTED.search(value) else CUDNN_9.search(value) or CUDNN_8.search(value)
    return _version("cudnn", value if found is None else ".".join(str(int(each)) for each in found.groups()))


def _driver(value: str) -> dict[str, str]:
    """Read one driver number, or two where user space and kernel module are told apart."""
    low = value.lower()
    if "kernel module" not in low:
        windows = WINDOWS_DRIVER.search(low)
        found = number(low) if windows is None else f"{windows[1]}{windows[2]}.{windows[3]}"
        return {"driver": found} if found else {}
    library, _, module = low.partition("kernel module")
    facts = {"kernel_module": number(module), "libcuda": number(library)}
    facts["driver"] = facts["kernel_module"]
    return {name: found for name, found in facts.items() if found}


def _release(value: str) -> dict[str, str]:
    low = value.lower()
    facts = {"tf": tensorflow_version(low)}
    if "conda" in low:
        facts["conda"] = "yes"
    if "nvidia-tensorflow" in low:
        facts["tf_package"] = "nvidia-tensorflow"
    if "and-cuda" in low:
        facts["and_cuda"] = "yes"
    for name in (*GPU_PACKAGES, *CPU_PACKAGES):
        if re.search(name.replace("-", "[-_]"), low):
            facts["tf_package"] = name
    if told := NCCL.search(low):
        facts["nccl"] = told[1]
    return {name: found for name, found in facts.items() if found}


def _container(value: str) -> dict[str, str]:
    said = truth(value)
    kind = NONE if said is False else machine_text.container(value) or ("docker" if said or value else "")
    return {"container": kind} if kind else {}


def _docker(value: str) -> dict[str, str]:
    return {"container": NONE if truth(value) is False else "docker"}


def _gpu(value: str) -> dict[str, str]:
    if NO_GPU.fullmatch(value):
        return {"gpu": NONE}
    if NO_ANSWER.fullmatch(value):
        return {}
    return {"gpu": value, **({"mig": "yes"} if MIG.search(value) else {})}


def _conda(value: str) -> dict[str, str]:
    said = truth(value)
    return {"conda": "no" if said is False else "yes"} if said is not None or number(value) else {}


def _gpu_count(value: str) -> dict[str, str]:
    found = COUNTED.search(WORDS.get(value.strip().lower().split(" ")[0], value))
    if found is None:
        return {}
    count = str(int(found[1]))
    return {"gpu_count": count, **({"gpu": NONE} if count == "0" else {})}


def _capability(value: str) -> dict[str, str]:
    found = capability(value) or capability(f"cc {value}")
    return {"compute_capability": found} if found else {}


def _wsl(value: str) -> dict[str, str]:
    said = True if re.search(r"(?i)\bwsl|^\s*2\b", value) else truth(value)
    return {} if said is None else {"wsl": "yes" if said else "no"}


def _arch(value: str) -> dict[str, str]:
    found = next((name for word, name in ARCHITECTURES.items() if word in value.lower()), "")
    return {"arch": found} if found else {}


def _mode(value: str) -> dict[str, str]:
    low = re.sub(r"[\s_-]+", "_", re.sub(r"(?i)\be\.", "exclusive", value)).lower()
    found = next((each for each in MODES if each in low), "")
    return {"compute_mode": found} if found else {}


def _mig(value: str) -> dict[str, str]:
    said = truth(value)
    return {} if said is None else {"mig": "yes" if said else "no"}


def _scheduler(value: str) -> dict[str, str]:
    found = next((each for each in SCHEDULERS if each in value.lower()), "")
    return {"scheduler": found} if found else {}


def _memory(value: str) -> dict[str, str]:
    found = GIGABYTES.search(value)
    return {"memory_bytes": str(int(float(found[1]) * BYTES[found[2].upper()]))} if found is not None else {}


def _other(value: str) -> dict[str, str]:
    return {"other": value, **({"conda": "yes"} if "conda" in value.lower() else {})}


READERS: Mapping[str, Read] = {
    "driver": _driver,
    "tf": _release,
    "python": _python,
    "cuda": _cuda,
    "cudnn": _cudnn,
    "gpu": _gpu,
    "conda": _conda,
    "gpu_count": _gpu_count,
    "compute_capability": _capability,
    "wsl": _wsl,
    "container": _container,
    "container_image": lambda value: {"container_image": value, "container": "docker"},
    "arch": _arch,
    "compute_mode": _mode,
    "mig": _mig,
    "scheduler": _scheduler,
    "memory": _memory,
    "glibc": lambda value: {"glibc": f"glibc {found}"} if (found := number(value)) else {},
    "kernel": lambda value: {"kernel": value} if number(value) else {},
    "other": _other,
    "os": machine_text.system,
    "docker": _docker,
}
