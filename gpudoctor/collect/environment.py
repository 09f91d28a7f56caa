"""The environment variables that decide whether and how TensorFlow uses a GPU, and nothing else of the environment.

A list, not `TF_*`: Terraform shares that prefix and keeps passwords under it. A value that looks like a secret, and what
names other machines (a cluster's addresses), is never taken, only that it is set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

# What each is good for stands beside it; order: visibility, loading, XLA, TensorFlow, Python, jobs.
NAMES = {
    "CUDA_VISIBLE_DEVICES": "hides GPUs, or names those that may be used",
    "CUDA_DEVICE_ORDER": "decides which GPU index 0 is",
    "NVIDIA_VISIBLE_DEVICES": "what the container toolkit puts into the container",
    "NVIDIA_DRIVER_CAPABILITIES": "without compute no libcuda, without utility no NVML in the container",
    "NVIDIA_REQUIRE_CUDA": "the driver that an image asks for",
    "NVIDIA_DISABLE_REQUIRE": "switches that demand off",
    "NVIDIA_TENSORFLOW_VERSION": "marks NVIDIA's own container and its release",
    "NVIDIA_BUILD_ID": "marks NVIDIA's own container",
    "CUDA_VERSION": "the toolkit of the image",
    "ROCR_VISIBLE_DEVICES": "hides AMD GPUs",
    "GPU_DEVICE_ORDINAL": "set by some schedulers to the granted GPUs",
    "LD_LIBRARY_PATH": "comes before the wheels' own libraries",
    "LD_PRELOAD": "comes before everything",
    "LD_AUDIT": "may redirect every library",
    "CUDA_HOME": "where builds and ptxas are looked for",
    "CUDA_PATH": "where builds and ptxas are looked for",
    "CUDA_DIR": "where XLA looks for libdevice",
    "CUDNN_PATH": "where some set-ups look for cuDNN",
    "CUDA_CACHE_DISABLE": "every start compiles PTX again",
    "CUDA_CACHE_PATH": "where compiled PTX is kept",
    "CUDA_CACHE_MAXSIZE": "a small cache compiles PTX again and again",
    "CUDA_FORCE_PTX_JIT": "ignores the binary code of the build",
    "CUDA_DISABLE_PTX_JIT": "forbids compiling PTX",
    "CUDA_LAUNCH_BLOCKING": "a debugging aid that makes each launch wait",
    "CUDA_MODULE_LOADING": "lazy or eager loading of kernels",
    "CUDA_MPS_PIPE_DIRECTORY": "the GPU is shared through MPS",
    "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "caps this process's share of the GPU",
    "CUDA_DEVICE_MAX_CONNECTIONS": "hardware queues, a cap on overlap",
    "XLA_FLAGS": "may point to libdevice, dump, or switch passes off",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "JAX beside TensorFlow takes the GPU's memory",
    "KERAS_BACKEND": "another backend than TensorFlow",
    "TFDS_DATA_DIR": "where TensorFlow Datasets keeps the data",
    "KERAS_HOME": "where keras.json chooses backend and dtype",
    "PYTHONPATH": "may shadow any package",
    "PYTHONHOME": "another standard library",
    "PYTHONNOUSERSITE": "switches the user's packages off",
    "VIRTUAL_ENV": "the active environment",
    "CONDA_PREFIX": "the active conda environment",
    "CONDA_DEFAULT_ENV": "the active conda environment's name",
    "CONDA_OVERRIDE_CUDA": "makes conda choose a CUDA or CPU build",
    "PYENV_VERSION": "which Python the shims start",
    "OMP_NUM_THREADS": "caps oneDNN's threads",
    "OMP_PROC_BIND": "ties threads to cores",
    "KMP_AFFINITY": "ties threads to cores",
    "MKL_NUM_THREADS": "caps MKL's threads",
    "GOMP_CPU_AFFINITY": "ties threads to cores",
    "MALLOC_ARENA_MAX": "keeps host memory from growing",
    "NVIDIA_TF32_OVERRIDE": "switches TF32 off in all libraries",
    "CUBLAS_WORKSPACE_CONFIG": "deterministic cuBLAS, slower",
    "TF_CONFIG": "the cluster of a multi-worker run",
    "SLURM_JOB_ID": "a Slurm job",
    "SLURM_JOB_GPUS": "GPUs of the job",
    "SLURM_STEP_GPUS": "GPUs of the step",
    "SLURM_GPUS": "GPUs asked for",
    "SLURM_GPUS_ON_NODE": "GPUs granted on this node",
    "SLURM_GPUS_PER_TASK": "GPUs granted to a task",
    "SLURM_CPUS_PER_TASK": "cores granted to a task",
    "SLURM_CPUS_ON_NODE": "cores granted on this node",
    "KUBERNETES_SERVICE_HOST": "inside a Kubernetes pod",
    "PBS_JOBID": "a PBS job",
    "PBS_NGPUS": "GPUs granted by PBS",
    "LSB_JOBID": "an LSF job",
    "SGE_GPU": "GPUs granted by Grid Engine",
    "COLAB_GPU": "a Colab runtime",
    "KAGGLE_KERNEL_RUN_TYPE": "a Kaggle runtime",
}
# Families of which every member speaks about the GPU or TensorFlow. TF_CLI, TF_VAR, TF_TOKEN ... are Terraform's.
PREFIXES = (
    "TF_AUTO_",
    "TF_AUTOTUNE_",
    "TF_CPP_",
    "TF_CPU_",
    "TF_CUBLAS",
    "TF_CUDA",
    "TF_CUDNN",
    "TF_DETERMINISTIC",
    "TF_DEVICE_",
    "TF_DISABLE_",
    "TF_DUMP_",
    "TF_ENABLE_",
    "TF_FORCE_",
    "TF_FP16_",
    "TF_FUNCTION_",
    "TF_GPU_",
    "TF_LEGACY_",
    "TF_MIN_GPU_",
    "TF_MLIR_",
    "TF_NUM_",
    "TF_ONEDNN_",
    "TF_PER_DEVICE_",
    "TF_PROFILER_",
    "TF_SYNC_",
    "TF_TENSOR",
    "TF_USE_",
    "TF_WARMUP",
    "TF_XLA_",
    "KERAS_",
    "NCCL_",
    "CUDNN_",
    "CUPTI_",
)
# Their fact is that they are set: the value names machines.
ADDRESSES = frozenset({"TF_CONFIG", "KUBERNETES_SERVICE_HOST", "NCCL_COMM_ID", "NCCL_SOCKET_IFNAME"})
SET = "(set)"
SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE|COOKIE", re.IGNORECASE)
SECRET_VALUE = re.compile(
    r"://[^/\s:@]+:[^/\s@]+@"  # user:password in an address
    r"|\b(?:ghp|gho|ghs|github_pat|glpat|hf|sk|xox[abp])[-_][\w-]{16,}"  # tokens by their makers' prefixes
    r"|\bAKIA[0-9A-Z]{16}\b|-----BEGIN |\beyJ[\w-]{10,}\.[\w-]{10,}\."  # AWS key, PEM block, JSON web token
)
MAX_VALUE = 4000  # characters; LD_LIBRARY_PATH of a module system reaches 2,000


def collect_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables that matter, sorted by name; what is unset is absent. Never raises."""
    environ = os.environ if environ is None else environ
    names = sorted(name for name in environ if _matters(name))
    return {name: _value(name, environ[name]) for name in names if not _is_secret(name, environ[name])}


def _matters(name: str) -> bool:
    return name in NAMES or name.startswith(PREFIXES)


def _is_secret(name: str, value: str) -> bool:
    return SECRET_NAME.search(name) is not None or SECRET_VALUE.search(value) is not None


def _value(name: str, value: str) -> str:
    if name in ADDRESSES:
        return SET if value else ""
    text = value.encode(errors="replace").decode()  # os.environ may hold bytes that are no UTF-8
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}..."
