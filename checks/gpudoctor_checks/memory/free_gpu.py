"""Ways to get a GPU's memory: another GPU, a restart of one's own kernel, sharing. Never the end of somebody else's process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.sdk import Fix, Gain, Gpu, GpuProcess


def all_own(holders: Sequence[GpuProcess]) -> bool:
    """Return whether all that hold it are this user's."""
    return bool(holders) and all(each.own is True for each in holders)


def ways(gpu: Gpu, holders: Sequence[GpuProcess], idle: Gpu | None, gain: Gain) -> Iterator[Fix]:
    """Yield the fixes, what costs nothing first; a kernel may be restarted before work that runs is ended."""
    kernels = [each.pid for each in holders if each.notebook is True]
    others = [each.pid for each in holders if each.own is True and each.pid not in kernels]
    if idle is not None:
        choose = f"export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES={idle.index}"
        yield Fix(id="use-idle-gpu", title=f"Train on GPU {idle.index}", action="setting", text=choose, gain=gain)
    if kernels:
        restart = f"{_kill(kernels)}  # or: Kernel > Restart in the notebook; its variables are lost"
        yield _ending("restart-kernel", "Restart the notebook kernel that holds it", restart, gain)
    if all_own(holders):
        grow = "export TF_FORCE_GPU_ALLOW_GROWTH=true  # for both processes, before they start"
        yield Fix(id="share-gpu", title="Let both take what they need", action="setting", text=grow, gain=gain)
    if others:
        yield _ending("end-own-process", "End your own process if it is a leftover", _kill(others), gain)
    look = f"nvidia-smi -i {gpu.index} --query-compute-apps=pid,used_memory --format=csv"
    yield Fix(id="see-gpu-holders", title="See who holds it; end it or wait", action="command", text=look, gain=gain)


def _ending(name: str, title: str, text: str, gain: Gain) -> Fix:
    return Fix(id=name, title=title, action="command", text=text, gain=gain, risk="medium")


def _kill(pids: Sequence[int]) -> str:
    return f"kill {' '.join(str(pid) for pid in pids)}"
