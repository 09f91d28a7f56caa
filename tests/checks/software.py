"""The software of a described environment: the libraries, packages and build facts of an official wheel."""

from __future__ import annotations

from gpudoctor.model.missing import Missing
from gpudoctor.model.software import Library, TensorFlow

SITE_PACKAGES = "~/venv/lib/python3.11/site-packages"
OFFICIAL_CODE = ("sm_60", "sm_70", "sm_80", "sm_89", "compute_90")  # wheels 2.17 and newer


def wheel_library(soname: str, version: str, package: str, folder: str) -> Library:
    """Return a library that lies in an nvidia-* wheel and loads."""
    path = f"{SITE_PACKAGES}/nvidia/{folder}/lib/{soname}"
    return Library(
        soname=soname,
        version=version,
        version_from="call",
        path=path,
        origin="wheel",
        package=package,
        loadable=True,
        error=Missing("none"),
        loaded_path=path,
    )


def cudnn(version: str = "9.28.0.42") -> Library:
    """Return cuDNN 9 as its wheel brings it."""
    return wheel_library("libcudnn.so.9", version, "nvidia-cudnn-cu12", "cudnn")


def wheel_libraries(cudnn_version: str = "9.28.0.42") -> tuple[Library, ...]:
    """Return all that an official CUDA 12 wheel needs, from the and-cuda wheels."""
    return (
        wheel_library("libcudart.so.12", "12.9.79", "nvidia-cuda-runtime-cu12", "cuda_runtime"),
        wheel_library("libcublas.so.12", "12.9.3.13", "nvidia-cublas-cu12", "cublas"),
        wheel_library("libcublasLt.so.12", "12.9.3.13", "nvidia-cublas-cu12", "cublas"),
        wheel_library("libcufft.so.11", "11.4.1.4", "nvidia-cufft-cu12", "cufft"),
        wheel_library("libcusolver.so.11", "11.7.5.82", "nvidia-cusolver-cu12", "cusolver"),
        wheel_library("libcusparse.so.12", "12.5.10.65", "nvidia-cusparse-cu12", "cusparse"),
        cudnn(cudnn_version),
        wheel_library("libnccl.so.2", "2.32.3", "nvidia-nccl-cu12", "nccl"),
    )


def wheel_packages(version: str = "2.20.0", *, cudnn_version: str = "9.28.0.42") -> dict[str, str]:
    """Return the packages of `pip install tensorflow[and-cuda]`."""
    return {
        "tensorflow": version,
        "keras": "3.15.1",
        "numpy": "2.2.6",
        "protobuf": "6.33.0",
        "ml-dtypes": "0.5.4",
        "nvidia-cublas-cu12": "12.9.3.13",
        "nvidia-cuda-cupti-cu12": "12.8.90",
        "nvidia-cuda-nvcc-cu12": "12.9.86",
        "nvidia-cuda-nvrtc-cu12": "12.9.86",
        "nvidia-cuda-runtime-cu12": "12.9.79",
        "nvidia-cudnn-cu12": cudnn_version,
        "nvidia-cufft-cu12": "11.4.1.4",
        "nvidia-curand-cu12": "10.3.10.19",
        "nvidia-cusolver-cu12": "11.7.5.82",
        "nvidia-cusparse-cu12": "12.5.10.65",
        "nvidia-nccl-cu12": "2.32.3",
        "nvidia-nvjitlink-cu12": "12.9.86",
    }


def official_tensorflow(version: str = "2.20.0", *, visible_gpus: int = 1) -> TensorFlow:
    """Return an official Linux x86_64 wheel of 2.18 or newer as its own files tell it."""
    return TensorFlow(
        installed=True,
        version=version,
        distribution="tensorflow",
        origin="official_wheel",
        path=f"{SITE_PACKAGES}/tensorflow",
        is_cuda_build=True,
        is_rocm_build=False,
        cuda_version="12.5.1",
        cudnn_version="9",
        compute_capabilities=OFFICIAL_CODE,
        build_info_from="build_info",
        runpath=tuple(
            f"$ORIGIN/../nvidia/{folder}/lib"
            for folder in ("cublas", "cuda_cupti", "cuda_runtime", "cudnn", "cufft", "cusolver", "cusparse")
        ),
        keras_version="3.15.1",
        visible_gpus=visible_gpus,
        import_error=Missing("none"),
    )
