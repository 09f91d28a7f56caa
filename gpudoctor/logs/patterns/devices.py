"""GPUs that TensorFlow found, took, or refused, and code that does not fit them."""

from __future__ import annotations

from gpudoctor.logs.cuda_errors import with_code_and_name
from gpudoctor.logs.pattern import row

CAPABILITY = r"\d{1,2}\.\d"
# "(device: 1, name: Quadro P400, pci bus id: 0000:66:00.0, compute capability: 6.1)"; TF 1.0-1.3 had no capability
DEVICE = (
    r"device: (?P<device>\d{1,3}), name: (?P<gpu>[^,\n]{1,80})(?:, pci bus id: (?P<pci>[0-9A-Fa-f:.]{5,20}))?"
    rf"(?:, compute capability: (?P<compute_capability>{CAPABILITY}))?"
)


def dotted_capability(values: dict[str, str]) -> dict[str, str]:
    """Return the two numbers of TF 1.x as one compute capability."""
    return {"gpu": values["gpu"], "compute_capability": f"{values['major']}.{values['minor']}"}


ROWS = (
    row(
        "gpu_skipped",
        "Ignoring ",
        rf"Ignoring (?:visible )?gpu device \({DEVICE}\)? with Cuda compute capability (?P<capability>{CAPABILITY})"
        rf"(?:\. The minimum required Cuda capability is (?P<minimum>{CAPABILITY}))?",
        why="compute_capability",
    ),
    row(
        "gpu_skipped",
        "Ignoring ",
        # "core count" from TF 2.15, "Cuda multiprocessor count" before
        rf"Ignoring (?:visible )?gpu device (?:\({DEVICE}\) )?with (?:core|Cuda multiprocessor) count: (?P<count>\d{{1,4}})"
        r"(?:\. The minimum required count is (?P<minimum>\d{1,4}))?",
        why="multiprocessor_count",
    ),
    # XLA counts the driver's GPUs, TensorFlow those that it took
    row(
        "gpu_skipped",
        "Invalid device ordinal value",
        r"Invalid device ordinal value \((?P<device>\d{1,3})\)\. Valid range is \[0, \d{1,3}\]",
        why="counted_apart",
    ),
    # cuda.h and driver_types.h, 101: the program names a GPU by a number that is not there
    row("device_number", "vice ordinal", r"(?i:cuda)[^\n]{0,80}invalid device ordinal"),
    row(
        "ptx_jit",
        "CUDA kernel binaries",
        r"TensorFlow was not built with CUDA kernel binaries compatible with compute capability "
        rf"(?P<compute_capability>{CAPABILITY})a?",
    ),
    row(
        "gpu_created",
        "Created ",
        rf"Created (?:TensorFlow )?device \(?(?P<name>/[\w:/]{{1,80}}) with (?P<memory_mb>\d{{1,9}}) MB memory[^d\n]{{0,40}}(?:device \()?{DEVICE}",
    ),
    row(
        "gpu_created",
        "Creating TensorFlow device",
        rf"Creating TensorFlow device \((?P<name>/[\w:]{{1,40}})\) -> \({DEVICE}",
    ),
    row(
        "gpu_found",
        "Capability: ",
        rf"(?:pciBusID: (?P<pci>[0-9A-Fa-f:.]{{5,20}}) )?name: (?P<gpu>[^\n]{{1,80}}?) computeCapability: (?P<compute_capability>{CAPABILITY})",
    ),
    row(  # TF 1.4 to 2.0
        "gpu_found",
        "memoryClockRate",
        r"name: (?P<gpu>[^\n]{1,80}?) major: (?P<major>\d{1,2}) minor: (?P<minor>\d) memoryClockRate",
        refine=dotted_capability,
    ),
    # somebody, or a program, misses a GPU
    row(
        "gpu_missed",
        "GPU is not",
        r"\bGPU is not (?:being )?(?:used|detected|found|recogni[sz]ed|visible|working|available|utili[sz]ed)",
    ),
    row(
        "gpu_missed",
        "GPU not ",
        r"\bGPU not (?:being )?(?:used|detected|found|recogni[sz]ed|visible|working|available|utili[sz]ed)",
    ),
    # the empty list itself, behind a release or a word of one's own
    row("visible_gpus", "[]", r"(?:(?<![\w.])2\.\d{1,2}\.\d{1,2}[ ,]{1,2}|\bGPUs?(?: devices)?: ?)\[\]\s*$", count="0"),
    row("gpu_missed", "GPUs: None", r"\bGPUs: None\b"),
    row("no_supported_device", "vices found for platform", r"no supported devices found for platform CUDA"),
    row(
        "no_kernel_image",
        "kernel image is available",
        r"no kernel image is available for execution on the device",
    ),
    row(
        "no_kernel_image",
        "CUDA_ERROR_NO_BINARY_FOR_GPU",
        r"(?P<name>CUDA_ERROR_NO_BINARY_FOR_GPU)",
        refine=with_code_and_name,
    ),
    # cuda.h, 3, of a process that its parent forked after it had begun with CUDA: the child cannot use it
    row(
        "forked_after_cuda",
        "CUDA_ERROR_NOT_INITIALIZED",
        r"(?:setting context|device count|context)\b[^\n]{0,60}CUDA_ERROR_NOT_INITIALIZED",
    ),
    row("forked_after_cuda", "Cannot re-initialize CUDA", r"Cannot re-initialize CUDA in forked subprocess"),
    row(
        "cuda_error",
        "CUDA_ERROR_",
        r"(?:'(?P<call>cu\w{1,40})\([^'\n]{0,120}\)' failed with ')?"
        # memory has rows of its own
        r"(?P<name>CUDA_ERROR_(?!OUT_OF_MEMORY)[A-Z_]{1,60})(?:: (?P<message>[^\n;\[]{1,120}))?",
        refine=with_code_and_name,
    ),
    row(
        "cuda_error",
        "PTX was compiled with",
        r"provided PTX was compiled with an unsupported toolchain",
        name="CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
    ),
    # cudaErrorInvalidKernelImage of driver_types.h, where no name stands before it: the build has nothing that loads here
    row("no_kernel_image", "kernel image is invalid", r"device kernel image is invalid"),
)
