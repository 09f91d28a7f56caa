"""Lines of memory, compilers and training, and noise; see `lines`."""

from __future__ import annotations

from collections.abc import Mapping

# the line, the kind, the fields that must be read from it (None: must not)
Expected = tuple[str, str, Mapping[str, str | None]]

MEMORY: tuple[Expected, ...] = (
    (
        (
            "W bfc_allocator.cc:501] Allocator (GPU_0_bfc) ran out of memory trying to allocate 34.10MiB (rounded to 35758080)"
            "requested by op StatefulPartitionedCall/model/moments/SquaredDifference"
        ),
        "oom",
        {
            "allocator": "GPU_0_bfc",
            "asked_bytes": "35758080",
            "op": "StatefulPartitionedCall/model/moments/SquaredDifference",
        },
    ),
    (
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.00GiB.  Current allocation summary follows.",
        "oom",
        {"asked": "1.00GiB"},
    ),
    (
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.00MiB (rounded to 2097152) from the lower end requested by op Mul",
        "oom",
        {"asked_bytes": "2097152", "op": "Mul"},
    ),
    (
        (
            "Allocator (GPU_0_bfc) ran out of memory trying to allocate 4.64GiB with freed_by_count=0. The caller indicates that"
            " this is not a failure, but this may mean that there could be performance gains if more memory were available."
        ),
        "oom_soft",
        {"asked": "4.64GiB"},
    ),
    (
        (
            "OOM when allocating tensor with shape[32,512,512,64] and type float on /job:localhost/replica:0/task:0/device:GPU:0"
            " by allocator GPU_0_bfc"
        ),
        "oom_tensor",
        {"shape": "[32,512,512,64]", "type": "float", "allocator": "GPU_0_bfc"},
    ),
    (
        "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2147483648 bytes.",
        "oom_tensor",
        {"asked_bytes": "2147483648"},
    ),
    (
        "failed to allocate 3.30G (3546218496 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        "oom_device",
        {"asked_bytes": "3546218496"},
    ),
    (
        "gpu_async_0 cuMemAllocAsync failed to allocate 4294967296 bytes: CUDA error: out of memory (CUDA_ERROR_OUT_OF_MEMORY)",
        "oom_device",
        {"allocator": "cuda_malloc_async", "asked_bytes": "4294967296"},
    ),
    ("Failed to load in-memory CUBIN: CUDA_ERROR_OUT_OF_MEMORY: out of memory", "oom_device", {}),
    (
        "Memory usage: 12910592 bytes free, 8370061312 bytes total.",
        "device_memory",
        {"free_bytes": "12910592", "total_bytes": "8370061312"},
    ),
    ("InternalError: _EagerConst: Dst tensor is not initialized.", "copy_failed", {}),
    (
        "Garbage collection: deallocate free memory regions (i.e., allocations) so that we can re-allocate",
        "bfc_garbage_collection",
        {},
    ),
    (
        "Overriding orig_value setting because the TF_FORCE_GPU_ALLOW_GROWTH environment variable is set. Original config",
        "growth_forced",
        {},
    ),
)

COMPILER: tuple[Expected, ...] = (
    ("ptxas fatal   : Value 'sm_86' is not defined for option 'gpu-name'", "ptxas_too_old", {"architecture": "sm_86"}),
    ("/usr/bin ptxas too old. Falling back to the driver to compile.", "ptxas_too_old", {}),
    (
        "Falling back to the CUDA driver for PTX compilation; ptxas does not support CC 12.0",
        "ptxas_too_old",
        {"compute_capability": "12.0"},
    ),
    ("Loaded PTX assembler is too old for sm_120.", "ptxas_too_old", {}),
    ("Couldn't get ptxas version string: INTERNAL: Couldn't invoke ptxas --version", "ptxas_missing", {}),
    ("Failed to launch ptxas", "ptxas_missing", {}),
    ("OP_REQUIRES failed at xla_ops.cc:489 : Not found: ./bin/ptxas not found", "ptxas_missing", {}),
    ("No PTX compilation provider is available. Neither ptxas/nvlink nor nvjtlink is available.", "ptxas_missing", {}),
    ("Can't find ptxas binary in ${CUDA_DIR}/bin.  Will back to the GPU driver", "ptxas_missing", {}),
    ("Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice. This may result in", "libdevice_missing", {}),
    ("INTERNAL: libdevice not found at ./libdevice.10.bc", "libdevice_missing", {"path": "./libdevice.10.bc"}),
    ("libdevice is required by this HLO module but was not found at ./libdevice.10.bc", "libdevice_missing", {}),
)

TRAINING: tuple[Expected, ...] = (
    (
        (
            "WARNING:tensorflow:6 out of the last 6 calls to <function TensorFlowTrainer.make_predict_function.<locals>."
            "one_step_on_data at 0x7f3c> triggered tf.function retracing. Tracing is expensive and the excessive number"
        ),
        "retracing",
        {"function": "TensorFlowTrainer.make_predict_function.<locals>.one_step_on_data"},
    ),
    (
        "WARNING:tensorflow:Layer gru will not use cuDNN kernel since it doesn't meet the cuDNN kernel criteria. It will",
        "rnn_fallback",
        {"layer": "gru"},
    ),
    (
        "WARNING:tensorflow:Layer lstm_1 will not use cuDNN kernels since it doesn't meet the criteria. It will use",
        "rnn_fallback",
        {"layer": "lstm_1"},
    ),
    (
        "WARNING:tensorflow:Mixed precision compatibility check (mixed_float16): WARNING",
        "mixed_precision_slow",
        {"policy": "mixed_float16"},
    ),
    ("WARNING:tensorflow:Your input ran out of data; interrupting training.", "data_ended", {}),
    ("WARNING:tensorflow:Your dataset iterator ran out of data; interrupting training.", "data_ended", {}),
    ("WARNING:tensorflow:Your dataset/generator ran out of data; interrupting training.", "data_ended", {}),
    (
        "0x7f2fe0> triggered tf.function retracing. Tracing is expensive and the excessive number of tracings is likely",
        "retracing",
        {},
    ),
    ("Batch 17: Invalid loss, terminating training", "nan_loss", {"batch": "17"}),
    ("469/469 - 1s - loss: nan - accuracy: 0.0987 - val_loss: nan", "nan_loss", {"metric": "loss", "value": "nan"}),
    ("step 100, total_loss = NaN", "nan_loss", {"metric": "total_loss"}),
    ("{'loss': nan, 'accuracy': 0.1}", "nan_loss", {"metric": "loss"}),
    ("ERROR:tensorflow:Model diverged with loss = NaN.", "nan_loss", {}),
    ("tensorflow.python.training.NanLossDuringTrainingError: NaN loss during training.", "nan_loss", {}),
    (
        '!!! Detected Infinity or NaN in output 0 of eagerly-executing op "Log" (# of outputs: 1) !!!',
        "nan_detected",
        {"op": "Log"},
    ),
    (
        "InvalidArgumentError: Gradient is bad : Tensor had NaN values [Op:CheckNumerics]",
        "nan_detected",
        {"value": "NaN"},
    ),
)

NOISE: tuple[Expected, ...] = tuple(
    (line, "harmless", {"topic": topic})
    for line, topic in (
        (
            "I cuda_gpu_executor.cc:937] successful NUMA node read from SysFS had negative value (-1), but there must be",
            "numa",
        ),
        ("Your kernel may have been built without NUMA support.", "numa"),
        (
            (
                "E cuda_dnn.cc:9342] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has"
                " already been registered"
            ),
            "duplicate-factory",
        ),
        ("computation_placer.cc:177] computation placer already registered. Please check linkage", "duplicate-factory"),
        ("Computation placer creation function is already registered for this platform", "duplicate-factory"),
        ("Not creating XLA devices, tf_xla_enable_xla_devices not set", "xla-devices"),
        ("oneDNN custom operations are on. You may see slightly different numerical results", "onednn"),
        (
            "This TensorFlow binary is optimized to use available CPU instructions in performance-critical operations.",
            "cpu-instructions",
        ),
        (
            "Your CPU supports instructions that this TensorFlow binary was not compiled to use: AVX2 FMA",
            "cpu-instructions",
        ),
        ("W py_utils.cc:38] TF-TRT Warning: Could not find TensorRT", "tensorrt"),
        ("Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared", "tensorrt"),
        ("WARNING: All log messages before absl::InitializeLog() is called are written to STDERR", "log"),
        ("Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence", "end-of-data"),
        (
            "Executor start aborting (this does not indicate an error and you can ignore this message): INVALID",
            "end-of-data",
        ),
        (
            "If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' will",
            "generic-allocator-hint",
        ),
        (
            "If this is caused by memory fragmentation, the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' may",
            "generic-allocator-hint",
        ),
    )
)
