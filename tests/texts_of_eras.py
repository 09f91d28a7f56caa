"""Short texts as TensorFlow prints them from 1.12 to 2.20, with the answer that was written down before they were judged.

Made for what looks alike and is not: one number of cuInit with several causes, libraries of different eras, memory of the
host and of the GPU, and what each build prints on a machine that has no GPU and misses none.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One text. `cause` and `first_fix`: of the primary finding, '' where nothing is wrong; `status`: of the report."""

    name: str
    lines: str
    cause: str
    first_fix: str
    status: str = "broken"
    facts: tuple[str, ...] = ()


ONEDNN = "2025-04-02 09:11:40.120001: I tensorflow/core/util/port.cc:153] oneDNN custom operations are on. You may see slightly different numerical results"
CPU = "2025-04-02 09:11:40.130001: I tensorflow/core/platform/cpu_feature_guard.cc:210] This TensorFlow binary is optimized to use available CPU instructions in performance-critical operations."
FACTORY = "E0000 00:00:1743585100.100001    4101 cuda_dnn.cc:8310] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered"
NEST = "E external/local_xla/xla/stream_executor/cuda/cuda_platform.cc:51] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: "
OLD = "2022-09-13 18:00:01.000001: E tensorflow/stream_executor/cuda/cuda_driver.cc:265] failed call to cuInit: "
TSL = "E tensorflow/compiler/xla/stream_executor/cuda/cuda_driver.cc:266] failed call to cuInit: "
NO_CUDA = "2023-12-01 10:00:00.000001: I external/local_tsl/tsl/cuda/cudart_stub.cc:31] Could not find cuda drivers on your machine, GPU will not be used."
NO_CUDART = (
    "2022-03-01 10:00:00.000001: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library"
    " 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory"
)
IGNORE = "2022-03-01 10:00:00.000002: I tensorflow/stream_executor/cuda/cudart_stub.cc:29] Ignore above cudart dlerror if you do not have a GPU set up on your machine."
NO_LIBCUDA = (
    "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcuda.so.1'; dlerror:"
    " libcuda.so.1: cannot open shared object file: No such file or directory"
)
ABSENT = "I tensorflow/stream_executor/cuda/cuda_diagnostics.cc:156] kernel driver does not appear to be running on this host ({}): /proc/driver/nvidia/version does not exist"
FOUND = "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1720] Found device 0 with properties: pciBusID: 0000:01:00.0 name: NVIDIA GeForce RTX 3060 computeCapability: 8.6"
SMI = "| NVIDIA-SMI 550.54.14              Driver Version: 550.54.14      CUDA Version: 12.4     |"

CUINIT: tuple[Told, ...] = (
    Told(
        name="303 and nothing else",
        lines=f"{ONEDNN}\n{CPU}\n{NEST}UNKNOWN ERROR (303)\n[]",
        cause="kernel-module-not-loaded",
        first_fix="load-driver",
        status="warning",
    ),
    Told(
        name="303 by its name, on a machine with a stated GPU",
        lines=f"{CPU}\n{NEST}CUDA_ERROR_SHARED_OBJECT_INIT_FAILED: shared object initialization failed",
        cause="kernel-module-not-loaded",
        first_fix="load-driver",
        facts=("gpu=RTX 4070",),
    ),
    Told(
        name="303 of 2.10 on a server without a driver",
        lines=f"{NO_CUDART}\n{IGNORE}\n{NO_LIBCUDA}\n{OLD.replace(': E ', ': W ')}UNKNOWN ERROR (303)\n{ABSENT.format('node17')}",
        cause="kernel-module-not-loaded",
        first_fix="load-driver",
        status="warning",
    ),
    Told(
        name="303 where the host is called like a container",
        lines=f"{NO_LIBCUDA}\n{OLD}UNKNOWN ERROR (303)\n{ABSENT.format('1f2e3d4c5b6a')}",
        cause="container-no-gpu",
        first_fix="give-container-gpu",
    ),
    Told(
        name="303 where the kernel has the driver and there is no node",
        lines=f"{OLD}UNKNOWN ERROR (303)\nI tensorflow/stream_executor/cuda/cuda_diagnostics.cc:163] no NVIDIA GPU device is present: /dev/nvidia0 does not exist",
        cause="container-no-gpu",
        first_fix="give-container-gpu",
    ),
    Told(
        name="303 on native Windows",
        lines=(
            "2022-10-02 11:00:00.000001: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library"
            f" 'nvcuda.dll'; dlerror: nvcuda.dll not found\n{OLD}UNKNOWN ERROR (303)\n"
            "I tensorflow/stream_executor/cuda/cuda_diagnostics.cc:169] retrieving CUDA diagnostic information for host: DESKTOP-1"
        ),
        cause="kernel-module-not-loaded",
        first_fix="load-driver",
    ),
    Told(
        name="303 on WSL",
        lines=f"I use Ubuntu on WSL2\n{ONEDNN}\n{NEST}UNKNOWN ERROR (303)\n[]",
        cause="wsl-libcuda",
        first_fix="wsl-libcuda-first",
    ),
    Told(
        name="100 with a variable",
        lines=f"$ export CUDA_VISIBLE_DEVICES=-1\n$ python train.py\n{CPU}\n{NEST}CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
        cause="cuda-visible-devices",
        first_fix="set-visible-devices",
    ),
    Told(
        name="100 from a libcuda whose module is not loaded",
        lines=(
            "I tensorflow/stream_executor/platform/default/dso_loader.cc:53] Successfully opened dynamic library libcuda.so.1\n"
            f"{OLD}CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n{ABSENT.format('workstation')}"
        ),
        cause="kernel-module-not-loaded",
        first_fix="load-driver",
    ),
    Told(
        name="803 after an update of the driver",
        lines=(
            f"{CPU}\n{NEST}CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver / cuda driver combination\n"
            "$ nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.107"
        ),
        cause="driver-library-mismatch",
        first_fix="reboot",
    ),
    Told(
        name="803 in a container that holds a driver of its own",
        lines=(
            f"{TSL}CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver / cuda driver combination\n"
            "I tensorflow/compiler/xla/stream_executor/cuda/cuda_diagnostics.cc:189] libcuda reported version is: 525.85.12\n"
            "I tensorflow/compiler/xla/stream_executor/cuda/cuda_diagnostics.cc:193] kernel reported version is: 515.65.1\n"
            "E tensorflow/compiler/xla/stream_executor/cuda/cuda_diagnostics.cc:312] kernel version 515.65.1 does not match DSO version"
            " 525.85.12 -- cannot find working devices in this configuration"
        ),
        cause="driver-library-mismatch",
        first_fix="remove-driver-from-image",
        facts=("container=docker",),
    ),
    Told(
        name="804 in NVIDIA's image on a consumer's card",
        lines=(
            "== TensorFlow ==\nNVIDIA Release 22.05-tf2\n"
            f"{OLD}CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: forward compatibility was attempted on non supported HW"
        ),
        cause="forward-compat",
        first_fix="drop-cuda-compat",
    ),
    Told(
        name="999 after a suspend",
        lines=f"{TSL}CUDA_ERROR_UNKNOWN: unknown error\nI cuda_diagnostics.cc:168] retrieving CUDA diagnostic information for host: laptop\nNum GPUs Available:  0",
        cause="uvm-not-ready",
        first_fix="renew-uvm",
    ),
    Told(
        name="34 in an image for building",
        lines=f"{CPU}\n{NEST}CUDA_ERROR_STUB_LIBRARY: CUDA driver is a stub library",
        cause="container-no-gpu",
        first_fix="loader-finds-libcuda",
    ),
    Told(
        name="34 on a machine",
        lines=f"{TSL}UNKNOWN ERROR (34)",
        cause="missing-cuda-libs",
        first_fix="drop-cuda-stubs",
        facts=("container=none", "os=Ubuntu 22.04"),
    ),
    Told(
        name="46 under an exclusive compute mode",
        lines=f"{ONEDNN}\n{NEST}CUDA_ERROR_DEVICE_UNAVAILABLE: CUDA-capable device(s) is/are busy or unavailable",
        cause="device-permission-mode",
        first_fix="compute-mode-default",
    ),
)

LIBRARIES: tuple[Told, ...] = (
    Told(
        name="cuDNN of 2.6 is not found beside a GPU",
        lines=(
            f"{FOUND}\nI tensorflow/stream_executor/platform/default/dso_loader.cc:53] Successfully opened dynamic library libcudart.so.11.0\n"
            "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror:"
            " libcudnn.so.8: cannot open shared object file: No such file or directory\n"
            "W tensorflow/core/common_runtime/gpu/gpu_device.cc:1835] Cannot dlopen some GPU libraries. Please make sure the missing libraries"
            " mentioned above are installed properly if you would like to use GPU.\nSkipping registering GPU devices..."
        ),
        cause="missing-cuda-libs",
        first_fix="install-matching-cuda",
        facts=("tf=2.6.0",),
    ),
    Told(
        name="2.17 without the extra",
        lines=(
            f"TensorFlow version: 2.17.1\n{FACTORY}\nW tensorflow/core/common_runtime/gpu/gpu_device.cc:2343] Cannot dlopen some GPU libraries."
            " Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.\n"
            "Skipping registering GPU devices..."
        ),
        cause="missing-cuda-libs",
        first_fix="install-tensorflow",
    ),
    Told(
        name="1.13 does not import without its cuBLAS",
        lines=(
            '  File "/usr/lib/python3.6/site-packages/tensorflow/python/pywrap_tensorflow_internal.py", line 28, in <module>\n'
            "ImportError: libcublas.so.10.0: cannot open shared object file: No such file or directory\n"
            "Failed to load the native TensorFlow runtime."
        ),
        cause="missing-cuda-libs",
        first_fix="install-matching-cuda",
        facts=("tf=1.13.1",),
    ),
    Told(
        name="a GPU in nvidia-smi, and no CUDA for TensorFlow",
        lines=f"{SMI}\n{NO_CUDA}\n{CPU}\n[]",
        cause="missing-cuda-libs",
        first_fix="install-tensorflow-with-cuda",
    ),
)

WARNS = "W tensorflow/core/framework/cpu_allocator_impl.cc:83] Allocation of {} exceeds 10% of free system memory."
ON_CPU = (
    "W tensorflow/core/framework/op_kernel.cc:1655] OP_REQUIRES failed at conv_ops.cc:501 : Resource exhausted: OOM when allocating"
    " tensor with shape[{}] and type float on /job:localhost/replica:0/task:0/device:CPU:0 by allocator {}"
)
ON_GPU = ON_CPU.replace("CPU:0", "GPU:0")
DUMP = """W {}bfc_allocator.cc:491] Allocator (GPU_0_bfc) ran out of memory trying to allocate 392.00MiB (rounded to 411041792)requested by op model/conv2d/Conv2D
If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation.
I {}bfc_allocator.cc:1089] Sum Total of in-use chunks: 5.60GiB
I {}bfc_allocator.cc:1091] total_region_allocated_bytes_: 6122635264 memory_limit_: 6122635264 available bytes: 0 curr_region_allocation_bytes_: 12245270528
I {}bfc_allocator.cc:1097] Stats:
Limit:                      6122635264
InUse:                      6012954214
MaxInUse:                   6012954214
NumAllocs:                       12043
MaxAllocSize:               1610612736
Reserved:                            0
PeakReserved:                        0
LargestFreeBlock:                    0
"""

MEMORY: tuple[Told, ...] = (
    Told(
        name="a model on the CPU under MKL, 1.15",
        lines=f"{WARNS.format(2147483648)}\n{ON_CPU.format('64,512,512,32', 'mklcpu')}\ntensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error:",
        cause="batch-too-large",
        first_fix="smaller-batch",
    ),
    Told(
        name="a model on the CPU of a GPU build",
        lines=f"{ON_CPU.format('25088,512', 'gpu_host_bfc')}\nRESOURCE_EXHAUSTED: OOM",
        cause="batch-too-large",
        first_fix="smaller-batch",
    ),
    Told(
        name="warnings of the CPU's allocator, then killed",
        lines="\n".join(
            [*(WARNS.format(size) for size in (1207959552, 2415919104, 4831838208)), "Epoch 1/10", "Killed"]
        ),
        cause="host-ram",
        first_fix="smaller-host-buffers",
    ),
    Told(
        name="warnings of the CPU's allocator, then a bare end",
        lines="\n".join(
            [
                WARNS.format(9663676416),
                "ResourceExhaustedError: failed to allocate memory [Op:StatelessRandomUniformV2]",
            ]
        ),
        cause="host-ram",
        first_fix="smaller-host-buffers",
    ),
    Told(
        name="warnings of the CPU's allocator in a training that goes on",
        lines="\n".join([WARNS.format(188160000), "Epoch 1/5", "1875/1875 [=====] - 4s 2ms/step - loss: 0.2601"]),
        cause="",
        first_fix="",
        status="unknown",
    ),
    Told(
        name="pinned memory",
        lines=(
            f"{FOUND}\nE tensorflow/stream_executor/cuda/cuda_driver.cc:802] failed to alloc 17179869184 bytes on host: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n"
            "W ./tensorflow/core/common_runtime/gpu/gpu_host_allocator.h:44] could not allocate pinned host memory of size: 17179869184"
        ),
        cause="host-ram",
        first_fix="smaller-host-buffers",
    ),
    Told(
        name="a model on the GPU, 1.12",
        lines=f"ResourceExhaustedError (see above for traceback): {ON_GPU.format('32,512,128,128', 'GPU_0_bfc').partition('exhausted: ')[2]}\n\t [[{{{{node conv2d_7/convolution}}}}]]",
        cause="batch-too-large",
        first_fix="smaller-batch",
    ),
    Told(
        name="a model on the GPU with its dump, 2.9",
        lines=DUMP.replace("{}", "tensorflow/core/common_runtime/") + ON_GPU.format("64,256,56,112", "GPU_0_bfc"),
        cause="batch-too-large",
        first_fix="gradient-accumulation",
    ),
    Told(
        name="a model on the GPU with its dump, 2.20",
        lines=DUMP.replace("{}", "external/local_xla/xla/tsl/framework/") + ON_GPU.format("64,256,56,112", "GPU_0_bfc"),
        cause="batch-too-large",
        first_fix="gradient-accumulation",
    ),
    Told(
        name="another process has the GPU",
        lines="I tensorflow/compiler/xla/stream_executor/cuda/cuda_driver.cc:736] failed to allocate 9.31G (10000000000 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        cause="other-process",
        first_fix="end-other-process",
    ),
)

NO_GPU: tuple[Told, ...] = (
    Told(
        name="a loop of one's own on the CPU, 2.15",
        lines="\n".join(
            [
                ONEDNN,
                NO_CUDA,
                FACTORY,
                NO_CUDA,
                CPU,
                *(f"Epoch {n}, Loss: 0.{9 - n}123, Accuracy: 9{n}.1" for n in (1, 2, 3)),
            ]
        ),
        cause="",
        first_fix="",
        status="unknown",
    ),
    Told(name="an import, 2.15", lines=f"{NO_CUDA}\n{FACTORY}\n{CPU}", cause="", first_fix="", status="unknown"),
    Told(
        name="fit() on the CPU, 2.8",
        lines=f"{NO_CUDART}\n{IGNORE}\nEpoch 1/3\n40/40 [====] - 0s 675us/step - loss: 51.77",
        cause="",
        first_fix="",
        status="unknown",
    ),
    Told(
        name="fit() of a GPU build on a machine without a driver, 2.10",
        lines=f"{NO_CUDART}\n{IGNORE}\n{NO_LIBCUDA}\n{OLD}UNKNOWN ERROR (303)\n{ABSENT.format('ci-4')}\nEpoch 1/2\n40/40 - 1s - loss: 0.3",
        cause="",
        first_fix="",
        status="unknown",
    ),
    Told(
        name="the same, where a GPU is stated",
        lines=f"{ONEDNN}\n{NO_CUDA}\n{CPU}\nEpoch 1, Loss: 0.5123",
        cause="missing-cuda-libs",
        first_fix="install-tensorflow-with-cuda",
        facts=("gpu=GTX 1660",),
    ),
    Told(
        name="the same, where somebody misses one",
        lines=f"My GPU is not detected by TensorFlow\n{NO_CUDA}\n{CPU}",
        cause="missing-cuda-libs",
        first_fix="install-tensorflow-with-cuda",
    ),
)
TEXTS = (*CUINIT, *LIBRARIES, *MEMORY, *NO_GPU)
