"""Which GPU may be loaded: an idle one inside the grant, and none that cannot be seen to be idle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpudoctor.model.gpu import Gpu, GpuProcess, Memory, Utilization
from gpudoctor.model.machine import Cuda, CudaDevice, Nvml, Scheduler
from gpudoctor.model.missing import Missing
from gpudoctor.probe.busy import CAP_BYTES, GIB, Around, Choice, choose, needs_watching

USED = GpuProcess(pid=812, kind="compute")
DESKTOP = GpuProcess(pid=90, kind="graphics")


def gpu(index: int = 0, **changes: Any) -> Gpu:
    made = Gpu(
        index=index,
        name="NVIDIA RTX A6000",
        uuid=f"GPU-{index:08d}-aaaa",
        pci=f"00000000:{index + 1:02X}:00.0",
        memory=Memory(total_bytes=48 * GIB, used_bytes=0, free_bytes=47 * GIB),
        utilization=Utilization(gpu_percent=0),
        processes=(),
    )
    return replace(made, **changes)


def decide(*samples: tuple[Gpu, ...], force: bool = False, env: dict[str, str] | None = None, **around: Any) -> Choice:
    return choose(samples, Around(environment=env or {}, **around), force=force)


def test_an_idle_gpu_is_used_as_it_is() -> None:
    assert decide((gpu(),)) == Choice(cap_bytes=CAP_BYTES, gpu=gpu())


def test_a_foreign_compute_process_keeps_the_probe_away() -> None:
    choice = decide((gpu(processes=(USED,)),))
    assert "GPU 0 is held by compute process 812" in choice.left_alone
    assert "--force" in choice.left_alone


def test_the_processes_of_a_desktop_do_not_count() -> None:
    assert decide((gpu(processes=(DESKTOP, DESKTOP)),)).left_alone == ""


def test_a_gpu_that_works_all_the_time_is_busy() -> None:
    working = (gpu(utilization=Utilization(gpu_percent=6)),)
    assert "utilisation 6 %" in decide(working, working, working).left_alone


def test_a_blink_of_work_is_not_busy() -> None:
    working, idle = (gpu(utilization=Utilization(gpu_percent=80)),), (gpu(),)
    assert needs_watching([working])
    assert not needs_watching([working, idle])
    assert decide(working, idle).left_alone == ""


def test_five_percent_is_not_yet_busy() -> None:
    assert decide((gpu(utilization=Utilization(gpu_percent=5)),)).left_alone == ""


def test_too_little_free_memory_keeps_the_probe_away() -> None:
    full = gpu(memory=Memory(total_bytes=48 * GIB, free_bytes=5 * GIB))
    assert "5.0 GiB free, the probe may take 6.0 GiB" in decide((full,)).left_alone


def test_the_cap_is_at_most_half_of_a_small_gpu() -> None:
    small = gpu(memory=Memory(total_bytes=4 * GIB, free_bytes=3 * GIB))
    assert decide((small,)).cap_bytes == 2 * GIB


def test_where_the_process_list_is_unreadable_memory_and_utilisation_decide_and_it_is_said() -> None:
    unseen = gpu(processes=Missing("not_supported"))
    choice = decide((unseen,))
    assert choice.left_alone == ""
    assert "process list cannot be read (not_supported)" in choice.notes[0]
    working = replace(unseen, utilization=Utilization(gpu_percent=90))
    assert "utilisation" in decide((working,)).left_alone


def test_force_uses_a_busy_gpu_and_takes_no_more_than_half_of_what_is_free() -> None:
    full = gpu(processes=(USED,), memory=Memory(total_bytes=48 * GIB, free_bytes=2 * GIB))
    choice = decide((full,), force=True)
    assert (choice.left_alone, choice.cap_bytes) == ("", GIB)
    assert "because of --force: GPU 0 is held" in choice.notes[0]


def test_among_several_the_idle_one_is_pinned_by_its_uuid() -> None:
    choice = decide((gpu(0, processes=(USED,)), gpu(1), gpu(2, processes=(USED,))))
    assert (choice.left_alone, choice.pin) == ("", "GPU-00000001-aaaa")


def test_among_several_idle_ones_the_one_with_most_free_memory_is_taken() -> None:
    fuller = Memory(total_bytes=48 * GIB, free_bytes=20 * GIB)
    assert decide((gpu(0, memory=fuller), gpu(1))).pin == "GPU-00000001-aaaa"


def test_all_busy_is_told_once_with_their_number() -> None:
    choice = decide((gpu(0, processes=(USED,)), gpu(1, processes=(USED,)), gpu(2, processes=(USED,))))
    assert choice.left_alone.startswith("GPU 0 is held by compute process 812 (2 more are busy)")


def test_the_idle_gpu_outside_the_grant_is_not_taken() -> None:
    choice = decide((gpu(0, processes=(USED,)), gpu(1)), env={"CUDA_VISIBLE_DEVICES": "GPU-00000000"})
    assert "GPU 0 is held" in choice.left_alone


def test_an_index_maps_where_both_orders_agree() -> None:
    assert decide((gpu(0), gpu(1)), env={"CUDA_VISIBLE_DEVICES": "1"}).pin == "GPU-00000001-aaaa"
    mixed = (gpu(0), gpu(1, name="Tesla T4"))
    pinned = decide(mixed, env={"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"})
    assert pinned.pin == "GPU-00000001-aaaa"


def test_where_an_index_cannot_be_mapped_every_gpu_must_be_idle() -> None:
    mixed = (gpu(0), gpu(1, name="Tesla T4"))
    assert decide(mixed, env={"CUDA_VISIBLE_DEVICES": "1"}) == Choice(cap_bytes=CAP_BYTES)
    busy = (gpu(0), gpu(1, name="Tesla T4", processes=(USED,)))
    assert "GPU 1 is held" in decide(busy, env={"CUDA_VISIBLE_DEVICES": "1"}).left_alone


def test_the_driver_knows_the_grant_best() -> None:
    cuda = Cuda(status="ok", cu_init=0, devices=(CudaDevice(pci="0000:02:00.0"),))
    choice = decide((gpu(0), gpu(1)), env={"CUDA_VISIBLE_DEVICES": "0"}, cuda=cuda)
    assert choice.pin == "GPU-00000001-aaaa"


def test_a_gpu_in_mig_mode_is_not_pinned() -> None:
    choice = decide((gpu(0, mig_mode="enabled"), gpu(1, mig_mode="enabled")))
    assert (choice.left_alone, choice.pin) == ("", "")


def test_slurm_grants_by_number() -> None:
    assert decide((gpu(0, processes=(USED,)), gpu(1)), env={"SLURM_JOB_GPUS": "1"}).pin == "GPU-00000001-aaaa"


def test_a_scheduler_that_granted_nothing_keeps_the_probe_away() -> None:
    scheduler = Scheduler(kind="slurm", allocated_gpus=0)
    assert "granted no GPU" in decide((gpu(),), scheduler=scheduler).left_alone
    assert decide((gpu(),), scheduler=scheduler, force=True).left_alone == ""


@pytest.mark.parametrize("value", ["", "-1", "none", "NoDevFiles", "-1,0"])
def test_a_user_who_hides_all_gpus_gets_the_probe_in_that_very_environment(value: str) -> None:
    choice = decide((gpu(processes=(USED,)),), env={"CUDA_VISIBLE_DEVICES": value})
    assert (choice.left_alone, choice.pin) == ("", "")


def test_a_driver_that_does_not_start_cannot_be_disturbed() -> None:
    assert decide((gpu(processes=(USED,)),), cuda=Cuda(status="ok", cu_init=803)).left_alone == ""


def test_a_machine_without_any_gpu_leaves_none_alone() -> None:
    nothing = Cuda(status="library_not_found", devices=Missing("library_not_found"))
    assert decide((), cuda=nothing, nvml=Nvml(status="library_not_found")).left_alone == ""
    assert decide((), cuda=Cuda(status="ok", cu_init=0, devices=())).left_alone == ""


def test_a_gpu_that_nvml_does_not_show_is_not_known_to_be_idle() -> None:
    cuda = Cuda(status="ok", cu_init=0, devices=(CudaDevice(name="GPU"),))
    assert "NVML cannot tell" in decide((), cuda=cuda).left_alone
    assert decide((), cuda=cuda, force=True).left_alone == ""


def test_silence_of_both_nvml_and_driver_is_not_idleness() -> None:
    hung = Cuda(status="timeout", devices=Missing("timeout"))
    assert "NVML cannot tell" in decide((), cuda=hung, nvml=Nvml(status="timeout")).left_alone


def test_a_gpu_that_shares_the_memory_of_the_host_gets_a_part_of_what_is_free_there() -> None:
    cuda = Cuda(status="ok", cu_init=0, devices=(CudaDevice(name="Orin"),))
    assert decide((), cuda=cuda, force=True, host_free_bytes=4 * GIB).cap_bytes == 2 * GIB


def test_lost_gpus_are_no_candidates() -> None:
    assert decide((gpu(0, status="gpu_lost"), gpu(1, processes=(USED,)))).left_alone.startswith("GPU 1 is held")
