"""GD153: a module that is refused is told from a container that lost its permissions."""

from __future__ import annotations

from gpudoctor_checks.driver.nvml_said import silent
from tests.checks.texts import UNUSABLE, found, text_case

CASE = text_case(
    "GD153", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", variants=UNUSABLE
)


def test_an_unknown_error_in_a_container_is_lost_permissions() -> None:
    finding = found(silent, "Failed to initialize NVML: Unknown Error", container="docker")
    assert (finding.cause, finding.fixes[0].id) == ("nvml-lost-in-container", "recreate-container")


def test_a_group_that_only_allows_to_make_nodes() -> None:
    finding = found(silent, "c 195:* m")
    assert (finding.cause, finding.fixes[0].id) == ("nvml-lost-in-container", "recreate-container")


def test_a_rejected_key_is_secure_boot() -> None:
    finding = found(silent, "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service")
    assert (finding.cause, finding.fixes[0].id) == ("kernel-module-not-loaded", "secure-boot-key")


def test_nouveau_is_told_by_name() -> None:
    finding = found(
        silent, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", nouveau="yes"
    )
    assert (finding.cause, finding.fixes[0].id) == ("kernel-module-not-loaded", "blacklist-nouveau")


def test_no_permission_is_the_nodes() -> None:
    finding = found(silent, "Failed to initialize NVML: Insufficient Permissions")
    assert (finding.cause, finding.fixes[0].id) == ("device-permission-mode", "open-device-nodes")


def test_mig_mode_without_an_instance() -> None:
    finding = found(silent, "  No MIG devices found")
    assert (finding.cause, finding.fixes[0].id) == ("mig", "make-mig-instance")


def test_where_the_distribution_enrols_a_key_itself_a_new_kernel_comes_first() -> None:
    finding = found(
        silent, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", os="Ubuntu 18.04"
    )
    assert [each.id for each in finding.fixes[:2]] == ["rebuild-module", "secure-boot-key"]


def test_a_silent_driver_of_windows_has_no_module_to_build_or_sign() -> None:
    line = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
    for facts in ({"wsl": "yes"}, {"os": "windows"}):
        finding = found(silent, line, **facts)
        assert [each.id for each in finding.fixes] == ["load-driver"]
        assert "Windows" in finding.fixes[0].title
