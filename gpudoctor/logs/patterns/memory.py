"""Memory: who ran out, of what, and how much was asked. The allocator's own dump is read by `bfc`."""

from __future__ import annotations

from gpudoctor.logs.pattern import row
from gpudoctor.logs.text import size_bytes

SIZE = r"\d{1,20}(?:\.\d{1,6})?(?:[KMGT]i?)?B?"
OOM = "oom"
OOM_SOFT = "oom_soft"


def in_bytes(values: dict[str, str]) -> dict[str, str]:
    """Return the sizes as numbers of bytes, under the names that TF 2.x's line has."""
    return {f"{name}_bytes": str(size_bytes(text) or 0) for name, text in values.items()}


ROWS = (
    row(
        OOM_SOFT,
        "Allocator (",
        # TF's own words: the caller does not take it for a failure (it tries a way that needs less)
        rf"Allocator \((?P<allocator>[^)\n]{{1,60}})\) ran out of memory trying to allocate (?P<asked>{SIZE})"
        r"(?: from the \w{1,20} end)?(?: with freed_by_count=\d{1,20})?\.\s{1,4}The caller indicates that this is not a failure",
    ),
    row(
        OOM,
        "Allocator (",
        rf"Allocator \((?P<allocator>[^)\n]{{1,60}})\) ran out of memory trying to allocate (?P<asked>{SIZE})"
        r"(?: \(rounded to (?P<asked_bytes>\d{1,20})\))?(?: from the \w{1,20} end)?"
        r"(?:\s?requested by op (?P<op>[^\s\n]{1,160}))?",
    ),
    row(
        "oom_tensor",
        "OOM when allocating",
        r"OOM when allocating tensor (?:with|of) shape ?(?P<shape>\[[\d,\? ]{0,80}\])(?: and type (?P<type>\w{1,20}))?"
        r"(?: on (?P<device>/[\w:/]{1,80}))?(?: by allocator (?P<allocator>\w{1,60}))?",
    ),
    row(
        "oom_tensor",
        "Out of memory while trying",
        r"Out of memory while trying to allocate (?P<asked_bytes>\d{1,20}) bytes",
        allocator="xla",
    ),
    row(
        "oom_device",
        "CUDA_ERROR_OUT_OF_MEMORY",
        rf"failed to allocate (?P<asked>{SIZE}) \((?P<asked_bytes>\d{{1,20}}) bytes\) from device: CUDA_ERROR_OUT_OF_MEMORY",
    ),
    row(
        "oom_device",
        "CUDA_ERROR_OUT_OF_MEMORY",
        r"(?:(?P<allocator>gpu_async_\d{1,3}) )?cu(?:da)?Mem(?:ory)?AllocAsync failed to allocate (?P<asked_bytes>\d{1,20}) bytes[^\n]{0,80}"
        r"CUDA_ERROR_OUT_OF_MEMORY",
        allocator="cuda_malloc_async",
    ),
    row("oom_device", "CUDA_ERROR_OUT_OF_MEMORY", r"CUDA_ERROR_OUT_OF_MEMORY(?:: out of memory)?"),
    row(
        "device_memory",
        "Memory usage: ",
        r"Memory usage: (?P<free_bytes>\d{1,20}) bytes free, (?P<total_bytes>\d{1,20}) bytes total",
    ),
    # TF 1.x, when it finds the GPU: on two lines to 1.3, on one after
    row(
        "device_memory",
        "Memory: ",
        r"totalMemory: (?P<total>\d{1,5}\.\d{2}[KMGT]iB) freeMemory: (?P<free>\d{1,5}\.\d{2}[KMGT]iB)",
        refine=in_bytes,
    ),
    row("device_memory", "Free memory: ", r"Free memory: (?P<free>\d{1,5}\.\d{2}[KMGT]iB)", refine=in_bytes),
    row("copy_failed", "Dst tensor is not", r"Dst tensor is not initialized"),
    row(
        "bfc_garbage_collection",
        "Garbage collection: deallocate",
        r"Garbage collection: deallocate free memory regions",
    ),
    row(
        "growth_forced",
        "TF_FORCE_GPU_ALLOW_GROWTH",
        r"Overriding (?:orig_value|allow_growth) setting because the TF_FORCE_GPU_ALLOW_GROWTH environment variable is set",
    ),
)
