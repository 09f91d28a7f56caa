"""What costs time or precision: eager mode, slow callbacks, missing counters, TF32, mixed precision, several GPUs."""

from __future__ import annotations

from gpudoctor.logs.pattern import row

ROWS = (
    row(
        "eager",
        "Even though the `tf.config",
        r"Even though the `tf\.config\.experimental_run_functions_eagerly` option is set",
    ),
    row(
        "slow_callback",
        "Callback method `on_",
        r"Callback method `(?P<method>on_\w{1,40})` is slow compared to the batch",
    ),
    row("slow_callback", "Method (on_", r"Method \((?P<method>on_\w{1,40})\) is slow compared to the batch"),
    row("counters_closed", "CUPTI_ERROR_INSUFFICIENT", r"CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"),
    row("tf32", "TensorFloat-32 will be", r"TensorFloat-32 will be used for the matrix multiplication"),
    row("difference", "x diff", r"relative max diff\W{1,6}(?P<share>\d(?:\.\d{1,12})?e-\d{1,2}|0\.\d{1,12})"),
    row(
        "difference",
        "Max relative difference",
        r"Max relative difference[^\d\n]{1,20}(?P<share>\d(?:\.\d{1,12})?e-\d{1,2}|0\.\d{1,12})",
    ),
    row("half_precision", "LossScaleOptimizer", r"LossScaleOptimizer"),
    row("half_precision", "Mixed precision compatibility check (mixed_float16): OK", r"check \(mixed_float16\): OK"),
    row("half_precision", "_mixed_precision", r"auto_mixed_precision"),
    row("nan_loss", "NAN Error", r"NAN Error", value="nan"),
    row("nan_loss", "Outputs Nan", r"Outputs Nan[^\n]{0,60}", value="nan"),
    row("nccl_used", "_all_reduce: ", r"batch_all_reduce: \d{1,6} all-reduces with algorithm = nccl"),
    row(
        "nccl_used",
        "Collective all_reduce tensors",
        r"Collective all_reduce tensors: \d{1,6} all_reduces[^\n]{0,120}NCCL",
    ),
    # NCCL's words where /dev/shm is full (its shm.h); a container has 64 MB of it unless asked for more
    row("nccl_no_shm", "NCCL WARN", r"NCCL WARN Call to posix_fallocate failed ?: No space left on device"),
    row("nccl_no_shm", "NCCL WARN", r"NCCL WARN Error while creating shared memory segment"),
    row("nccl_no_shm", "Error while creating shared", r"Error while creating shared memory segment /dev/shm/nccl"),
    row("nccl_failed", "NCCL WARN", r"NCCL WARN (?P<message>[^\n]{1,160})"),
    row("nccl_absent", "No OpKernel was reg", r"No OpKernel was registered to support Op 'Nccl\w{1,30}'"),
    # operations that exist for CUDA alone
    row("gpu_op_absent", "No OpKernel was reg", r"No OpKernel was registered to support Op '(?P<op>Cudnn\w{1,40})'"),
    row("nccl_failed", "NCCL operation", r"NCCL operation \S{1,60} failed[^\n]{0,120}"),
    row("nccl_failed", "NCCL: ", r"NCCL: unhandled (?P<message>\w{1,20}) error"),
    row("not_on_gpu", "Cannot assign a device", r"Cannot assign a device for operation (?P<op>[^\s:]{1,80})"),
    row("reduced_on_cpu", "There are non-GPU devices", r"There are non-GPU devices in `tf\.distribute\.Strategy`"),
)
