"""CUDA and cuDNN libraries: not found, found in which version, clashing, or refusing to start."""

from __future__ import annotations

from gpudoctor.logs.pattern import row
from gpudoctor.logs.patterns.driver import in_container

LIBRARY = r"(?:lib)?[\w+\-]{1,60}(?:\.so(?:\.\d{1,6}){0,4}|\.dll)"
NOT_OPENED = rf"(?P<library>{LIBRARY}): (?P<error>cannot open shared object file(?:: No such file or directory)?)"
# cuDNN counts 8907 for 8.9.7 and, from version 9 on, 90300 for 9.3.0 (CUDNN_VERSION in cudnn_version.h)
FIRST_WIDE_CUDNN = 90000


def dotted_cudnn(values: dict[str, str]) -> dict[str, str]:
    """Return the fields with cuDNN's number as major.minor.patch."""
    number = int(values["version"])
    base = 10000 if number >= FIRST_WIDE_CUDNN else 1000
    return {**values, "version": f"{number // base}.{number % base // 100}.{number % 100}"}


def dotted_pair(values: dict[str, str]) -> dict[str, str]:
    """Return the fields with "7201" as 7.2.1, where the release counts so."""
    return {
        name: dotted_cudnn({"version": text})["version"] if text.isdecimal() else text for name, text in values.items()
    }


ROWS = (
    row(
        "dlopen_failed",
        "Could not load dynamic library",
        # LD_LIBRARY_PATH follows after a semicolon: not taken, it holds user names; NVIDIA's images begin it with this folder
        r"Could not load dynamic library '(?P<library>[^']{1,80})'(?:; dlerror: (?P<error>[^;\n]{1,200}))?"
        r"(?:(?=; LD_LIBRARY_PATH: (?P<sign>/usr/local/nvidia/lib)\b))?",
        refine=in_container,
    ),
    row(
        "dlopen_failed",
        "Could not load library",
        rf"Could not load library (?P<library>{LIBRARY})(?:\. Error(?: code)?:? (?P<error>[^;\n]{{1,160}}))?",
    ),
    row("dlopen_failed", "CUDA library", rf"Couldn't open CUDA library (?P<library>{LIBRARY})"),
    row(
        "dlopen_failed",
        "Unable to load any of {",
        rf"Unable to load any of \{{(?P<library>{LIBRARY})[^}}\n]{{0,300}}\}}",
    ),
    row("dlopen_failed", "ImportError: ", rf"ImportError: {NOT_OPENED}"),
    row("dlopen_failed", "OSError: ", rf"OSError: {NOT_OPENED}"),
    # cuDNN 8 for Windows loads it by itself (NVIDIA's installation guide of cuDNN 8, "Installing zlib")
    row("dlopen_failed", "Could not locate zlibwapi", r"Could not locate (?P<library>zlibwapi\.dll)"),
    row("symbol_missing", "Cannot load symbol", r"Invalid handle\. Cannot load symbol (?P<symbol>\w{1,80})"),
    row("gpu_libraries_missing", "Cannot dlopen some GPU", r"Cannot dlopen some GPU libraries"),
    row("gpus_not_registered", "Skipping registering GPU", r"Skipping registering GPU devices"),
    row("dlopen_ok", "Successfully opened dynamic", rf"Successfully opened dynamic library (?P<library>{LIBRARY})"),
    row("cudnn_loaded", "Loaded cuDNN version", r"Loaded cuDNN version (?P<version>\d{4,6})", refine=dotted_cudnn),
    row(
        "cudnn_mismatch",
        "CuDNN library",
        r"Loaded runtime CuDNN library: (?P<loaded>[\d.]{1,20}?) but source was compiled with: (?P<compiled>\d[\d.]{0,18}\d)",
    ),
    row(
        "cudnn_mismatch",  # TF before 1.10
        "CuDNN library",
        r"Loaded runtime CuDNN library: (?P<loaded>\d{4,5}) \(compatibility version \d{4,5}\) but source was compiled with (?P<compiled>\d{4,5})",
        refine=dotted_pair,
    ),
    row(
        "dlopen_failed",
        "Could not find '",
        rf"Could not find '(?P<library>{LIBRARY})'\. TensorFlow requires that this DLL",
    ),
    row(
        "handle_failed",
        "CUDNN_STATUS",
        r"(?:[Cc]ould not|[Ff]ailed to) create cudnn handle: (?P<status>[A-Z_]{1,60}|[\w ]{1,60})",
        library="cudnn",
    ),
    row(
        "handle_failed",
        "blas handle",
        r"(?:[Cc]ould not|[Ff]ailed to) create cublas handle: (?P<status>[A-Z_]{1,60}|[\w ]{1,60})",
        library="cublas",
    ),
    row("handle_failed", "SolverDN instance", r"Failed to create cuSolverDN instance", library="cusolver"),
    row("handle_failed", "Blas instance", r"Failed to create cuBlas instance", library="cublas"),
    row(
        "cudnn_init_failed",
        "DNN failed to init",
        r"Failed to get convolution algorithm\. This is probably because cuDNN failed to initialize",
    ),
    # the recurrent operations' words for it, TensorFlow 1.13 to 2.x
    row("cudnn_init_failed", "Fail to find the dnn", r"Fail to find the dnn implementation"),
    row("rnn_failed", "Failed to call ThenRnn", r"Failed to call ThenRnn(?P<which>Forward|Backward) with model config"),
    row("rnn_failed", "CUDNN_STATUS_EXECUTION_FAILED", r"CUDNN_STATUS_EXECUTION_FAILED"),
    row("cudnn_init_failed", "DNN library is not found", r"DNN library is not found"),
    row("cudnn_init_failed", "DNN library initialization", r"DNN library initialization failed"),
)
