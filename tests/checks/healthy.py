"""Machines on which nothing is wrong, each with something that looks wrong at first sight; and one without a GPU."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.gpu import GpuProcess
from gpudoctor.model.machine import Cuda, Kernel, Nvml
from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import Probe, ProbeChild
from gpudoctor.model.snapshot import Snapshot
from tests.checks.machines import MIB, changed, make_gpu, make_machine, without
from tests.checks.trials import healthy_trials

NGC_CODE = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120", "compute_120")


def healthy_rtx_desktop() -> Snapshot:
    """Return a desktop whose RTX 3090 also draws the screen: a graphics process is not a busy GPU."""
    xorg = GpuProcess(pid=1893, kind="graphics", memory_bytes=410 * MIB, own=False)
    gpu = make_gpu(
        name="NVIDIA GeForce RTX 3090",
        cc="8.6",
        memory_mib=24576,
        limit_w=350.0,
        sm_max_mhz=2100,
        processes=(xorg,),
        ecc=False,
    )
    return make_machine((replace(gpu, display_active=True, persistence=False, fan_percent=0),), driver="580.95.05")


def healthy_8gpu() -> Snapshot:
    """Return a node with eight H100."""
    return make_machine(tuple(make_gpu(index) for index in range(8)))


def healthy_wsl2() -> Snapshot:
    """Return WSL2: no kernel module, no /dev/nvidia*, no PCI bus with the GPU, Windows driver numbers; all rightly."""
    gpu = make_gpu(name="NVIDIA GeForce RTX 4070", cc="8.9", memory_mib=12282, limit_w=200.0, ecc=False)
    machine = make_machine((replace(gpu, mig_mode=Missing("not_supported"), persistence=True),), driver="581.57")
    return changed(
        machine,
        host={"wsl": True, "kernel": "5.15.167.4-microsoft-standard-WSL2", "distribution": "Ubuntu 22.04"},
        cuda={
            "libcuda_path": "/usr/lib/wsl/lib/libcuda.so.1",
            "library_version": Missing("no version in the file name"),
            "origin": "wsl",
        },
        kernel=Kernel(
            module_version=Missing("WSL has no nvidia module"),
            module_loaded=False,
            nouveau_loaded=False,
            uvm_loaded=False,
            secure_boot=Missing("no EFI variables"),
            module_on_disk=False,
            device_nodes=(),
            pci_gpus=(),
            xids=(),
            log_readable=True,
        ),
    )


def healthy_ngc() -> Snapshot:
    """Return NVIDIA's container on an A100 under an older driver: it rightly carries cuda-compat and its own build."""
    gpu = make_gpu(name="NVIDIA A100-SXM4-80GB", cc="8.0", memory_mib=81920, limit_w=400.0, sm_max_mhz=1410)
    machine = make_machine((gpu,), driver="580.95.05")
    libraries = tuple(
        replace(
            each,
            version="9.7.1.26" if each.soname.startswith("libcudnn") else each.version,
            path=f"/usr/lib/x86_64-linux-gnu/{each.soname}",
            loaded_path=f"/usr/lib/x86_64-linux-gnu/{each.soname}",
            origin="system",
            package=Missing("no wheel"),
        )
        for each in machine.libraries or ()
    )
    return changed(
        machine,
        host={"container": "docker", "distribution": "Ubuntu 24.04"},
        packages={"tensorflow": "2.17.0+nv25.2", "keras": "3.8.0", "numpy": "1.26.4"},
        tensorflow={
            "version": "2.17.0+nv25.2",
            "origin": "ngc",
            "path": "/usr/local/lib/python3.12/dist-packages/tensorflow",
            "cuda_version": "12.8",
            "cudnn_version": "9",
            "compute_capabilities": NGC_CODE,
            "runpath": (),
        },
        libraries=libraries,
        env={
            "NVIDIA_VISIBLE_DEVICES": "all",
            "NVIDIA_DRIVER_CAPABILITIES": "compute,utility,video",
            "CUDA_VERSION": "12.8.0.038",
            "LD_LIBRARY_PATH": "/usr/local/cuda/compat/lib:/usr/local/nvidia/lib:/usr/local/nvidia/lib64",
        },
    )


def no_gpu_machine() -> Snapshot:
    """Return a laptop or CI runner without any NVIDIA GPU, with tensorflow-cpu, whose probe trained on the CPU."""
    machine = make_machine()
    trials = {
        name: replace(trial, device="CPU")
        for name, trial in healthy_trials(step_s=0.0051).items()
        if name != "precision"
    }
    probe = Probe(
        trials=trials,
        children=(ProbeChild(environment="default", import_error=Missing("none"), visible_gpus=0),),
        duration_s=20.0,
    )
    return changed(
        without(machine, "gpus"),
        nvml=Nvml(status="library_not_found", message="libnvidia-ml.so.1: not found"),
        cuda=Cuda(status="library_not_found", message="libcuda.so.1: not found", libcuda_path=Missing("not found")),
        kernel=Kernel(
            module_version=Missing("no module"),
            module_loaded=False,
            nouveau_loaded=False,
            uvm_loaded=False,
            secure_boot=False,
            module_on_disk=False,
            device_nodes=(),
            pci_gpus=(),
            xids=(),
            log_readable=True,
        ),
        packages={"tensorflow-cpu": "2.20.0", "keras": "3.15.1", "numpy": "2.2.6"},
        tensorflow={
            "distribution": "tensorflow-cpu",
            "is_cuda_build": False,
            "cuda_version": Missing("CPU build"),
            "cudnn_version": Missing("CPU build"),
            "compute_capabilities": Missing("CPU build"),
            "visible_gpus": 0,
        },
        libraries=(),
        probe=probe,
    )
