"""What could not be seen is named with its reason; what is simply not there is no gap."""

from __future__ import annotations

from gpudoctor.model.gpu import Gpu
from gpudoctor.model.machine import Cuda, Kernel, Nvml
from gpudoctor.model.missing import Missing
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.present.unseen import line, lines

HUNG = Nvml(status="timeout", message="NVML did not answer: timeout after 3 s (GPU 0)")


def test_a_driver_that_does_not_answer_is_named_with_its_reason() -> None:
    cuda = Cuda(status="crashed", message="libcuda did not answer: crashed: signal 11")
    told = line(Snapshot(nvml=HUNG, cuda=cuda), width=80)
    assert told == "Could not see: NVML (timeout after 3 s, GPU 0), libcuda (signal 11)"


def test_a_driver_that_is_not_there_is_a_fact_and_no_gap() -> None:
    snapshot = Snapshot(nvml=Nvml(status="library_not_found"), cuda=Cuda(status="library_not_found"))
    assert line(snapshot, width=80) == ""


def test_lost_groups_closed_logs_and_silent_gpus_are_named() -> None:
    gpus = (Gpu(index=0), Gpu(index=1, status="not_supported"), Gpu(index=2, status="gpu_lost"))
    snapshot = Snapshot(
        gpus=gpus, kernel=Kernel(log_readable=False), missing={"host": "timeout after 3 s", "probe": "not run"}
    )
    assert line(snapshot, width=120) == (
        "Could not see: GPU 1 (not_supported), host (timeout after 3 s), kernel log (no permission)"
    )


def test_what_does_not_fit_is_counted_and_stands_in_the_full_report() -> None:
    gpus = tuple(Gpu(index=index, status="no_permission") for index in range(8))
    told = line(Snapshot(gpus=gpus), width=80)
    assert told == "Could not see: GPU 0 (no_permission), GPU 1 (no_permission), 6 more: -v"
    assert len(list(lines(Snapshot(gpus=gpus)))) == 8


def test_an_unknown_log_is_not_called_closed() -> None:
    assert line(Snapshot(kernel=Kernel(log_readable=Missing("not a Linux kernel"))), width=80) == ""
