"""Cures of a driver that does not answer: a module that is refused, nouveau, permissions of a container, MIG."""

from __future__ import annotations

from gpudoctor_checks.said import by_hand, command

WHY = "mokutil --sb-state; grep -E 'nvidia|nouveau' /proc/modules; sudo dmesg | grep -iE 'nvidia|nouveau|key' | tail"
ENROL = command(
    "secure-boot-key",
    "Secure Boot on? Enrol the module's key",
    "mokutil --sb-state && sudo mokutil --import /var/lib/shim-signed/mok/MOK.der && sudo reboot",
    why="Secure Boot refuses a module that is not signed; switching it off in the firmware does the same",
)
BLACKLIST = command(
    "blacklist-nouveau",
    "Keep nouveau from taking the GPU",
    "printf 'blacklist nouveau\\noptions nouveau modeset=0\\n' | sudo tee /etc/modprobe.d/blacklist-nouveau.conf"
    " && (sudo update-initramfs -u || sudo dracut --force) && sudo reboot",
    why="only one driver can hold the GPU; install NVIDIA's driver after the reboot",
)
REBUILD = command(
    "rebuild-module",
    "Build the module for this kernel",
    "sudo apt install linux-headers-$(uname -r) && sudo dkms autoinstall && sudo modprobe nvidia",
    why="a new kernel needs the module built for it",
)
# NVIDIA, CUDA on WSL User Guide: the driver of Windows is the only one; none is installed inside
WSL_DRIVER = by_hand(
    "load-driver",
    "Renew the driver on Windows, not inside WSL",
    "Install NVIDIA's driver on Windows (https://www.nvidia.com/en-us/drivers/), then wsl --update and wsl --shutdown; take a Linux"
    " driver that was installed inside WSL off again",
    why="WSL has no NVIDIA kernel module: its libcuda reaches the driver of Windows",
)
SEE_WSL = "ls -l /dev/dxg /usr/lib/wsl/lib/libcuda.so*; /usr/lib/wsl/lib/nvidia-smi"
FITTING_KERNEL = by_hand(
    "boot-other-kernel",
    "Boot a kernel that this driver builds for",
    "Choose the distribution's own kernel at boot, or install a newer driver; the reason is in /var/lib/dkms/nvidia/*/build/make.log",
    why="this driver's source does not compile for this kernel",
)
SEE_BUILD = "uname -r; dkms status; tail -n 30 /var/lib/dkms/nvidia/*/build/make.log"
SEE_HOLDER = "lspci -nnk -d 10de:  # 'Kernel driver in use'"
AGAIN = command(
    "recreate-container",
    "Create the container again",
    "docker rm -f CONTAINER && docker run --gpus all IMAGE",
    why="a new container gets its device permissions back",
)
KEEP = by_hand(
    "keep-device-permissions",
    "Keep systemd from taking the nodes away",
    "sudo nvidia-ctk system create-dev-char-symlinks --create-all, and start with CDI devices or the cgroupfs driver",
    why="a systemd reload rewrites the group's device list",
)
JOIN_GROUP = by_hand(
    "open-device-nodes",
    "Let this user open the device nodes",
    "ls -l /dev/nvidia*; add the user to the group that owns them, or set mode 0666 (NVreg_DeviceFileMode)",
    why="without the nodes neither NVML nor CUDA opens the GPU",
)
MAKE_INSTANCE = command(
    "make-mig-instance",
    "Make a MIG instance",
    "sudo nvidia-smi mig -cgi 0 -C && nvidia-smi -L",
    why="in MIG mode only instances compute; each process uses one",
)
MIG_OFF = command(
    "mig-off", "Or turn MIG mode off", "sudo nvidia-smi -mig 0", why="the whole GPU is then one device", risk="medium"
)
READ_ONLY = frozenset({"m", "r", "w"})  # `c 195:* m` allows to make nodes, not to open them
