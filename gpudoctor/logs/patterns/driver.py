"""What TensorFlow, CUDA and NVML say about the driver: cuInit, version mismatches, device nodes, containers."""

from __future__ import annotations

from gpudoctor.logs.cuda_errors import with_code_and_name
from gpudoctor.logs.pattern import row

VERSION = r"\d{1,4}(?:\.\d{1,4}){1,3}"


def in_container(values: dict[str, str]) -> dict[str, str]:
    """Return the fields with the kind of the container that the line gives away, without the sign itself."""
    sign = values.pop("sign", "")
    return {**values, "container": "docker"} if sign else values


ROWS = (
    row(
        "cuinit_failed",
        "Init: ",
        # TF to 2.16 prints the error at once; later ones nest it: "INTERNAL: CUDA error: Failed call to cuInit: ..."
        r"(?:[Ff]ailed call to )?cuInit: (?:[A-Z_]{1,30}: (?:CUDA error: )?Failed call to cuInit: )?"
        r"(?:(?P<name>CUDA_ERROR_[A-Z_]{1,60})|UNKNOWN ERROR \((?P<code>\d{1,4})\))(?:: (?P<message>[^\n;\[]{1,120}))?",
        refine=with_code_and_name,
    ),
    # other programs' words for the same call: CUDA's own samples and bindings name the error, torch the number
    row(
        "cuinit_failed",
        "(cuInit)",
        r"(?P<name>CUDA_ERROR_[A-Z_]{1,60})[^\n]{0,80} \(cuInit\)",
        refine=with_code_and_name,
    ),
    row(
        "cuinit_failed",
        "Init results in",
        r"cuInit results in (?P<name>CUDA_ERROR_[A-Z_]{1,60})",
        refine=with_code_and_name,
    ),
    row("cuinit_failed", "Error 80", r"\bError (?P<code>80[234]): ", refine=with_code_and_name),
    # the banner of NVIDIA's images where the host's driver is too old, over two lines
    row(
        "driver_too_old",
        "NVIDIA Driver Release ",
        rf"This container was built for NVIDIA Driver Release (?P<needed>{VERSION}) or later",
    ),
    row(
        "driver_library_mismatch",
        "DSO version",
        rf"kernel version (?P<kernel>{VERSION}) does not match DSO version (?P<library>{VERSION})",
    ),
    row("nvml_failed", "Failed to initialize NVML", r"Failed to initialize NVML: (?P<error>[A-Za-z/ ]{1,80})"),
    # nvidia-smi's whole line; behind a program's name and a colon, or in a sentence, another tool lists devices of its own
    row("no_devices_listed", "No devices were found", r"(?<![A-Za-z]: )No devices were found\.?\s{0,80}$"),
    row("driver_reported", "NVML library version", r"NVML library version: (?P<nvml>\d{3}\.\d{1,3}(?:\.\d{1,3})?)"),
    row(
        "nvidia_smi_failed",
        "NVIDIA-SMI has failed",
        r"NVIDIA-SMI has failed because (?P<error>it couldn't communicate with the NVIDIA driver)",
    ),
    row("driver_reported", "version is: ", rf"libcuda reported version is: (?P<library>{VERSION})"),
    row("driver_reported", "version is: ", rf"kernel reported version is: (?P<kernel>{VERSION})"),
    # the host's name follows in brackets: not taken; Docker's is the first twelve digits of the container's id
    row(
        "kernel_driver_not_running",
        "kernel driver does not",
        r"kernel driver does not appear to be running on this host(?:(?= \((?P<sign>[0-9a-f]{12})\)))?",
        refine=in_container,
    ),
    row(
        "no_device_node",
        "NVIDIA GPU device is present",
        r"no NVIDIA GPU device is present: (?P<path>/dev/nvidia\d{1,3}) does not exist",
    ),
    row(
        "driver_too_old",
        "CUDA driver version is insuff",
        r"CUDA driver version is insufficient for CUDA runtime version",
    ),
    row("device_unavailable", "CUDA-capable device(s)", r"CUDA-capable device\(s\) is/are busy or unavailable"),
    row("device_unavailable", "CUDA-capable devices are", r"CUDA-capable devices are busy or unavailable"),
    row("no_cuda_device", "CUDA-capable device is", r"no CUDA-capable device is detected"),
    # cuda.h: 216 is CUDA_ERROR_CONTEXT_ALREADY_IN_USE; old StreamExecutors print the number alone
    row("context_in_use", "(0 vs. 216)", r"CUDA_SUCCESS == dynload::cu\w{1,40}\([^\n]{0,80}\(0 vs\. 216\)"),
    # TF 2.11 to 2.17 say this when they cannot load libcudart; seen with a libcuda that answers (2.13, 2.15, 2.17)
    row(
        "cudart_not_loaded",
        "Could not find cuda drivers",
        r"Could not find cuda drivers on your machine, GPU will not be used",
    ),
    # TF 2.1 to 2.10 say it behind the loader's warning about libcudart
    row("cudart_optional", "Ignore above cudart", r"Ignore above cudart dlerror if you do not have a GPU set up"),
    row(
        "container_without_driver",
        "NVIDIA Driver was not",
        r"The NVIDIA Driver was not detected\.\s{1,4}GPU functionality will not be available",
    ),
    row(
        "oom_device",
        "() failed. Status: ",
        r"(?P<call>cuda?\w{1,40})\(\) failed\. Status: out of memory",
    ),
    row(
        "cuda_error",
        "() failed. Status: ",
        r"(?P<call>cuda?\w{1,40})\(\) failed\. Status: (?P<message>(?!(?:no|device) kernel image)[^\n;\[]{1,120})",
    ),
)
