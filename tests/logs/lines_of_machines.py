"""Lines of kernels, containers and machines, in the words that the programs print; see `lines`."""

from __future__ import annotations

from tests.logs.lines_of_runs import Expected
from tests.logs.lines_of_software import FACTS, PACKAGES

PRESSURE: tuple[Expected, ...] = (
    ('  File "/opt/tensorflow/python/data/ops/from_tensor_slices_op.py", line 33, in __init__', "slices_on_device", {}),
    ("ValueError: Cannot create a tensor proto whose content is larger than 2GB.", "graph_constant", {}),
    ("ValueError: GraphDef cannot be larger than 2GB.", "graph_constant", {}),
    ("[libprotobuf ERROR] tensorflow.GraphDef exceeded maximum protobuf size of 2GB: 2421874839", "graph_constant", {}),
    *(
        (
            f"RuntimeError: {what} devices cannot be modified after being initialized",
            "memory_option_late",
            {"what": what},
        )
        for what in ("Physical", "Virtual", "Visible", "Logical")
    ),
    ("ValueError: Memory growth cannot differ between GPU devices", "memory_option_late", {"what": "Some"}),
    ("failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY", "oom_device", {"why": "context"}),
    ("CUDA_ERROR_OUT_OF_MEMORY: out of memory", "oom_device", {}),
    ("InternalError: Dst tensor is not initialized.", "copy_failed", {}),
    ("CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", "cudnn_mismatch", {}),
    ("error: CUDNN_STATUS_VERSION_MISMATCH", "cudnn_mismatch", {}),
    ("CUDNN_STATUS_ARCH_MISMATCH", "cudnn_arch", {}),
    ("CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH", "cudnn_arch", {}),
    ("tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error:", "oom_bare", {}),
    ("Status: RESOURCE_EXHAUSTED", "oom_bare", {}),
    ("InternalError: failed to allocate memory [Op:Mul]", "oom_bare", {}),
)
SPEED: tuple[Expected, ...] = (
    (
        "UserWarning: Even though the `tf.config.experimental_run_functions_eagerly` option is set, this option does not apply",
        "eager",
        {},
    ),
    (
        "WARNING:tensorflow:Callback method `on_train_batch_end` is slow compared to the batch time (batch time: 0.01s)",
        "slow_callback",
        {"method": "on_train_batch_end"},
    ),
    ("Method (on_train_batch_end) is slow compared to the batch update (0.1)", "slow_callback", {}),
    ("function cupti_interface_->Subscribe failed with error CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", "counters_closed", {}),
    ("TensorFloat-32 will be used for the matrix multiplication. This will only be logged once.", "tf32", {}),
    ("| relative max diff | 2.9477e-4 |", "difference", {"share": "2.9477e-4"}),
    ("Max relative difference: 0.00041", "difference", {"share": "0.00041"}),
    ("keras.mixed_precision.LossScaleOptimizer", "half_precision", {}),
    ("Mixed precision compatibility check (mixed_float16): OK", "half_precision", {}),
    ("Running auto_mixed_precision graph optimizer", "half_precision", {}),
    ("RuntimeError: NAN Error in iteration 7", "nan_loss", {"value": "nan"}),
    ("Outputs Nan of inf with mixed precision", "nan_loss", {"value": "nan"}),
    ("INFO:tensorflow:batch_all_reduce: 4 all-reduces with algorithm = nccl, num_packs = 1", "nccl_used", {}),
    ("Collective all_reduce tensors: 10 all_reduces, num_devices = 2, implementation = CommunicationImplementation.NCCL", "nccl_used", {}),
    ("node1:41:63 [1] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device", "nccl_no_shm", {}),
    ("node1:41:63 [1] include/shm.h:48 NCCL WARN Error while creating shared memory segment nccl-shm-recv-2 (size 9637888)", "nccl_no_shm", {}),
    ("Error while creating shared memory segment /dev/shm/nccl-pZafXL (size 7340384)", "nccl_no_shm", {}),
    ("9595/9595 [=====] - 1s - loss: nan - acc: 0.4117", "nan_loss", {"metric": "loss", "era": "before float16 policies"}),
    ('"hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"', "other_maker", {"maker": "AMD (ROCm)"}),
    ("Could not load library 'libMIOpen.so.1'", "other_maker", {"maker": "AMD (ROCm)"}),
    ("I tensorflow] Loaded libamdhip64.so", "other_maker", {"maker": "AMD (ROCm)"}),
    ("F ./tensorflow/core/util/gpu_launch_config.h:174] Check failed: err == hipSuccess (98 vs. 0)", "other_maker", {"maker": "AMD (ROCm)"}),
    ("rocm_driver.cc:965] could not retrieve ROCm device count: HIP_ERROR_NoDevice", "other_maker", {}),
    ("failed call to hipInit: HIP_ERROR_InvalidDevice", "other_maker", {}),
    ("pciBusID: 0000:43:00.0 name: Fiji     ROCm AMD GPU ISA: gfx803", "other_maker", {"maker": "AMD (ROCm)"}),
    ("Metal device set to: Apple M1", "other_maker", {"maker": "Apple (Metal)"}),
    ("-> physical PluggableDevice (device: 0, name: METAL, pci bus id: <undefined>)", "other_maker", {}),
    ("The Metal Performance Shaders operations encoded on it may not have completed.", "other_maker", {}),
    ("name: NVIDIA Tegra X2 major: 6 minor: 2 memoryClockRate(GHz): 1.3005", "gpu_found", {"gpu": "NVIDIA Tegra X2", "compute_capability": "6.2"}),
    (
        "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.13GiB. The caller indicates that this is not a failure, but",
        "oom_soft",
        {"allocator": "GPU_0_bfc"},
    ),
    ("node1:41:63 [0] NCCL WARN Cuda failure 'peer access is not supported'", "nccl_failed", {}),
    ("NCCL operation ncclAllReduce failed: unhandled cuda error", "nccl_failed", {}),
    ("InvalidArgumentError: No OpKernel was registered to support Op 'NcclAllReduce' used by {{node x}}", "nccl_absent", {}),
    (
        "InvalidArgumentError: No OpKernel was registered to support Op 'CudnnRNNCanonicalToParams' with these attrs.",
        "gpu_op_absent",
        {"op": "CudnnRNNCanonicalToParams"},
    ),
    (
        "NVRM: Xid (PCI:0000:dc:00): 45, pid=1818990, name=python3, Ch 00000001 caused by previous Xid 149",
        "xid",
        {"code": "45", "previous": "149"},
    ),
    ("NCCL: unhandled system error. Set NCCL_DEBUG=WARN for detail", "nccl_failed", {"message": "system"}),
    ("Cannot assign a device for operation conv1/weights: no supported kernel", "not_on_gpu", {"op": "conv1/weights"}),
    ("WARNING:tensorflow:There are non-GPU devices in `tf.distribute.Strategy`, not using nccl allreduce.", "reduced_on_cpu", {}),
)  # fmt: skip
KERNEL: tuple[Expected, ...] = (
    ("NVRM: Xid (PCI:0000:02:00): 79, pid=1187, GPU has gone", "xid", {"code": "79", "pci": "0000:02:00"}),
    ("NVRM: GPU 0000:02:00.0: GPU has fallen off the bus.", "gpu_lost", {}),
    ("kernel: NVRM: GPU at 0000:01:00.0 has fallen off the bus.", "gpu_lost", {}),
    (
        "nvidia-container-cli: initialization error: nvml error: driver/library version mismatch: unknown.",
        "nvml_failed",
        {"error": "driver/library version mismatch"},
    ),
    ("Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system", "gpu_lost", {}),
    (
        "NVRM: API mismatch: the client has the version 470.57.02, but this kernel module has the version 460.91.03.",
        "driver_library_mismatch",
        {"library": "470.57.02", "kernel": "460.91.03"},
    ),
    ("DMAR: [DMA Write] Request device [03:00.0] fault addr dd139000", "dma_fault", {}),
    ("AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0014 address=0xd0000000]", "dma_fault", {}),
    ("modprobe: ERROR: could not insert 'nvidia': Key was rejected by service", "module_refused", {}),
    ("modprobe: ERROR: could not insert 'nvidia': Required key not available", "module_refused", {}),
    ("Loading of unsigned module is rejected", "module_refused", {}),
    ("modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-40-generic", "module_missing", {}),
    ("ERROR: The Nouveau kernel driver is currently in use by your system.", "nouveau_holds", {}),
    ("        Kernel driver in use: nouveau", "nouveau_holds", {}),
    ("rmmod: ERROR: Module nvidia_drm is in use", "module_in_use", {"module": "nvidia_drm"}),
    ("c 195:* m", "device_cgroup", {"minor": "*", "mode": "m"}),
    ("Out of memory: Killed process 4242 (python) total-vm:91234kB", "host_oom", {"pid": "4242"}),
    ("    reason: OOMKilled", "host_oom", {}),
    ("MemoryError: Unable to allocate 12.3 GiB for an array with shape (100, 200)", "host_oom", {"asked": "12.3 GiB"}),
    ("terminate called after throwing an instance of 'std::bad_alloc'", "host_oom", {}),
    ("Killed", "process_killed", {}),
    (
        'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
        "container_runtime",
        {"why": "toolkit"},
    ),
    ("docker: Error response from daemon: Unknown runtime specified nvidia.", "container_runtime", {"why": "toolkit"}),
    (
        "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1",
        "container_runtime",
        {"why": "driver", "library": "libnvidia-ml.so.1"},
    ),
    (
        "nvidia-container-cli: initialization error: nvml error: driver not loaded",
        "nvml_failed",
        {"error": "driver not loaded"},
    ),
    ("nvidia-container-cli: requirement error: unsatisfied condition: cuda >= 9.0", "driver_too_old", {"cuda": "9.0"}),
    (
        "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=10.2, please update",
        "driver_too_old",
        {"cuda": "10.2"},
    ),
    ("nvidia-container-cli: initialization error: cuda error: unknown error", "container_runtime", {"why": "cuda"}),
    ("nvidia-container-cli: device error: unknown device id: 1", "container_runtime", {"why": "host"}),
    ("libcuda.so: NOT_FOUND", "libcuda_not_found", {}),
    ("all CUDA-capable devices are busy or unavailable", "device_unavailable", {}),
)
LATER: tuple[Expected, ...] = (
    (
        'E analytical_cost_estimator: Error in PredictCost() for the op: op: "Softmax"',
        "harmless",
        {"topic": "optimizer"},
    ),
    ("layout failed: INVALID_ARGUMENT: Size of values 0 does not match size of permutation 4", "harmless", {}),
    ("remapper failed: INVALID_ARGUMENT: Mutation::Apply error: fanout 'x' exist", "harmless", {}),
    ("Skipping loop optimization for Merge node with control input: cond/then", "harmless", {}),
    (
        "Because the driver is older than the PTX compiler version, XLA is disabling parallel compilation, which may",
        "harmless",
        {"topic": "compiler"},
    ),
    ("disabling MLIR crash reproducer, set env var to enable.", "harmless", {"topic": "compiler"}),
    ("ptxas warning : Registers are spilled to local memory in function 'fusion_1'", "harmless", {}),
    ("Delay kernel timed out: measured time has sub-optimal accuracy.", "harmless", {}),
    ("WARNING:tensorflow:AutoGraph could not transform <function f>", "harmless", {"topic": "autograph"}),
    ("The calling iterator did not fully read the dataset being cached.", "harmless", {"topic": "end-of-data"}),
    ("failed to alloc 17179869184 bytes on host: CUDA_ERROR_OUT_OF_MEMORY: out of memory", "host_oom", {}),
    ("InternalError: Blas GEMM launch failed : a.shape=(1, 2)", "handle_failed", {"library": "cublas"}),
    ("Attempting to perform BLAS operation using StreamExecutor without BLAS support", "handle_failed", {}),
    ("NotFoundError: No algorithm worked!", "cudnn_init_failed", {}),
    ("Unable to determine the device handle for GPU 0000:01:00.0: Unknown Error", "gpu_lost", {}),
    ("  No MIG devices found", "mig_empty", {}),
    ("            HW Thermal Slowdown       : Active", "throttled", {"reason": "HW Thermal Slowdown"}),
    ("            SW Power Cap              : Active", "throttled", {"reason": "SW Power Cap"}),
    ("Process finished with exit code 137 (interrupted by signal 9: SIGKILL)", "process_killed", {}),
    ("command terminated with exit code 137", "process_killed", {}),
    ("Allocation of 4915200000 exceeds 10% of free system memory.", "host_allocation", {"bytes": "4915200000"}),
    ("TypeError: Unable to convert function return value to a Python type! The signature was", "numpy_clash", {}),
    ("AttributeError: module 'numpy' has no attribute 'object'.", "numpy_clash", {"why": "alias"}),
    ("FutureWarning: The pynvml package is deprecated. Please install nvidia-ml-py instead.", "nvml_binding", {}),
    ("AttributeError: module 'pynvml' has no attribute 'nvmlInitWithFlags'", "nvml_binding", {}),
    (
        "The TensorFlow library was compiled to use AVX instructions, but these aren't available on your machine.",
        "tensorflow_absent",
        {"why": "instructions"},
    ),
)
OLDER: tuple[Expected, ...] = (
    ("NVML library version: 565.57", "driver_reported", {"nvml": "565.57"}),
    (
        "F tensorflow/stream_executor/cuda/cuda_driver.cc:383] Check failed: CUDA_SUCCESS == dynload::cuCtxSetCurrent(context) (0 vs. 216)",
        "context_in_use",
        {},
    ),
    (
        "Loaded runtime CuDNN library: 7201 (compatibility version 7200) but source was compiled with 7004 (compatibility version 7000).",
        "cudnn_mismatch",
        {"loaded": "7.2.1", "compiled": "7.0.4"},
    ),
    (
        "ImportError: Could not find 'cudart64_90.dll'. TensorFlow requires that this DLL be installed in a directory",
        "dlopen_failed",
        {"library": "cudart64_90.dll"},
    ),
    ("ImportError: DLL load failed: The specified module could not be found.", "tensorflow_absent", {"why": "dll"}),
    (
        "| N/A   20C    P8    19W / 235W |     23MiB / 11519MiB |      0%    E. Thread |",
        "fact",
        {"compute_mode": "exclusive_thread"},
    ),
    (
        "| N/A   20C    P8    19W / 235W |     23MiB / 11519MiB |      0%   E. Process |",
        "fact",
        {"compute_mode": "exclusive_process"},
    ),
    (
        "| N/A   20C    P8    19W / 235W |     23MiB / 11519MiB |      0%   Prohibited |",
        "fact",
        {"compute_mode": "prohibited"},
    ),
    ("ValueError: Argument(s) not recognized: {'lr': 0.1}", "keras_clash", {"argument": "lr"}),
    (
        "AttributeError: module 'tensorflow.compat.v2.__internal__' has no attribute 'register_clear_session_function'",
        "keras_clash",
        {"why": "release"},
    ),
    (
        "ImportError: cannot import name 'get_config' from 'tensorflow.python.eager.context'",
        "keras_clash",
        {"why": "release"},
    ),
    ("ValueError: Layer 'dense' expected 2 variables, but received 0 variables during loading.", "keras_clash", {}),
    (
        "ValueError: Unrecognized keyword arguments: ['batch_shape', 'optional']",
        "keras_clash",
        {"argument": "batch_shape", "why": "file-of-keras-3"},
    ),
    ("Free memory: 190.31MiB", "device_memory", {"free_bytes": "199554499"}),
    (
        "totalMemory: 7.93GiB freeMemory: 7.40GiB",
        "device_memory",
        {"total_bytes": "8514772664", "free_bytes": "7945689498"},
    ),
    *(
        (f"step 3 - {said}", "nan_loss", {"metric": "loss", "value": "nan"})
        for said in ("loss:nan", "loss= nan", "loss=nan", "loss: -nan", "loss = -nan", "loss:  nan", "loss =  nan")
    ),
    (
        "W tensorflow/core/common_runtime/bfc_allocator.cc:271] Ran out of memory trying to allocate 3.91MiB.  See logs for memory state.",
        "oom_bare",
        {"asked": "3.91MiB"},
    ),
    ("Epoch 1/80", "epoch", {}),
    ("Epoch 2, Loss: 0.5123, Accuracy: 81.2", "epoch", {}),
    ("Epoch: 3, loss=0.31", "epoch", {}),
    (
        "I cudart_stub.cc:29] Ignore above cudart dlerror if you do not have a GPU set up on your machine.",
        "cudart_optional",
        {},
    ),
    ("W gpu_host_allocator.h:44] could not allocate pinned host memory of size: 17179869184", "host_oom", {}),
    ("My GPU is not detected by TensorFlow", "gpu_missed", {}),
    ("GPU not found, using the CPU", "gpu_missed", {}),
    ("GPUs: None detected.", "gpu_missed", {}),
    (
        "kernel driver does not appear to be running on this host (1f2e3d4c5b6a): /proc/driver/nvidia/version does not exist",
        "kernel_driver_not_running",
        {"container": "docker"},
    ),
    (
        "Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file; LD_LIBRARY_PATH: /usr/local/nvidia/lib:/usr/local/nvidia/lib64",
        "dlopen_failed",
        {"library": "libcuda.so.1", "container": "docker"},
    ),
    ("Is GPU Available: []", "visible_gpus", {"count": "0"}),
    ("[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]", "visible_gpus", {"count": "0"}),
)
NAMED_LATER: tuple[Expected, ...] = (
    (
        "[cuda_driver.h:operator()@92] CUDA Error CUDA_ERROR_NO_DEVICE: no device while calling init (cuInit)",
        "cuinit_failed",
        {"code": "100"},
    ),
    ("CudaAPIError: [100] Call to cuInit results in CUDA_ERROR_NO_DEVICE", "cuinit_failed", {"code": "100"}),
    (
        "Error 804: forward compatibility was attempted on non supported HW",
        "cuinit_failed",
        {"code": "804", "name": "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
    ),
    (
        "ERROR: This container was built for NVIDIA Driver Release 450.51 or later, but",
        "driver_too_old",
        {"needed": "450.51"},
    ),
    ("version 440.33.01 was detected and compatibility mode is UNAVAILABLE.", "fact", {"driver": "440.33.01"}),
    ("               NVRM: fallen off the bus and is not responding to commands.", "gpu_lost", {}),
    ("NVRM: nouveau, rivafb, nvidiafb or rivatv", "other_driver_holds", {}),
    (
        "Error! Bad return status for module build on kernel: 5.13.18-21.09.16.amdgpu.ubuntu (x86_64)",
        "module_not_built",
        {"kernel": "5.13.18-21.09.16.amdgpu.ubuntu"},
    ),
    (
        "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",
        "pod_waits",
        {"nodes": "2", "resource": "nvidia.com/gpu"},
    ),
    (
        "AttributeError: module 'tensorflow.compat.v2.__internal__' has no attribute 'tf2'",
        "keras_clash",
        {"why": "release"},
    ),
    ("Internal: no supported devices found for platform CUDA", "no_supported_device", {}),
    *(
        (f"{who} CUDA 12.4 and an RTX 3060", "fact", {"cuda": "12.4", "gpu": "RTX 3060", "said_by": "reporter"})
        for who in ("I have", "I am using", "I'm on", "My machine has")
    ),
)
MACHINES = (*PRESSURE, *SPEED, *KERNEL, *PACKAGES, *FACTS, *LATER, *OLDER, *NAMED_LATER)
