"""Memory again: the rows that must be asked before the general ones, and constants that do not fit."""

from __future__ import annotations

from gpudoctor.logs.pattern import row

ROWS = (
    row("host_oom", "ytes on host", r"failed to alloc(?:ate)? \d{1,20} bytes on host: CUDA_ERROR_OUT_OF_MEMORY"),
    row("host_oom", "y of size: ", r"could not allocate pinned host memory of size: \d{1,20}"),
    row(
        "handle_failed",
        "GEMM launch failed",
        r"Blas (?:x?GEMM|GEMV|SGEMM|xGEMMBatched) launch failed",
        library="cublas",
    ),
    row(
        "handle_failed",
        "without BLAS support",
        r"BLAS operation using StreamExecutor without BLAS support",
        library="cublas",
    ),
    row("cudnn_init_failed", "No algorithm worked", r"No algorithm worked!"),
    row(
        "oom_device",
        "Failed to load in-memory CUBIN",
        r"Failed to load in-memory CUBIN[^\n]{0,40}CUDA_ERROR_OUT_OF_MEMORY",
        why="xla_code",
    ),
    row(
        "copy_failed",
        "_EagerConst",
        r"(?:Failed copying input tensor from \S{1,80} to \S{1,80} in order to run )?_EagerConst: Dst tensor is not initialized",
        op="_EagerConst",
    ),
    row("slices_on_device", "_slices_op.py", r"from_tensor_slices_op\.py\"?, line \d{1,6}"),
    row("graph_constant", "Cannot create a tensor", r"Cannot create a tensor proto whose content is larger than 2GB"),
    row("graph_constant", "GraphDef cannot be", r"GraphDef cannot be larger than 2GB"),
    row("graph_constant", "ximum protobuf size of 2GB", r"(?:exceeds|Exceeded|exceeded) maximum protobuf size of 2GB"),
    *(
        row(
            "memory_option_late",
            f"{what} devices cannot",
            rf"(?P<what>{what}) devices cannot be modified after being initialized",
        )
        for what in ("Physical", "Virtual", "Visible", "Logical")
    ),
    row(
        "memory_option_late",
        "Memory growth cannot differ",
        r"Memory growth cannot differ between GPU devices",
        what="Some",
    ),
    row(
        "memory_option_late",
        "Cannot set memory growth",
        r"Cannot set memory growth on device when virtual devices configured",
        what="Both",
    ),
    row(
        "oom_device",
        "PrimaryCtxRetain",
        r"PrimaryCtxRetain[^\n]{0,80}CUDA_ERROR_OUT_OF_MEMORY",
        why="context",
    ),
    row("cudnn_mismatch", "CUDNN_STATUS_SUBLIBRARY", r"CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"),
    row("cudnn_mismatch", "CUDNN_STATUS_VERSION_MISMATCH", r"CUDNN_STATUS_VERSION_MISMATCH"),
    row("cudnn_arch", "CUDNN_STATUS_ARCH_MISMATCH", r"CUDNN_STATUS_ARCH_MISMATCH"),
    row("cudnn_arch", "CUDNN_STATUS_NOT_SUPPORTED_ARCH", r"CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH"),
)
# Asked last: words that also stand inside longer, better lines.
LAST = (
    # TF before 1.5 says it behind its dump, and names no allocator
    row(
        "oom_bare",
        "Ran out of memory trying",
        r"Ran out of memory trying to allocate (?P<asked>\d[\d.]{0,12}[KMGT]?i?B)",
    ),
    row("oom_bare", "ResourceExhaustedError", r"ResourceExhaustedError"),
    row("oom_bare", "RESOURCE_EXHAUSTED", r"RESOURCE_EXHAUSTED"),
    row("oom_bare", "Error: failed to allocate memory", r"failed to allocate memory"),
)
