"""One line as printed for each row of the table; the words of releases that cannot be run here are from public threads."""

from __future__ import annotations

from tests.logs.lines_of_machines import MACHINES
from tests.logs.lines_of_programs import LINES as PROGRAMS
from tests.logs.lines_of_runs import COMPILER, MEMORY, NOISE, TRAINING, Expected

DRIVER: tuple[Expected, ...] = (
    (
        "E tensorflow/stream_executor/cuda/cuda_driver.cc:491] failed call to cuInit: CUDA_ERROR_UNKNOWN",
        "cuinit_failed",
        {"name": "CUDA_ERROR_UNKNOWN", "code": "999"},
    ),
    ("cuda_driver.cc:312] failed call to cuInit: UNKNOWN ERROR (303)", "cuinit_failed", {"code": "303"}),
    ("cuInit: UNKNOWN ERROR (34)", "cuinit_failed", {"code": "34", "name": "CUDA_ERROR_STUB_LIBRARY"}),
    (
        (
            "E0000 00:00:1775013762.112517   12260 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: Failed"
            " call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver / cuda driver combination"
        ),
        "cuinit_failed",
        {"code": "803", "message": "system has unsupported display driver / cuda driver combination"},
    ),
    (
        (
            "E cuda_diagnostics.cc:313] kernel version 460.91.3 does not match DSO version 470.57.2 -- cannot find working"
            " devices in this configuration"
        ),
        "driver_library_mismatch",
        {"kernel": "460.91.3", "library": "470.57.2"},
    ),
    ("I cuda_diagnostics.cc:200] libcuda reported version is: 470.57.2", "driver_reported", {"library": "470.57.2"}),
    ("I cuda_diagnostics.cc:204] kernel reported version is: 460.91.3", "driver_reported", {"kernel": "460.91.3"}),
    (
        (
            "I cuda_diagnostics.cc:156] kernel driver does not appear to be running on this host (gandalf): "
            "/proc/driver/nvidia/version does not exist"
        ),
        "kernel_driver_not_running",
        {},
    ),
    ("No devices were found", "no_devices_listed", {}),
    ("no NVIDIA GPU device is present: /dev/nvidia0 does not exist", "no_device_node", {"path": "/dev/nvidia0"}),
    (
        "cudaGetDevice() failed. Status: CUDA driver version is insufficient for CUDA runtime version",
        "driver_too_old",
        {},
    ),
    ("InternalError: cudaGetDevice() failed. Status: out of memory", "oom_device", {"call": "cudaGetDevice"}),
    (
        "InternalError: cudaGetDevice() failed. Status: initialization error",
        "cuda_error",
        {"call": "cudaGetDevice", "message": "initialization error"},
    ),
    ("CUDA-capable device(s) is/are busy or unavailable", "device_unavailable", {}),
    ("RuntimeError: no CUDA-capable device is detected", "no_cuda_device", {}),
    ("Could not find cuda drivers on your machine, GPU will not be used.", "cudart_not_loaded", {}),
    (
        "WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.",
        "container_without_driver",
        {},
    ),
    (
        "Failed to initialize NVML: Driver/library version mismatch",
        "nvml_failed",
        {"error": "Driver/library version mismatch"},
    ),
    ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make", "nvidia_smi_failed", {}),
)

LIBRARIES: tuple[Expected, ...] = (
    (
        (
            "W dso_loader.cc:59] Could not load dynamic library 'libcudnn.so.7'; dlerror: libcudnn.so.7: cannot open shared"
            " object file: No such file or directory; LD_LIBRARY_PATH: /home/alice/lib"
        ),
        "dlopen_failed",
        {
            "library": "libcudnn.so.7",
            "error": "libcudnn.so.7: cannot open shared object file: No such file or directory",
        },
    ),
    (
        "dso_loader.cc:70] Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found",
        "dlopen_failed",
        {"library": "cudart64_110.dll", "error": "cudart64_110.dll not found"},
    ),
    (
        "I dso_loader.cc:105] Couldn't open CUDA library libcudnn.so.5. LD_LIBRARY_PATH: /usr/lib",
        "dlopen_failed",
        {"library": "libcudnn.so.5"},
    ),
    (
        "Could not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open shared object file: No such file or directory",
        "dlopen_failed",
        {
            "library": "libcudnn_cnn_infer.so.8",
            "error": "libcuda.so: cannot open shared object file: No such file or directory",
        },
    ),
    (
        "Could not load library cudnn_ops_infer64_8.dll. Error code 126",
        "dlopen_failed",
        {"library": "cudnn_ops_infer64_8.dll", "error": "126"},
    ),
    (
        "Unable to load any of {libcudnn_graph.so.9.1.0, libcudnn_graph.so.9.1, libcudnn_graph.so.9, libcudnn_graph.so}",
        "dlopen_failed",
        {"library": "libcudnn_graph.so.9.1.0"},
    ),
    (
        "ImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory",
        "dlopen_failed",
        {"library": "libcublas.so.9.0"},
    ),
    (
        "OSError: libcudart.so.12: cannot open shared object file: No such file or directory",
        "dlopen_failed",
        {"library": "libcudart.so.12"},
    ),
    ("Invalid handle. Cannot load symbol cudnnGetVersion", "symbol_missing", {"symbol": "cudnnGetVersion"}),
    ("Cannot dlopen some GPU libraries. Please make sure the missing libraries", "gpu_libraries_missing", {}),
    ("Skipping registering GPU devices...", "gpus_not_registered", {}),
    ("Successfully opened dynamic library libcudart.so.11.0", "dlopen_ok", {"library": "libcudart.so.11.0"}),
    ("I cuda_dnn.cc:454] Loaded cuDNN version 8907", "cudnn_loaded", {"version": "8.9.7"}),
    ("I0000 00:00:1 cuda_dnn.cc:529] Loaded cuDNN version 90300", "cudnn_loaded", {"version": "9.3.0"}),
    ("I0000 00:00:1 cuda_dnn.cc:529] Loaded cuDNN version 91002", "cudnn_loaded", {"version": "9.10.2"}),
    (
        "E cuda_dnn.cc:378] Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.1.0.  CuDNN library needs",
        "cudnn_mismatch",
        {"loaded": "8.0.5", "compiled": "8.1.0"},
    ),
    (
        "E cuda_dnn.cc:319] Loaded runtime CuDNN library: 7102 but source was compiled with: 7005.",
        "cudnn_mismatch",
        {"loaded": "7102", "compiled": "7005"},
    ),
    (
        "Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED",
        "handle_failed",
        {"library": "cudnn", "status": "CUDNN_STATUS_NOT_INITIALIZED"},
    ),
    (
        "failed to create cublas handle: CUBLAS_STATUS_ALLOC_FAILED",
        "handle_failed",
        {"library": "cublas", "status": "CUBLAS_STATUS_ALLOC_FAILED"},
    ),
    (
        "failed to create cublas handle: the library was not initialized",
        "handle_failed",
        {"status": "the library was not initialized"},
    ),
    ("Failed to create cuSolverDN instance.", "handle_failed", {"library": "cusolver"}),
    ("Failed to create cuBlas instance.", "handle_failed", {"library": "cublas"}),
    (
        "Unknown: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize, so",
        "cudnn_init_failed",
        {},
    ),
    ("DNN library is not found.", "cudnn_init_failed", {}),
    ("DNN library initialization failed. Look at the errors above for more details.", "cudnn_init_failed", {}),
    (
        "Could not locate zlibwapi.dll. Please make sure it is in your library path!",
        "dlopen_failed",
        {"library": "zlibwapi.dll"},
    ),
    ("E tensorflow/stream_executor/dnn.cc:616] CUDNN_STATUS_EXECUTION_FAILED", "rnn_failed", {}),
    (
        "Internal: Failed to call ThenRnnForward with model config: [rnn_mode]: 2, 0, 0",
        "rnn_failed",
        {"which": "Forward"},
    ),
)

DEVICES: tuple[Expected, ...] = (
    ("cudaCheckError() failed : invalid device ordinal", "device_number", {}),
    ("Failed setting context: CUDA_ERROR_NOT_INITIALIZED: initialization error", "forked_after_cuda", {}),
    ("RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with", "forked_after_cuda", {}),
    (
        "RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.",
        "cuda_error",
        {"name": "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
    ),
    (
        "InvalidArgumentError: Invalid device ordinal value (1). Valid range is [0, 0].",
        "gpu_skipped",
        {"why": "counted_apart", "device": "1"},
    ),
    (
        (
            "Ignoring visible gpu device (device: 0, name: GeForce GTX 1070, pci bus id: 0000:01:00.0, compute capability: 6.1)"
            " with Cuda compute capability 6.1. The minimum required Cuda capability is 7.0."
        ),
        "gpu_skipped",
        {"why": "compute_capability", "gpu": "GeForce GTX 1070", "capability": "6.1", "minimum": "7.0"},
    ),
    (
        (
            "Ignoring gpu device (device: 1, name: GeForce GTX 470, pci bus id: 0000:02:00.0) with Cuda compute capability 2.0."
            " The minimum required Cuda capability is 3.5."
        ),
        "gpu_skipped",
        {"why": "compute_capability", "gpu": "GeForce GTX 470", "minimum": "3.5"},
    ),
    (
        (
            "Ignoring visible gpu device (device: 1, name: Quadro K620, pci bus id: 0000:03:00.0, compute capability: 5.0) with"
            " Cuda multiprocessor count: 3. The minimum required count is 8."
        ),
        "gpu_skipped",
        {"why": "multiprocessor_count", "count": "3", "minimum": "8"},
    ),
    (
        "Ignoring gpu device with Cuda multiprocessor count: 7.",
        "gpu_skipped",
        {"why": "multiprocessor_count", "count": "7"},
    ),
    (
        (
            "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 9.0. CUDA kernels will be"
            " jit-compiled from PTX, which could take 30 minutes or longer."
        ),
        "ptx_jit",
        {"compute_capability": "9.0"},
    ),
    (
        (
            "Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9660 MB memory:  -> device: 0, name: NVIDIA GeForce"
            " RTX 3060, pci bus id: 0000:01:00.0, compute capability: 8.6"
        ),
        "gpu_created",
        {"memory_mb": "9660", "gpu": "NVIDIA GeForce RTX 3060", "compute_capability": "8.6", "device": "0"},
    ),
    (
        (
            "Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:0 with 8776 MB memory) -> physical GPU"
            " (device: 0, name: Tesla T4, pci bus id: 0001:00:00.0, compute capability: 7.5)"
        ),
        "gpu_created",
        {"memory_mb": "8776", "gpu": "Tesla T4", "compute_capability": "7.5"},
    ),
    (
        "Creating TensorFlow device (/gpu:0) -> (device: 0, name: Tesla M60, pci bus id: 0000:00:1e.0)",
        "gpu_created",
        {"gpu": "Tesla M60", "pci": "0000:00:1e.0"},
    ),
    (
        "pciBusID: 0000:01:00.0 name: NVIDIA GeForce MX550 computeCapability: 7.5",
        "gpu_found",
        {"gpu": "NVIDIA GeForce MX550", "compute_capability": "7.5"},
    ),
    ("CUDA error: no kernel image is available for execution on the device", "no_kernel_image", {}),
    ("failed to load: CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image is available", "no_kernel_image", {"code": "209"}),
    (
        "'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'",
        "cuda_error",
        {"name": "CUDA_ERROR_INVALID_PTX", "code": "218", "call": "cuModuleLoadData"},
    ),
    (
        "'cuLaunchKernel(...)' failed with 'CUDA_ERROR_INVALID_HANDLE'",
        "cuda_error",
        {"code": "400", "call": "cuLaunchKernel"},
    ),
    (
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the provided PTX was compiled with an unsupported toolchain.",
        "cuda_error",
        {"code": "222", "message": "the provided PTX was compiled with an unsupported toolchain."},
    ),
)

LINES: tuple[Expected, ...] = (
    *DRIVER,
    *LIBRARIES,
    *DEVICES,
    *MEMORY,
    *COMPILER,
    *TRAINING,
    *NOISE,
    *MACHINES,
    *PROGRAMS,
)

# What must not be read as trouble: near misses.
QUIET = (
    "adb devices: No devices were found",
    "No devices were found by the scanner app; the invalid device ordinal of the printer is 3",
    "Epoch 3/10 - loss: 0.31 - nano_accuracy: 0.9",
    "The finance dataset: loss adjusters of Fernando",
    "Adapting the learning rate: loss plateaued, nanmean 0.3",
    "Rate limit: 100  InUse by others",
    "Created dataset train with 60000 examples",
    "Ignoring layer dense_1 with 10 units",
    "step 2000: cuinit done",
    "I tensorflow/core/common_runtime/gpu/gpu_device.cc:2019] Adding visible gpu devices: 0",
    "Failed to launch the browser",
)
