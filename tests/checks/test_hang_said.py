"""GD751: the kernel proves it, silence makes it likely."""

from __future__ import annotations

from gpudoctor_checks.distribution.hang_said import hang
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case("GD751", "DMAR: DRHD: handling fault status reg 502", variants=FAULTY)


def test_faults_of_the_iommu() -> None:
    finding = found(hang, "AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0014 address=0xd0000000 flags=0x0020]")
    assert (finding.cause, finding.fixes[0].id) == ("multi-gpu-hang", "nccl-p2p-off")


def test_an_nccl_that_hangs() -> None:
    finding = found(hang, "Epoch 1/2", tf="2.0.0-alpha0 (NCCL 2.3.5-5)")
    assert (finding.cause, finding.fixes[0].id) == ("multi-gpu-hang", "upgrade-nccl")


def test_nccl_without_shared_memory_asks_for_more_of_it() -> None:
    finding = found(hang, "NCCL WARN Call to posix_fallocate failed : No space left on device", container="docker")
    assert finding.fixes[0].id == "more-shared-memory"
    assert "--shm-size" in finding.fixes[0].text


def test_a_system_error_of_nccl_in_a_container_is_first_taken_for_too_little_shared_memory() -> None:
    line = "NCCL: unhandled system error. Set NCCL_DEBUG=WARN for detail"
    assert found(hang, line, container="docker").fixes[0].id == "more-shared-memory"
    assert found(hang, line).fixes[0].id == "nccl-p2p-off"


def test_several_gpus_that_stand_still_by_word_are_a_suspicion() -> None:
    finding = found(hang, "", other="it gets stuck in the first step with more than two GPUs")
    assert (finding.cause, finding.fixes[0].id) == ("multi-gpu-hang", "nccl-p2p-off")
    assert finding.confidence < 0.5


def test_infiniband_that_fails_is_the_limit_of_locked_memory_not_peer_to_peer() -> None:
    finding = found(hang, "node1:3765:3774 [4] ibvwrap.c:130 NCCL WARN Call to ibv_create_qp failed")
    assert [each.id for each in finding.fixes] == ["nccl-ib-off", "lift-locked-memory"]


def test_a_socket_that_fails_wants_the_name_of_the_network() -> None:
    finding = found(
        hang, "node1:17:31 [0] include/socket.h:395 NCCL WARN Connect to 172.17.0.1<43> failed : Connection refused"
    )
    assert finding.fixes[0].id == "nccl-socket-interface"


def test_a_build_without_nccl_adds_gradients_up_another_way() -> None:
    finding = found(
        hang, "InvalidArgumentError: No OpKernel was registered to support Op 'NcclAllReduce' used by {{node x}}"
    )
    assert (finding.cause, finding.fixes[0].id) == ("multi-gpu-hang", "other-all-reduce")
