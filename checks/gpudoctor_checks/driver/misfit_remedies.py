"""Cures of driver parts that do not fit together, as a log shows them."""

from __future__ import annotations

from gpudoctor_checks.said import by_hand, command

CLEAN_IMAGE = command(
    "remove-driver-from-image",
    "Keep driver libraries out of the image",
    "apt-get purge -y 'libcuda1*' 'libnvidia-compute-*' 'nvidia-driver-*'  # in the image; then docker run --gpus all IMAGE",
    why="the toolkit mounts the host driver's own libcuda",
)
RECREATE = command(
    "recreate-container",
    "Start the container anew",
    "docker rm -f CONTAINER && docker run --gpus all IMAGE",
    why="it still holds the libraries of the host's former driver",
)
OLDER_IMAGE = by_hand(
    "older-image",
    "Or an image with an older CUDA",
    "Take a tag of the image whose CUDA is not newer than the CUDA Version that nvidia-smi shows on the host",
    why="the image states the least driver, and the tools keep to it",
)
DROP_COMPAT = command(
    "drop-cuda-compat",
    "Take cuda-compat off the loader's path",
    "export LD_LIBRARY_PATH=$(printf %s \"$LD_LIBRARY_PATH\" | tr : '\\n' | grep -v compat | paste -sd:)",
    why="this GPU or driver does not support forward compatibility",
)
